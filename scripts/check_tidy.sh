#!/usr/bin/env bash
# The same as check_tidy.py.
exec "$(dirname "${BASH_SOURCE[0]}")/check_tidy.py" "$@"
