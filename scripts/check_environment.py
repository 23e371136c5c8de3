#!/usr/bin/env python3
"""Fails when the code reads an environment variable that docs/environment.md does not list, or the other way round,
or reads the environment anywhere but in pewter/base/environment.cpp."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    problems = []
    read = {}
    for folder in ("pewter", "tools", "examples"):
        for file in sorted((ROOT / folder).rglob("*.cpp")):
            path = file.relative_to(ROOT).as_posix()
            text = file.read_text()
            if re.search(r"\bgetenv\b", text) and path != "pewter/base/environment.cpp":
                problems.append(f"{path}: reads the environment; use pewter/base/environment.h")
            for name in re.findall(r'environment::\w+\(\s*"((?:PEWTER|PYTORCH|MLX)_\w+)"', text):
                read.setdefault(name, path)

    listed = set(re.findall(r"^\| `(\w+)`", (ROOT / "docs/environment.md").read_text(), re.MULTILINE))
    problems += [f"{path}: {name} is not in docs/environment.md" for name, path in read.items() if name not in listed]
    problems += [f"docs/environment.md: nothing reads {name}"
                 for name in sorted(listed - read.keys()) if name.startswith("PEWTER_")]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
