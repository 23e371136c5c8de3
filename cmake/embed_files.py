#!/usr/bin/env python3
"""Writes files into a C++ table of {name, bytes, size}: embed_files.py OUTPUT ROOT FILE..."""

import pathlib
import sys



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
    output, root, *files = sys.argv[1:]
    rows = []
    with open(output, "w", encoding="ascii") as out:
        out.write('#include "pewter/compiler/msl/prelude.h"\n\n')
        out.write("namespace pewter::compiler::msl {\nnamespace {\n\n")
        for number, file in enumerate(sorted(files)):
            data = pathlib.Path(file).read_bytes()
            name = pathlib.Path(file).relative_to(root).as_posix()
            out.write(f"const char kFile{number}[] = {literal(data)};\n\n")
            rows.append(f'    {{"{name}", kFile{number}, sizeof(kFile{number}) - 1}},\n')
        out.write("}  // namespace\n\nconst EmbeddedFile kStdlibFiles[] = {\n")
        out.writelines(rows)
        out.write("    {nullptr, nullptr, 0},\n};\n\n}  // namespace pewter::compiler::msl\n")


if __name__ == "__main__":
    main()
