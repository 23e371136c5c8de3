#!/usr/bin/env python3
"""Runs clang-tidy over the sources of a build directory: check_tidy.py BUILD [JOBS] [FILE PATTERN...]

A source that passed is not looked at again until it, a header that it includes, its compile command or the
configuration changes; which those were is kept in BUILD/tidy."""

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Left to GCC, whose flags, precompiled headers and standard library these are.
FLAGS = [f"--extra-arg=-Wno-{name}" for name in ("unknown-warning-option", "ignored-gch", "deprecated-declarations")]


@cache
def content(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


def headers(build):
    """What each object was made from, as Ninja knows it; headers of the system are taken not to change."""
    found, current = {}, []
    for line in subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True).stdout.splitlines():
        if line.startswith(" "):
            if not line.strip().startswith("/usr/"):
                current.append(line.strip())
        elif ": #deps" in line:
            current = found.setdefault(line.split(": #deps")[0], [])
    return found


def object_of(entry):
    return re.search(r" -o (\S+)", entry["command"]).group(1)


def state(build, entry, includes, version):
    """A hash of everything that the verdict depends on; None when that is not known."""
    made = object_of(entry)
    if made not in includes:
        return None
    parts = [version, content(ROOT / ".clang-tidy"), entry["command"], content(Path(entry["file"]))]
    parts += [name + content(build / name) for name in sorted(includes[made])]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def plug_in(folder):
    """The options that keep clang-tidy out of the system's headers; none where the plug-in cannot be built."""
    source = ROOT / "scripts" / "tidy_scope.cpp"
    library = folder / f"scope-{content(source)[:16]}.so"
    if not library.is_file():
        flags = subprocess.run(["llvm-config-19", "--cxxflags"], capture_output=True, text=True, check=True).stdout.split()
        made = subprocess.run(["g++", *flags, "-fPIC", "-shared", "-fno-rtti", "-O1", "-w", source, "-o", library],
                              stderr=subprocess.DEVNULL)
        if made.returncode != 0:
            print("clang-tidy: scripts/tidy_scope.cpp does not compile; headers of the system are checked too", flush=True)
            return []
    return [f"-load={library}", "--checks=pewter-scope"]


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: check_tidy.py BUILD [JOBS] [FILE PATTERN...]")
    build = Path(sys.argv[1]).resolve()
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else os.cpu_count()
    patterns = sys.argv[3:] or [rf"^{re.escape(str(ROOT))}/(pewter|tools|examples|tests)/.*\.cpp$"]
    version = subprocess.run(["clang-tidy-19", "--version"], capture_output=True, text=True, check=True).stdout
    includes = headers(build)
    passed = build / "tidy"
    passed.mkdir(exist_ok=True)
    scope = plug_in(passed)

    def check(entry):
        stamp = passed / hashlib.sha256(object_of(entry).encode()).hexdigest()[:16]
        wanted = state(build, entry, includes, version)
        if wanted and stamp.is_file() and stamp.read_text() == wanted:
            return "known"
        result = subprocess.run(["clang-tidy-19", *scope, "--quiet", "-p", build, *FLAGS, entry["file"]],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if result.returncode != 0:
            print(result.stdout or f"{entry['file']}: clang-tidy ended with {result.returncode}", flush=True)
            return "failed"
        if wanted:
            stamp.write_text(wanted)
        return "passed"

    entries = [entry for entry in json.loads((build / "compile_commands.json").read_text())
               if any(re.search(pattern, entry["file"]) for pattern in patterns)]
    with ThreadPoolExecutor(jobs) as pool:
        outcomes = list(pool.map(check, entries))
    print(f"clang-tidy: {len(entries)} sources, {outcomes.count('known')} unchanged since they passed, "
          f"{outcomes.count('failed')} with findings")
    return 1 if "failed" in outcomes or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
