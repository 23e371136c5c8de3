#!/usr/bin/env python3
"""Writes docs/operations.md from the table of elementwise operations, or with --check says whether it is current
and whether the functions without a row are declared so.

usage: write_operations.py [--check]
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "pewter/api/include/pewter/elementwise.def"
DECLARATIONS = ROOT / "pewter/api/include/pewter/ops.h"
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

# Elementwise functions with parameters of their own, which have no row in the table: what is called, what comes out,
# the types that are taken and the type of the result.
OTHERS = [
    ("where(condition, x, y)", "x where the condition is not zero, y elsewhere", "all", "the type of x and y together"),
    ("astype(a, dtype)", "the same numbers in another type", "all", "`dtype`"),
    ("clip(a, low, high)", "at least low, at most high; either may be left out", "all", "the type of all together"),
    ("round(a, decimals)", "to that many decimals, ties to even; tens, hundreds ... when negative", "all", "the same"),
    ("nan_to_num(a, nan, positive, negative)", "NaN and infinities replaced", "all; only floating-point types change", "the same"),
    ("divmod(a, b)", "{floor_divide(a, b), remainder(a, b)}", "all but complex64", "the same"),
    ("isclose(a, b, rtol, atol, equal_nan)", "abs(a - b) <= atol + rtol * abs(b)", "all", "bool"),
]

ROW = re.compile(r'^PEWTER_(UNARY|BINARY)\((\w+), (\w+), "([^"]*)",\s*"([^"]*)"\)', re.MULTILINE)

HEAD = """# Elementwise operations

Written by `scripts/write_operations.py` from `pewter/api/include/pewter/elementwise.def`; do not edit. Each is a function of
`<pewter/ops.h>`: `pewter::exp(a)`, `pewter::add(a, b)`, with a stream or device as optional last argument. Operands are broadcast
and promoted to one type first; float16 and bfloat16 are computed as float32 and rounded after every operation, fused or not.

Arrays may have any number of axes, of which kernels run over 8: neighbouring axes count as one where every operand lies in memory
as if they were. What cannot be joined to 8, such as an array of 11 axes in another order, is refused when the operation is called.

| Operation | Result | Types | Type of the result |
|---|---|---|---|
"""


BETWEEN = """
These have parameters of their own, and are made of the ones above or fused with them as they are:

| Operation | Result | Types | Type of the result |
|---|---|---|---|
"""


def document():
    lines = []
    for arity, name, rule, _, text in ROW.findall(TABLE.read_text()):
        arguments = "a" if arity == "UNARY" else "a, b"
        types, result = RULES[rule]
        lines.append(f"| `{name}({arguments})` | {text} | {types} | {result} |\n")
    others = [f"| `{call}` | {text} | {types} | {result} |\n" for call, text, types, result in OTHERS]
    return HEAD + "".join(lines) + BETWEEN + "".join(others)


def undeclared():
    """The functions of OTHERS whose names and parameters <pewter/ops.h> does not have."""
    declared = {}
    for name, parameters in re.findall(r"\b(\w+)\((const array&[^;]*?)\);", DECLARATIONS.read_text()):
        names = [re.sub(r" = .*", "", parameter).split()[-1] for parameter in re.split(r",(?![^<{]*[>}])", parameters)]
        declared.setdefault(name, []).append(names[:-1])
    missing = []
    for call, *_ in OTHERS:
        name, parameters = call[:-1].split("(")
        if parameters.split(", ") not in declared.get(name, []):
            missing.append(call)
    return missing


def main(arguments):
    text = document()
    if arguments[1:] == ["--check"]:
        rows = TABLE.read_text().count("\nPEWTER_")
        written = text.count("\n| `") - len(OTHERS)
        if written != rows:
            print(f"{TABLE.name} has {rows} rows, {written} of them in the document", file=sys.stderr)
            return 1
        for call in undeclared():
            print(f"{DECLARATIONS.name} does not declare {call}", file=sys.stderr)
            return 1
        if not DOCUMENT.exists() or DOCUMENT.read_text() != text:
            print("docs/operations.md is not current: run scripts/write_operations.py", file=sys.stderr)
            return 1
        return 0
    DOCUMENT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
