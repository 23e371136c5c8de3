#!/usr/bin/env python3
"""The works that NumPy has functions for, with the arguments and the JSON output of the C++ programs.

usage: numpy_peer.py [--benchmark_filter=REGEX] [--benchmark_min_time=SECONDS] [--benchmark_format=json]
"""

import json
import re
import sys

import numpy as np

from array_peer import fastest

ELEMENTS = 16 << 20


def saxpy():
    x, y, scaled = uniform(ELEMENTS), np.ones(ELEMENTS, np.float32), np.empty(ELEMENTS, np.float32)

    def run():
        np.multiply(x, np.float32(0.5), out=scaled)
        np.add(y, scaled, out=y)

    return run, lambda: np.allclose(y, 0.5 * x + 1)


def gaussian(count, repeats):
    x, y = uniform(count), np.empty(count, np.float32)

    def run():
        for _ in range(repeats):
            np.multiply(x, x, out=y)
            np.negative(y, out=y)
            np.exp(y, out=y)

    return run, lambda: np.allclose(y, np.exp(-x.astype(np.float64) ** 2), atol=1e-6)


def sum_all():
    x, total = uniform(ELEMENTS), np.zeros(1, np.float32)

    def run():
        total[0] = x.sum()

    return run, lambda: abs(total[0] - x.sum(dtype=np.float64)) < 3


def matmul(n):
    a, b, c = uniform(n * n).reshape(n, n), uniform(n * n).reshape(n, n), np.empty((n, n), np.float32)

    def run():
        np.matmul(a, b, out=c)

    return run, lambda: np.allclose(c[:7], a[:7].astype(np.float64) @ b, atol=1e-3)


def softmax():
    x, y = uniform(4096 * 1024).reshape(4096, 1024), np.empty((4096, 1024), np.float32)

    def run():
        np.subtract(x, x.max(axis=1, keepdims=True), out=y)
        np.exp(y, out=y)
        np.divide(y, y.sum(axis=1, keepdims=True), out=y)

    return run, lambda: np.allclose(y.sum(axis=1), 1, atol=1e-4)


def histogram():
    values = np.random.default_rng(1).integers(0, 256, ELEMENTS, np.uint8)
    counts = [None]

    def run():
        counts[0] = np.bincount(values, minlength=256)

    return run, lambda: counts[0].sum() == ELEMENTS


def sort():
    values, work = np.random.default_rng(1).integers(0, 1 << 32, 1 << 20, np.uint32), np.empty(1 << 20, np.uint32)

    def run():
        np.copyto(work, values)
        work.sort()

    return run, lambda: bool(np.all(work[1:] >= work[:-1]))


def uniform(count):
    return np.random.default_rng(1).random(count, dtype=np.float32) * 4 - 2


# Name, unit, work of one run divided by the unit, what makes it.
WORKS = [
    ("saxpy_16M", "GB/s", ELEMENTS * 12e-9, saxpy),
    ("gaussian_16M", "GB/s", ELEMENTS * 8e-9, lambda: gaussian(ELEMENTS, 1)),
    ("gaussian_64K", "Melem/s", 20 * 65536e-6, lambda: gaussian(65536, 20)),
    ("sum_tree_16M", "GB/s", ELEMENTS * 4e-9, sum_all),
    ("sum_strided_16M", "GB/s", ELEMENTS * 4e-9, sum_all),
    ("sum_simd_16M", "GB/s", ELEMENTS * 4e-9, sum_all),
    ("softmax_4096x1024", "GB/s", 4096 * 1024 * 8e-9, softmax),
    ("matmul_naive_512", "GFLOP/s", 2e-9 * 512**3, lambda: matmul(512)),
    ("matmul_tiled_512", "GFLOP/s", 2e-9 * 512**3, lambda: matmul(512)),
    ("matmul_tiled_1024", "GFLOP/s", 2e-9 * 1024**3, lambda: matmul(1024)),
    ("matmul_simdgroup_1024", "GFLOP/s", 2e-9 * 1024**3, lambda: matmul(1024)),
    ("bitonic_1M", "Melem/s", (1 << 20) * 1e-6, sort),
    ("histogram_16MB", "GB/s", ELEMENTS * 1e-9, histogram),
]


def measure(make, min_time):
    """Seconds of the fastest run; None when the answer is wrong."""
    run, is_right = make()
    run()
    if not is_right():
        return None
    return fastest(run, min_time)


def main(arguments):
    options = dict(a.lstrip("-").split("=", 1) for a in arguments if "=" in a)
    pattern = re.compile(options.get("benchmark_filter", "."))
    min_time = float(options.get("benchmark_min_time", "0.5"))
    results = []
    for work, unit, amount, make in WORKS:
        name = f"{work}/numpy"
        if pattern.search(name):
            best = measure(make, min_time)
            if best is None:
                results.append({"name": name, "error_occurred": True, "error_message": "wrong answer"})
            else:
                results.append({"name": name, "label": unit, "figure": amount / best})
    print(json.dumps({"benchmarks": results}, indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
