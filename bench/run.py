#!/usr/bin/env python3
"""Runs the benchmark programs in turn, several rounds over, and compares ours with each peer.

usage: run.py BINARIES OUTPUT [--only REGEX] [--rounds N] [--seconds S] [--document FILE]

BINARIES holds the programs (build/release/bin). OUTPUT gets results.json, table.md and chart.svg.

A round measures one work with every program, one after the other, so that a burst of other load hits all of
them alike. A figure is the fastest iteration of its turn, because other load can only slow it down. What is
printed is the median over the rounds; the spread is the range of the rounds' ratios over their median.
A ratio above 1 means that ours is faster, whatever the unit.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

import chart

# Threads of the peers spin for a while after their last work, and would take time from the next in turn.
SETTLE_SECONDS = 0.03
TURN_TIMEOUT_SECONDS = 300
TIME_UNITS = {"us", "ms"}


class Peer:
    """One program, or one way to run it, and the peers whose figures it prints."""

    def __init__(self, command, figures, needs, environment=None, works="."):
        self.command = command
        # Suffix of a benchmark's name -> how the peer is called in the tables.
        self.figures = figures
        self.needs = needs
        self.environment = environment or {}
        self.works = re.compile(works)


OURS = "pewter"
HARDWARE_THREADS = os.cpu_count() or 1
# Thread counts for the works that are measured with fewer threads than there are.
FEWER_THREADS = [n for n in (1, 2, 4, 8, 16, 32, 64) if n < HARDWARE_THREADS]
SCALED_WORKS = r"^(saxpy_16M|gaussian_16M|matmul_naive_512|matmul_tiled_1024|mandelbrot_1024|nbody_4096)$"


def numpy_python():
    """An interpreter that has NumPy; the first on the path need not be the system's."""
    for python in [sys.executable, "/usr/bin/python3"]:
        if subprocess.run([python, "-c", "import numpy"], capture_output=True, check=False).returncode == 0:
            return python
    return ""


def array_peer(library, python):
    """Whole-array operations by a library of Python's; `python` may be empty."""
    return [python, str(Path(__file__).parent / "array_peer.py"), library]


def peers(binaries):
    metal = [str(binaries / "bench_metal")]
    opencl = [str(binaries / "bench_opencl")]
    numpy = [numpy_python(), str(Path(__file__).parent / "numpy_peer.py")]
    found = [
        Peer(metal, {"": OURS, "bandwidth": "bandwidth"}, "the library itself"),
        Peer(opencl, {"": "PoCL"}, "pocl-opencl-icd, ocl-icd-opencl-dev"),
        Peer(
            opencl,
            {"": "PoCL, fast math"},
            "pocl-opencl-icd, ocl-icd-opencl-dev",
            {"BENCH_OPENCL_OPTIONS": "-cl-fast-relaxed-math"},
            r"^(?!dispatch|compile|allocate)",
        ),
        Peer(
            [str(binaries / "bench_native")],
            {
                "cpp": "C++",
                "by_lanes": "C++, same kernel",
                "streaming": "bandwidth, streaming stores",
                "malloc": "malloc",
            },
            "an x86-64 processor with AVX2",
        ),
        Peer([str(binaries / "bench_blas")], {"openblas": "OpenBLAS"}, "libopenblas-dev", works="matmul"),
        Peer(numpy, {"numpy": "NumPy"}, "python3-numpy", works=r"^(?!dispatch|compile|allocate)"),
    ]
    arrays = [str(binaries / "bench_array")]
    found.append(Peer(arrays, {"": OURS, "bandwidth": "bandwidth"}, "the library itself", works="^array_"))
    found.append(Peer(array_peer("numpy", numpy_python()), {"numpy": "NumPy"}, "python3-numpy", works="^array_"))
    for library, name, variable in [("mlx", "MLX", "BENCH_MLX_PYTHON"), ("torch", "PyTorch", "BENCH_TORCH_PYTHON")]:
        command = array_peer(library, os.environ.get(variable, ""))
        found.append(Peer(command, {library: name}, f"{variable}: a Python that has it", works="^array_"))
    scalar = {"PEWTER_MODE": "scalar"}
    found.append(Peer(metal, {"": "pewter, scalar mode"}, "", scalar, "^divergent_"))
    for count in FEWER_THREADS:
        name = f"pewter, {count} thread{'s' if count > 1 else ''}"
        found.append(Peer(metal, {"": name}, "", {"PEWTER_THREADS": str(count)}, SCALED_WORKS))
    return found


# What is to be reached: pattern of the work, pattern of the peer, least ratio.
GOALS = [
    (r"^array_matmul_", r"^OpenBLAS$", 0.95),
    (r"^array_(add|gaussian|sum|softmax)_16M", r"^bandwidth$", 0.8),
    (r"^array_(?!operation_waited)", r"^(NumPy|MLX|PyTorch)$", 1.0),
    # These end in scalar mode themselves: the same code twice, and what comparing them costs.
    (r"^divergent_(interpreter|rows)", r"^pewter, scalar mode$", 0.98),
    (r"^divergent_", r"^pewter, scalar mode$", 1.0),
    (r"^(dispatch_queued|dispatch_round_trip)$", r"^PoCL$", 10.0),
    (r"^compile_(first|cold)$", r"^PoCL$", 2.0),
    (r"^(?!dispatch|compile|allocate|divergent)", r"^PoCL$", 1.0),
    (r"^(saxpy_16M|gaussian_16M|sum_\w+)$", r"^bandwidth$", 0.9),
    (r"^matmul_simdgroup_1024$", r"^OpenBLAS$", 0.35),
    (r"^(?!matmul_simdgroup|gaussian_64K|sum_simd)", r"^C\+\+(, same kernel)?$", 0.8),
]


def goal_of(work, peer):
    for work_pattern, peer_pattern, goal in GOALS:
        if re.search(work_pattern, work) and re.search(peer_pattern, peer):
            return goal
    return None


def works_of(command):
    """The names of our works, in the order of the program."""
    listing = subprocess.run([*command, "--benchmark_list_tests=true"], capture_output=True, text=True, check=True)
    return [line.removesuffix("/manual_time") for line in listing.stdout.split()]


def take_turn(peer, work, seconds):
    """Figures of one program for one work: peer -> (figure, unit). Raises RuntimeError with the reason."""
    command = [
        *peer.command,
        f"--benchmark_filter=^{re.escape(work)}(/|$)",
        f"--benchmark_min_time={seconds}",
        "--benchmark_format=json",
    ]
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TURN_TIMEOUT_SECONDS,
        env={**os.environ, **peer.environment},
        check=False,
    )
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip().splitlines()[-1] if ran.stderr.strip() else f"exit {ran.returncode}")
    if not ran.stdout.strip():
        return {}
    figures = {}
    for entry in json.loads(ran.stdout)["benchmarks"]:
        suffix = entry["name"].removesuffix("/manual_time").removeprefix(work).removeprefix("/")
        name = peer.figures.get(suffix)
        if name is None:
            continue
        if entry.get("error_occurred"):
            raise RuntimeError(entry.get("error_message", "error"))
        figures[name] = (entry["figure"], entry["label"])
    return figures


def is_installed(peer):
    if not Path(peer.command[0]).is_file():
        return False
    if "PoCL" in peer.figures.values():
        # The loader may be there without a device to load.
        ran = subprocess.run(
            [*peer.command, "--benchmark_filter=^dispatch_queued$", "--benchmark_min_time=0.001"],
            capture_output=True,
            check=False,
        )
        return ran.returncode == 0
    return True


def measure(work, running, rounds, seconds):
    """peer -> list of figures, one for each round; and the unit."""
    samples, unit = {}, ""
    for _ in range(rounds):
        for peer in running:
            if not peer.works.search(work):
                continue
            time.sleep(SETTLE_SECONDS)
            try:
                figures = take_turn(peer, work, seconds)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                print(f"{work}: {next(iter(peer.figures.values()))}: {error}", file=sys.stderr)
                continue
            for name, (figure, figure_unit) in figures.items():
                samples.setdefault(name, []).append(figure)
                unit = figure_unit
    return samples, unit


def compare(work, unit, samples):
    """The rows of a work, one for each peer; with the peer left empty when there is none."""
    ours = samples.pop(OURS, [])
    if not ours:
        return []
    row = {"work": work, "unit": unit, "ours": statistics.median(ours)}
    if not samples:
        return [{**row, "peer": "", "theirs": None, "ratio": None, "spread": None, "goal": None}]
    rows = []
    for peer, theirs in samples.items():
        pairs = list(zip(ours, theirs))
        ratios = [t / o if unit in TIME_UNITS else o / t for o, t in pairs]
        ratio = statistics.median(ratios)
        rows.append(
            {
                **row,
                "peer": peer,
                "theirs": statistics.median(theirs),
                "ratio": ratio,
                "spread": (max(ratios) - min(ratios)) / ratio,
                "goal": goal_of(work, peer),
            }
        )
    return rows


def text_of(figure):
    if figure is None:
        return "-"
    return f"{figure:.0f}" if figure >= 1000 else f"{figure:.3g}"


def verdict(row):
    if row["goal"] is None:
        return ""
    return f"≥ {row['goal']:g}" + ("" if row["ratio"] >= row["goal"] else ", missed")


HEADER = ["work", "unit", "pewter", "peer", "theirs", "ratio", "spread", "goal"]


def cells(row):
    return [
        row["work"],
        row["unit"],
        text_of(row["ours"]),
        row["peer"],
        text_of(row["theirs"]),
        "-" if row["ratio"] is None else text_of(row["ratio"]),
        "-" if row["spread"] is None else f"{100 * row['spread']:.0f} %",
        verdict(row),
    ]


WIDTHS = [30, 8, 9, 28, 9, 8, 8, 12]


def print_line(values):
    print("  ".join(value.ljust(width) for value, width in zip(values, WIDTHS)).rstrip(), flush=True)


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else None


def summaries(rows):
    """Sentences about all works together."""
    for peer in ["PoCL", "PoCL, fast math", "C++", "C++, same kernel"]:
        kernels = [
            r for r in rows if r["peer"] == peer and not re.match("dispatch|compile|allocate|divergent", r["work"])
        ]
        if kernels:
            worst = min(kernels, key=lambda r: r["ratio"])
            mean = geometric_mean([r["ratio"] for r in kernels])
            yield (
                f"kernels against {peer}: geometric mean {mean:.2f} over {len(kernels)}, "
                f"lowest {worst['ratio']:.2f} ({worst['work']})"
            )
    missed = [r for r in rows if r["goal"] is not None and r["ratio"] < r["goal"]]
    with_goal = [r for r in rows if r["goal"] is not None]
    if with_goal:
        yield f"goals reached: {len(with_goal) - len(missed)} of {len(with_goal)}"


BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def update_document(document, table):
    """Puts a table between the marks of a document."""
    text = document.read_text()
    if BEGIN not in text or END not in text:
        sys.exit(f"run.py: {document} has no lines '{BEGIN}' and '{END}'")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    date = time.strftime("%Y-%m-%d")
    caption = f"`make bench` on {HARDWARE_THREADS} cores ({processor()}), {date}:"
    document.write_text(f"{before}{BEGIN}\n{caption}\n\n{table}{END}{after}")


def processor():
    """The name of the processor, and its widest vectors."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return "unknown processor"
    name = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    vectors = next((v for v in ["avx512f", "avx2", "asimd"] if re.search(rf"\b{v}\b", text)), "no vectors")
    return f"{name.group(1) if name else 'unknown processor'}, {vectors}"


def write_results(output, rows, notes):
    """Writes the three files; returns the table."""
    output.mkdir(parents=True, exist_ok=True)
    (output / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    table = "\n".join(lines) + "\n\n" + "\n".join(f"- {note}" for note in notes) + "\n"
    (output / "table.md").write_text(table)
    (output / "chart.svg").write_text(chart.draw(rows))
    return table


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--only", default=".", help="works to measure, as a regular expression")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.1, help="least time of a turn")
    parser.add_argument("--document", type=Path, help="a file to put the table into, between two marks")
    options = parser.parse_args()

    everyone = peers(options.binaries)
    running = []
    for peer in everyone:
        if is_installed(peer):
            running.append(peer)
        else:
            print(f"missing: {', '.join(peer.figures.values())} (needs {peer.needs})")
    if not running or running[0] is not everyone[0]:
        sys.exit(f"run.py: {everyone[0].command[0]} is missing or does not run; build it first")
    ours = [peer for peer in running if OURS in peer.figures.values()]
    listed = [work for peer in ours for work in works_of(peer.command)]
    works = [work for work in dict.fromkeys(listed) if "/" not in work and re.search(options.only, work)]
    if not works:
        sys.exit(f"run.py: no work matches '{options.only}'")

    print_line(HEADER)
    rows = []
    for work in works:
        samples, unit = measure(work, running, options.rounds, options.seconds)
        for row in compare(work, unit, samples):
            rows.append(row)
            print_line(cells(row))
    notes = list(summaries(rows))
    print()
    for note in notes:
        print(note)
    table = write_results(options.output, rows, notes)
    if options.document:
        update_document(options.document, table)
    print(f"written: {options.output}/results.json, table.md, chart.svg")


if __name__ == "__main__":
    main()
