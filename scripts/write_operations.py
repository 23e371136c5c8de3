#!/usr/bin/env python3
"""Writes docs/operations.md from the table of elementwise operations, or with --check says whether it is current.

usage: write_operations.py [--check]
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "pewter/api/include/pewter/elementwise.def"
DOCUMENT = ROOT / "docs/operations.md"

# What pewter::ops::Rule says, in words: types that are taken, type that comes out.
RULES = {
    "Any": ("all", "the same"),
    "NoBool": ("all but bool", "the same"),
    "Real": ("all but complex64", "the same"),
    "Magnitude": ("all", "the same; float32 of complex64"),
    "Float": ("all; bool and integers as float32", "the same"),
    "RealFloat": ("all but complex64; bool and integers as float32", "the same"),
    "Bits": ("bool and integers", "the same"),
    "Shift": ("integers", "the same"),
    "Compare": ("all", "bool"),
    "Order": ("all but complex64", "bool"),
    "Predicate": ("all", "bool"),
    "Logical": ("all, as bool", "bool"),
    "Part": ("all", "the same; float32 of complex64"),
}

ROW = re.compile(r'^PEWTER_(UNARY|BINARY)\((\w+), (\w+), "([^"]*)",\s*"([^"]*)"\)', re.MULTILINE)

HEAD = """# Elementwise operations

Written by `scripts/write_operations.py` from `pewter/api/include/pewter/elementwise.def`; do not edit. Each is a function of
`<pewter/ops.h>`: `pewter::exp(a)`, `pewter::add(a, b)`, with a stream or device as optional last argument. Operands are broadcast
and promoted to one type first; float16 and bfloat16 are computed as float32 and rounded after every operation, fused or not.

| Operation | Result | Types | Type of the result |
|---|---|---|---|
"""


def document():
    lines = []
    for arity, name, rule, _, text in ROW.findall(TABLE.read_text()):
        arguments = "a" if arity == "UNARY" else "a, b"
        types, result = RULES[rule]
        lines.append(f"| `{name}({arguments})` | {text} | {types} | {result} |\n")
    return HEAD + "".join(lines)


def main(arguments):
    text = document()
    if arguments[1:] == ["--check"]:
        rows = TABLE.read_text().count("\nPEWTER_")
        if text.count("\n| `") != rows:
            print(f"{TABLE.name} has {rows} rows, {text.count(chr(10) + '| `')} of them in the document", file=sys.stderr)
            return 1
        if not DOCUMENT.exists() or DOCUMENT.read_text() != text:
            print("docs/operations.md is not current: run scripts/write_operations.py", file=sys.stderr)
            return 1
        return 0
    DOCUMENT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
