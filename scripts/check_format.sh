#!/usr/bin/env bash
# Fails when a C++ file is not formatted as .clang-format says. With --fix, formats it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(--dry-run --Werror)
if [[ "${1:-}" == "--fix" ]]; then
  mode=(-i)
fi

# The MSL standard library is laid out by hand: it is mostly macros in tables.
find pewter tools examples tests bench -path pewter/compiler/stdlib -prune -o \
  -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 --no-run-if-empty clang-format-19 "${mode[@]}"
