#!/usr/bin/env python3
"""Runs the fuzzers of compiler input, library files, files of machine code and of arrays, one after another.

usage: run.py BIN OUTPUT [--seconds N] [--only NAME]

Each starts from the kernels of the examples, of arrays and of the tests, and from what it found in earlier runs
(OUTPUT/<fuzzer>/corpus). Ends with 1 at the first input that crashes, hangs or leaks, and prints its path. Inputs that
the compiler survived by giving up are kept under OUTPUT/<fuzzer>/survived, each with its reason: what Clang held when it
crashed is never freed, so the fuzzer starts afresh where one of them counts as a leak.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# Longest input: texts grow quickly, and slow down as quickly.
FUZZERS = {"compiler_input": 12000, "library_file": 40000, "code_file": 40000, "array_file": 4096}
SEED_FOLDERS = ["examples", "pewter/array/kernels", "tests"]
# A raw string of a test that holds a kernel.
RAW_STRING = re.compile(r'R"(\w*)\((.*?)\)\1"', re.DOTALL)
SUMMARY = re.compile(r"stat::(\w+):\s+(\d+)")
PULSE = re.compile(r"#(\d+)\s+\w+\s.*?cov: (\d+) ft: (\d+)")
TIMEOUT_SECONDS = 10
MEMORY_MB = 4096


def metal_files():
    return sorted(path for folder in SEED_FOLDERS for path in (ROOT / folder).rglob("*.metal"))


def write_texts(folder):
    """The kernels of the repository, and those that stand in tests as strings, as files."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = [path.read_bytes() for path in metal_files()]
    for path in sorted((ROOT / "tests").rglob("*.cpp")):
        for match in RAW_STRING.finditer(path.read_text()):
            if "kernel" in match.group(2):
                texts.append(match.group(2).encode())
    for text in texts:
        (folder / (hashlib.sha1(text).hexdigest()[:16] + ".metal")).write_bytes(text)


def write_arrays(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number, (descr, shape, count) in enumerate([("<f4", "(2, 3)", 24), (">i8", "(5,)", 40), ("|b1", "()", 1)]):
        text = f"{{'descr': '{descr}', 'fortran_order': {number == 1}, 'shape': {shape}, }}".ljust(117) + "\n"
        array = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(range(count))
        (folder / f"{number}.npy").write_bytes(array)
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            with zipfile.ZipFile(folder / f"{number}-{method}.npz", "w", method) as archive:
                archive.writestr("a.npy", array)
                archive.writestr("b.npy", array)
    tensors = {"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
               "b": {"dtype": "BOOL", "shape": [], "data_offsets": [24, 25]},
               "__metadata__": {"format": "pt"}}
    text = json.dumps(tensors).encode()
    (folder / "tensors.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(range(25)))


def write_seeds(binaries, output):
    write_arrays(output / "seeds" / "array_file")
    write_texts(output / "seeds" / "compiler_input")
    subprocess.run([binaries / "fuzz_seed_writer", output / "seeds", *metal_files()], check=True)


def show_progress(name, line, seconds):
    pulse = PULSE.match(line)
    if pulse and sys.stdout.isatty():
        runs, coverage, features = pulse.groups()
        text = f"{name}: {runs} inputs, coverage {coverage}, features {features}, for {seconds} s"
        print("\r" + text[: shutil.get_terminal_size().columns - 1].ljust(70), end="", flush=True)


def run_once(name, binaries, output, seconds, numbers):
    """The fuzzer's exit code; adds to the numbers of earlier turns."""
    folder = output / name
    command = [
        binaries / f"{name}_fuzzer",
        folder / "corpus",
        output / "seeds" / name,
        f"-artifact_prefix={folder}/artifacts/",
        f"-max_total_time={seconds}",
        f"-timeout={TIMEOUT_SECONDS}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-max_len={FUZZERS[name]}",
        "-detect_leaks=1",
        "-print_final_stats=1",
        "-use_value_profile=0",
    ]
    environment = dict(os.environ, PEWTER_FUZZ_FINDINGS=str(folder / "survived"))
    with (folder / "log.txt").open("a") as log:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment
        )
        for line in process.stdout:
            log.write(line)
            log.flush()
            show_progress(name, line, seconds)
            if pulse := PULSE.match(line):
                numbers["coverage"], numbers["features"] = pulse.group(2), pulse.group(3)
            if (summary := SUMMARY.match(line)) and summary.group(1) == "number_of_executed_units":
                numbers["inputs"] += int(summary.group(2))
        return process.wait()


def is_leak_of_crash(fuzzer, artifact):
    """Whether an input counts as a leak because the compiler crashed over it, and lived on: alone, it does so again."""
    if not artifact.name.startswith("leak-"):
        return False
    with tempfile.TemporaryDirectory() as survived:
        environment = dict(os.environ, PEWTER_FUZZ_FINDINGS=survived)
        subprocess.run([fuzzer, "-detect_leaks=0", artifact], env=environment, capture_output=True, check=False)
        return any(Path(survived).glob("*.input"))


def run_fuzzer(name, binaries, output, seconds):
    """Whether the fuzzer found nothing."""
    folder = output / name
    for part in ("corpus", "survived", "artifacts"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    (folder / "log.txt").unlink(missing_ok=True)
    numbers = {"inputs": 0, "coverage": "?", "features": "?", "turns": 0}
    end = time.monotonic() + seconds
    while True:
        code = run_once(name, binaries, output, max(1, round(end - time.monotonic())), numbers)
        numbers["turns"] += 1
        artifact = max((folder / "artifacts").iterdir(), key=lambda path: path.stat().st_mtime, default=None)
        if code == 0 or not artifact or not is_leak_of_crash(binaries / f"{name}_fuzzer", artifact):
            break
        artifact.unlink()
        code = 0
        if time.monotonic() >= end:
            break
    if sys.stdout.isatty():
        print("\r" + " " * 79, end="\r")
    survived = len(list((folder / "survived").glob("*.reason")))
    print(
        f"{name}: {numbers['inputs']} inputs in {numbers['turns']} turns, coverage {numbers['coverage']}, "
        f"features {numbers['features']}, {survived} survived findings"
    )
    if code != 0:
        print(f"{name}: failed with {code}, see {folder / 'log.txt'}; the input is {artifact or 'not there'}")
    return code == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--seconds", type=int, default=3600, help="for each fuzzer")
    parser.add_argument("--only", choices=FUZZERS)
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    write_seeds(arguments.binaries.resolve(), output)
    for name in [arguments.only] if arguments.only else FUZZERS:
        if not run_fuzzer(name, arguments.binaries.resolve(), output, arguments.seconds):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
