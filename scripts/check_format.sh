#!/usr/bin/env bash
# Fails when a C++ file is not formatted as .clang-format says. With --fix, formats it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mode=(--dry-run --Werror)
if [[ "${1:-}" == "--fix" ]]; then
  mode=(-i)
fi

find pewter tools examples tests bench -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 --no-run-if-empty clang-format-19 "${mode[@]}"
