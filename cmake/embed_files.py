#!/usr/bin/env python3
"""Writes files into a C++ table of {name, bytes, size} that ends with a null name."""

import argparse
import pathlib


def literal(text: bytes) -> str:
    parts = []
    for byte in text:
        char = chr(byte)
        if char in '"\\':
            parts.append("\\" + char)
        elif 32 <= byte < 127:
            parts.append(char)
        elif char == "\n":
            parts.append('\\n"\n"')
        else:
            parts.append(f'\\{byte:03o}')
    return '"' + "".join(parts) + '"'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--header", default="pewter/compiler/msl/prelude.h", help="declares EmbeddedFile and the table")
    parser.add_argument("--namespace", default="pewter::compiler::msl")
    parser.add_argument("--table", default="kStdlibFiles", help="name of the table")
    parser.add_argument("output")
    parser.add_argument("root", help="names are relative to this folder")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()

    rows = []
    with open(options.output, "w", encoding="ascii") as out:
        out.write(f'#include "{options.header}"\n\n')
        out.write(f"namespace {options.namespace} {{\nnamespace {{\n\n")
        for number, file in enumerate(sorted(options.files)):
            data = pathlib.Path(file).read_bytes()
            name = pathlib.Path(file).relative_to(options.root).as_posix()
            out.write(f"const char kFile{number}[] = {literal(data)};\n\n")
            rows.append(f'    {{"{name}", kFile{number}, sizeof(kFile{number}) - 1}},\n')
        out.write(f"}}  // namespace\n\nconst EmbeddedFile {options.table}[] = {{\n")
        out.writelines(rows)
        out.write(f"    {{nullptr, nullptr, 0}},\n}};\n\n}}  // namespace {options.namespace}\n")


if __name__ == "__main__":
    main()
