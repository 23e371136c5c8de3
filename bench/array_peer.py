#!/usr/bin/env python3
"""Operations on whole arrays by another library: numpy, mlx (on the processor) or torch.

usage: array_peer.py LIBRARY [--benchmark_filter=REGEX] [--benchmark_min_time=SECONDS] [--benchmark_format=json]
"""

import itertools
import json
import os
import re
import sys
import time

ELEMENTS = 16 << 20
ROWS, COLUMNS = 4096, 1024
OPERATIONS = 1000
LENGTH = 4096
# Units of time in parts of a second.
SCALES = {"us": 1e6, "ms": 1e3}


def unknown_expression(x, number, maximum):
    """Operations that the digits of a number choose, as the program in C++ has them."""
    y = x
    for _ in range(24):
        number, digit = divmod(number, 3)
        y = y + x if digit == 0 else y * x if digit == 1 else maximum(y, x)
    return y


def numpy_works():
    import numpy as np

    generator = np.random.default_rng(1)
    x = lambda *shape: generator.random(shape, dtype=np.float32)

    def softmax(a):
        e = np.exp(a - a.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def layer_norm(a):
        mean = a.mean(axis=-1, keepdims=True)
        return (a - mean) / np.sqrt(a.var(axis=-1, keepdims=True) + np.float32(1e-5))

    def q4_matvec():
        # No type of 4 bits: elements are unpacked for each product, a group of 64 to a row.
        packed = generator.integers(0, 1 << 32, (LENGTH * LENGTH // 64, 8), dtype=np.uint32)
        scale, bias = x(len(packed), 1), x(len(packed), 1)
        shifts = np.arange(0, 32, 4, dtype=np.uint32)
        vector = x(LENGTH)

        def run():
            levels = ((packed[:, :, None] >> shifts) & np.uint32(15)).reshape(-1, 64).astype(np.float32)
            return (levels * scale + bias).reshape(LENGTH, LENGTH) @ vector

        return run

    return {
        "make": x,
        "finish": lambda result: result,
        "gaussian": lambda a: np.exp(-np.square(a)),
        "sum": lambda a: a.sum(),
        "softmax": softmax,
        "layer_norm": layer_norm,
        "normal": lambda: generator.standard_normal(ELEMENTS, dtype=np.float32),
        "uniform": lambda: generator.random(ELEMENTS, dtype=np.float32),
        "matmul": np.matmul,
        "q4_matvec": q4_matvec,
        "empty": lambda: np.empty(256, np.float32),
        "one": np.float32(1),
    }


def mlx_works():
    import mlx.core as mx

    mx.set_default_device(mx.cpu)

    def q4_matvec():
        parts = mx.quantize(mx.random.uniform(shape=(LENGTH, LENGTH)), 64, 4)
        vector = mx.random.uniform(shape=(1, LENGTH))
        mx.eval(parts, vector)
        return lambda: mx.eval(mx.quantized_matmul(vector, *parts, group_size=64, bits=4))

    def first_call():
        numbers = itertools.count(time.time_ns(), 977)
        a = mx.ones((64,))
        mx.eval(a)

        def run():
            number = next(numbers)
            mx.eval(mx.compile(lambda x: unknown_expression(x, number, mx.maximum))(a))

        return run

    return {
        "make": lambda *shape: mx.random.uniform(shape=shape),
        "finish": mx.eval,
        "gaussian": lambda a: mx.exp(-mx.square(a)),
        "sum": mx.sum,
        "softmax": lambda a: mx.softmax(a, axis=-1),
        "layer_norm": lambda a: mx.fast.layer_norm(a, None, None, 1e-5),
        "normal": lambda: mx.random.normal((ELEMENTS,)),
        "uniform": lambda: mx.random.uniform(shape=(ELEMENTS,)),
        "matmul": mx.matmul,
        "q4_matvec": q4_matvec,
        "first_call": first_call,
        "empty": lambda: mx.zeros((256,)),
        "one": 1.0,
    }


def torch_works():
    import torch

    torch.set_num_threads(os.cpu_count() or 1)

    def q4_matvec():
        packed = torch.randint(0, 256, (LENGTH * LENGTH // 64, 32), dtype=torch.uint8)
        scale, bias = torch.rand(len(packed), 1), torch.rand(len(packed), 1)
        vector = torch.rand(LENGTH)

        def run():
            levels = torch.stack((packed & 15, packed >> 4), -1).reshape(-1, 64).float()
            return (levels * scale + bias).reshape(LENGTH, LENGTH) @ vector

        return run

    def first_call():
        numbers = itertools.count(time.time_ns(), 977)
        a = torch.ones(64)

        def run():
            number = next(numbers)
            torch.jit.trace(lambda x: unknown_expression(x, number, torch.maximum), (a,))(a)

        return run

    return {
        "make": lambda *shape: torch.rand(*shape),
        "finish": lambda result: result,
        "gaussian": lambda a: torch.exp(-torch.square(a)),
        "sum": torch.sum,
        "softmax": lambda a: torch.softmax(a, -1),
        "layer_norm": lambda a: torch.nn.functional.layer_norm(a, (COLUMNS,)),
        "normal": lambda: torch.randn(ELEMENTS),
        "uniform": lambda: torch.rand(ELEMENTS),
        "matmul": torch.matmul,
        "q4_matvec": q4_matvec,
        "first_call": first_call,
        "empty": lambda: torch.empty(256),
        "one": 1.0,
    }


def works(library):
    """Name, unit, work of one run divided by the unit (for times: what the time is divided by), what prepares it."""
    f = {"numpy": numpy_works, "mlx": mlx_works, "torch": torch_works}[library]()

    def of_array(function, *shape):
        def prepare():
            a = f["make"](*shape)
            f["finish"](a)
            return lambda: f["finish"](function(a))

        return prepare

    def chain(a):
        for _ in range(OPERATIONS):
            a = a + f["one"]
        return a

    def create():
        for _ in range(OPERATIONS):
            f["empty"]()

    def operations():
        a = f["make"](16)
        f["finish"](a)

        def run():
            for _ in range(OPERATIONS):
                f["finish"](a + a)

        return run

    def add():
        a, b = f["make"](ELEMENTS), f["make"](ELEMENTS)
        f["finish"](a)
        f["finish"](b)
        return lambda: f["finish"](a + b)

    matrix = ROWS * COLUMNS * 8e-9
    found = [
        ("array_add_16M", "GB/s", ELEMENTS * 12e-9, add),
        ("array_gaussian_16M", "GB/s", ELEMENTS * 8e-9, of_array(f["gaussian"], ELEMENTS)),
        ("array_sum_16M", "GB/s", ELEMENTS * 4e-9, of_array(f["sum"], ELEMENTS)),
        ("array_softmax_4096x1024", "GB/s", matrix, of_array(f["softmax"], ROWS, COLUMNS)),
        ("array_softmax_16M", "GB/s", ELEMENTS * 8e-9, of_array(f["softmax"], ELEMENTS // COLUMNS, COLUMNS)),
        ("array_layer_norm_4096x1024", "GB/s", matrix, of_array(f["layer_norm"], ROWS, COLUMNS)),
        ("array_normal_16M", "Melem/s", ELEMENTS * 1e-6, lambda: lambda: f["finish"](f["normal"]())),
        ("array_uniform_16M", "Melem/s", ELEMENTS * 1e-6, lambda: lambda: f["finish"](f["uniform"]())),
        ("array_matmul_1024", "GFLOP/s", 2e-9 * 1024**3, of_array(lambda a: f["matmul"](a, a), 1024, 1024)),
        ("array_matmul_2048", "GFLOP/s", 2e-9 * 2048**3, of_array(lambda a: f["matmul"](a, a), 2048, 2048)),
        ("array_chain_1000", "us", OPERATIONS, of_array(chain, 16)),
        ("array_create", "us", OPERATIONS, lambda: create),
        ("array_operation_waited", "us", OPERATIONS, operations),
        ("array_q4_matvec_4096", "GB/s", LENGTH * LENGTH * (0.5 + 2 * 4 / 64) * 1e-9, f["q4_matvec"]),
    ]
    if "first_call" in f:
        found.append(("array_first_call", "ms", 1, f["first_call"]))
    return found


def fastest(run, min_time):
    run()
    best, spent = float("inf"), 0.0
    while spent < min_time:
        start = time.perf_counter()
        run()
        taken = time.perf_counter() - start
        best, spent = min(best, taken), spent + taken
    return best


def main(arguments):
    library = arguments[0]
    options = dict(a.lstrip("-").split("=", 1) for a in arguments[1:] if "=" in a)
    pattern = re.compile(options.get("benchmark_filter", "."))
    results = []
    for work, unit, amount, prepare in works(library):
        name = f"{work}/{library}"
        if pattern.search(name):
            best = fastest(prepare(), float(options.get("benchmark_min_time", "0.5")))
            figure = best / amount * SCALES[unit] if unit in SCALES else amount / best
            results.append({"name": name, "label": unit, "figure": figure})
    print(json.dumps({"benchmarks": results}, indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])
