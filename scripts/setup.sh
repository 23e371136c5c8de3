#!/usr/bin/env bash
# Installs the Debian 12 packages that building and testing need and that are not there yet.
# Quick and silent when nothing is missing. Needs root or sudo only when something is.
# Further packages can be named as arguments.
set -euo pipefail

packages=(
  # build
  g++ cmake ninja-build ccache make
  # the compiler: Clang and LLVM as libraries, and Clang's own headers
  llvm-19-dev libclang-19-dev libclang-cpp19-dev
  # libraries
  libboost-context-dev libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev
  # found when a program runs: products of matrices
  libopenblas0-pthread
  # tests and checks
  doctest-dev python3 clang-format-19 clang-tidy-19
  "$@"
)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this is not a Debian system; the build needs what these packages hold: ${packages[*]}" >&2
  exit 0
fi

installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qx "installed $package" <<<"$installed" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing packages and neither root nor sudo to install them; ask for:" >&2
    echo "  apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
echo "setup: done"
