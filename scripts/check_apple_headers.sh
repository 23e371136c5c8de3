#!/usr/bin/env bash
# Parses everything from pewter/runtime up against Apple's own metal-cpp headers: what is written against the Metal API
# must not lean on what only ours has.
#
# usage: check_apple_headers.sh [METAL_CPP [JOBS]]    METAL_CPP: the folder that holds Apple's Foundation/ and Metal/
# Ends with 77, which ctest takes for skipped, when METAL_CPP is not given.
set -euo pipefail
cd "$(dirname "$0")/.."

metal_cpp=${1:-}
jobs=${2:-1}
if [[ -z $metal_cpp ]]; then
  echo "skipped: where Apple's metal-cpp headers are was not said (cmake -DPEWTER_APPLE_METAL_CPP=<folder>)"
  exit 77
fi
if [[ ! -f $metal_cpp/Metal/Metal.hpp ]]; then
  echo "check_apple_headers: $metal_cpp has no Metal/Metal.hpp" >&2
  exit 1
fi
compiler=$(command -v clang++-19 || command -v clang++) || {
  echo "skipped: Apple's headers need Clang, for its blocks"
  exit 77
}

# The parts of api that are about our own device; they do not exist on Apple's.
ours='pewter/api/(cache|processor|version)\.cpp'
mapfile -t files < <(find pewter/runtime pewter/array pewter/api -name '*.cpp' | grep -Ev "$ours" | sort)
failed=$(printf '%s\n' "${files[@]}" | xargs -P "$jobs" -I{} sh -c '
  "$@" {} || echo {}' check "$compiler" -fsyntax-only -fblocks -std=c++20 -Wall -Wextra -Werror -Wno-unused-command-line-argument \
  -DFMT_SHARED -isystem tests/apple_headers -isystem "$metal_cpp" -Ipewter/api/include -I. )
if [[ -n $failed ]]; then
  printf 'does not compile against %s:\n%s\n' "$metal_cpp" "$failed" >&2
  exit 1
fi
echo "${#files[@]} files compile against $metal_cpp"
