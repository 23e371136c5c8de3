#!/usr/bin/env python3
"""Fails when an include points upward, LLVM leaks out of its folders, or a CMake list and its folder disagree.

usage: check_layers.py [ROOT]
"""

import re
import sys
from pathlib import Path

METAL_HEADERS = "pewter/metal/include"
API_HEADERS = "pewter/api/include"
# Plain types that cross every layer: the exceptions that users catch, the reports that they read.
PLAIN_HEADERS = [f"{API_HEADERS}/pewter/{name}.h" for name in ("errors", "export", "memory_report")]

# Folder -> what its files may include besides the standard library and their own folder: a folder, with everything
# below it, or one file. A file belongs to the longest entry that it lies under. Bottom up, as in docs/architecture.md.
LAYERS = {
    "pewter/base": [],
    "pewter/compiler": ["pewter/base"],
    "pewter/compiler/stdlib": [],
    "pewter/compiler/spmd": ["pewter/base"],
    "pewter/compiler/codegen": [
        "pewter/base",
        "pewter/compiler/compiler.h",
        "pewter/compiler/spmd",
    ],
    "pewter/compiler/msl": [
        "pewter/base",
        "pewter/compiler/compiler.h",
        "pewter/compiler/plain_failure.h",
    ],
    METAL_HEADERS: [],
    "pewter/metal/foundation": ["pewter/base", METAL_HEADERS],
    "pewter/metal/executor": ["pewter/base"],
    "pewter/metal/driver": [
        "pewter/base",
        METAL_HEADERS,
        "pewter/metal/foundation",
        "pewter/metal/executor",
        "pewter/compiler/compiler.h",
    ],
    # Never the driver: the same code is to run on Apple's Metal.
    "pewter/runtime": ["pewter/base", METAL_HEADERS, *PLAIN_HEADERS, f"{API_HEADERS}/pewter/half.h"],
    # The public headers declare the array whose bodies are here.
    "pewter/array": ["pewter/base", METAL_HEADERS, "pewter/runtime", API_HEADERS],
    API_HEADERS: [METAL_HEADERS],
    "pewter/api": [
        "pewter/base",
        METAL_HEADERS,
        API_HEADERS,
        "pewter/runtime",
        "pewter/array",
        "pewter/metal/executor/executor.h",
        "pewter/compiler/compiler.h",
    ],
    "tools": [METAL_HEADERS, API_HEADERS],
    "examples": [METAL_HEADERS, API_HEADERS],
    "bench": [METAL_HEADERS, API_HEADERS],
    "tests": ["pewter", "examples", "tools"],
}

# Measures what no public function shows.
LAYERS["bench/allocation_benchmark.cpp"] = ["pewter/runtime"]

# Programs that play the outside user: public headers only.
LAYERS["tests/system"] = [METAL_HEADERS, API_HEADERS]

# backend.cpp joins the others and owns the LLVM context that they share.
LLVM_FOLDERS = [
    "pewter/compiler/msl",
    "pewter/compiler/codegen",
    "pewter/compiler/spmd",
    "pewter/compiler/backend.cpp",
]
LLVM_INCLUDE = re.compile(r"^(llvm|llvm-c|clang|clang-c|lld)/")

# Where a header spelled with angle brackets lives, when it is one of ours.
PUBLIC_ROOTS = [
    (re.compile(r"^(Foundation|Metal|QuartzCore)/"), METAL_HEADERS),
    (re.compile(r"^pewter/[^/]+\.h$"), API_HEADERS),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
SOURCE_SUFFIXES = {".h", ".hpp", ".cpp"}
ROOTS = ["pewter", "tools", "examples", "bench", "tests"]


def is_under(path, folder):
    return path == folder or path.startswith(folder + "/")


def layer_of(path):
    """The longest entry of LAYERS that `path` lies under."""
    found = [folder for folder in LAYERS if is_under(path, folder)]
    return max(found, key=len, default=None)


def resolve(root, file, bracket, name):
    """The repository path that an include means; None for a header of somebody else."""
    if bracket == '"':
        beside = (file.parent / name).resolve()
        if beside.is_file() and beside.is_relative_to(root):
            return beside.relative_to(root).as_posix()
        if (root / name).is_file() or any(is_under(name, top) for top in ROOTS):
            return name
    for pattern, folder in PUBLIC_ROOTS:
        if pattern.match(name):
            return f"{folder}/{name}"
    return None


def check_include(path, target):
    """Why `path` may not include `target`; None when it may."""
    layer = layer_of(path)
    if layer is None:
        return f"{path} belongs to no layer; add its folder to the table"
    if layer_of(target) == layer:
        return None
    # The compiler's top folder joins its parts.
    if layer == "pewter/compiler" and is_under(target, "pewter/compiler"):
        return None
    if any(is_under(target, allowed) for allowed in LAYERS[layer]):
        return None
    return f"{layer} may not include {target}"


def source_files(root):
    for top in ROOTS:
        for file in sorted((root / top).rglob("*")):
            if file.suffix in SOURCE_SUFFIXES and file.is_file():
                yield file


def check_includes(root):
    for file in source_files(root):
        path = file.relative_to(root).as_posix()
        # MSL text includes by MSL's own rules.
        if is_under(path, "pewter/compiler/stdlib"):
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            bracket, name = match.groups()
            reason = None
            if LLVM_INCLUDE.match(name):
                if not any(is_under(path, folder) for folder in LLVM_FOLDERS):
                    reason = f"only {', '.join(LLVM_FOLDERS)} may include {name}"
            else:
                target = resolve(root, file, bracket, name)
                reason = check_include(path, target) if target else None
            if reason:
                yield f"{path}:{number}: {reason}"


def expand_loops(text, word):
    """`word` with the variables of foreach(<variable> <items>...) replaced by each of their items."""
    words = [word]
    for variable, items in re.findall(r"foreach\(\s*(\w+)\s+([^)$]*)\)", text):
        reference = "${" + variable + "}"
        words = [w.replace(reference, item) for w in words for item in (items.split() if reference in w else [""])]
    return words


def listed_sources(root, cmake_file):
    """The .cpp files that a CMakeLists.txt names, as repository paths; names with other variables are left out."""
    text = re.sub(r"#.*", "", cmake_file.read_text())
    for written in re.findall(r'[^\s()";]+\.cpp\b', text):
        for word in expand_loops(text, written.replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")):
            if "$" in word or "*" in word:
                continue
            file = (cmake_file.parent / word).resolve()
            yield file.relative_to(root).as_posix() if file.is_relative_to(root) else word


def check_source_lists(root):
    listed = set()
    for top in ROOTS:
        for cmake_file in sorted((root / top).rglob("CMakeLists.txt")):
            name = cmake_file.relative_to(root).as_posix()
            for source in listed_sources(root, cmake_file):
                listed.add(source)
                if not (root / source).is_file():
                    yield f"{name}: lists {source}, which does not exist"
    for file in source_files(root):
        path = file.relative_to(root).as_posix()
        if file.suffix == ".cpp" and path not in listed:
            yield f"{path}: in no CMakeLists.txt"


def check(root):
    return [*check_includes(root), *check_source_lists(root)]


def main(arguments):
    root = Path(arguments[1] if len(arguments) > 1 else Path(__file__).parent.parent).resolve()
    problems = check(root)
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} problems with layers or source lists", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
