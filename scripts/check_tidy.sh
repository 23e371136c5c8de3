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

# GCC-only flags in the compilation database are not worth a message.
run-clang-tidy-19 -quiet -p "$build" -j "$jobs" -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-ignored-gch \
  "${patterns[@]}"
