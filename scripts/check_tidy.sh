#!/usr/bin/env bash
# Runs clang-tidy over every source of a build directory: check_tidy.sh BUILD [JOBS] [FILE PATTERN...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=${1:?usage: check_tidy.sh BUILD [JOBS] [FILE PATTERN...]}
jobs=${2:-$(nproc)}
shift $(($# < 2 ? $# : 2))
patterns=("$@")
if ((${#patterns[@]} == 0)); then
  patterns=("$PWD/(pewter|tools|examples|tests)/.*\.cpp$")
fi

# Left to GCC, whose flags, precompiled headers and standard library these are.
run-clang-tidy-19 -quiet -p "$build" -j "$jobs" -extra-arg=-Wno-unknown-warning-option \
  -extra-arg=-Wno-ignored-gch -extra-arg=-Wno-deprecated-declarations "${patterns[@]}"
