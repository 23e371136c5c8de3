# The commands of everyday work; each builds what it needs. CMake and Ninja do the real work, in build/<preset>.
PRESET ?= dev
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help setup build run test accuracy bench bench-memory fuzz contracts lint format clean

help:
	@echo "make run       build, then compile, run and check a gallery of Metal kernels"
	@echo "make test      build, then run every test"
	@echo "make build     build only"
	@echo "make accuracy  measure every floating-point function for every number, for hours; writes docs/accuracy.md"
	@echo "make bench     build for speed, then measure against the peers (ONLY=regex for some works, ROUNDS=n)"
	@echo "make bench-memory  what buffers cost beside malloc, mmap and mimalloc"
	@echo "make fuzz      random compiler input and files, an hour each (FUZZ_SECONDS=n, FUZZER=name for one of them)"
	@echo "make contracts what is proven of the contracts: a line for each of their checks"
	@echo "make lint      check format, layers and clang-tidy"
	@echo "make format    format the C++ sources in place"
	@echo "make setup     install missing Debian packages (the others do this first)"
	@echo "make clean     delete build/"
	@echo
	@echo "PRESET=release, asan or tsan builds another way (default: dev), JOBS=n limits parallel work."

setup:
	@scripts/setup.sh

# Ninja runs CMake again by itself when a CMake file changes.
$(BUILD)/build.ninja: | setup
	cmake --preset $(PRESET)

build: setup $(BUILD)/build.ninja
	cmake --build $(BUILD) --parallel $(JOBS)

# Only what it runs and the command to go on with; `make test` builds the rest in the same directory.
run: setup $(BUILD)/build.ninja
	cmake --build $(BUILD) --parallel $(JOBS) --target gallery pewter_tool
	$(BUILD)/bin/gallery --output build/gallery

test: build
	ctest --preset $(PRESET) --parallel $(JOBS)

# Stopped and started again, it goes on where it was.
accuracy: setup $(BUILD)/build.ninja
	cmake --build $(BUILD) --parallel $(JOBS) --target accuracy
	$(BUILD)/bin/accuracy --results build/accuracy.json --document docs/accuracy.md

# Optimised and apart from the test build; what it needs is installed for it alone, and a peer that is missing is
# left out of the comparison.
BENCH_PEERS := pocl-opencl-icd ocl-icd-opencl-dev libopenblas-dev python3-numpy
ONLY ?= .
ROUNDS ?= 5
bench:
	@scripts/setup.sh libbenchmark-dev
	@scripts/setup.sh $(BENCH_PEERS) || echo "bench: not all peers could be installed"
	cmake --preset release -DPEWTER_BENCHMARKS=ON -DPEWTER_TESTS=OFF
	cmake --build build/release --parallel $(JOBS) --target benchmarks
	bench/run.py build/release/bin build/bench --only '$(ONLY)' --rounds $(ROUNDS) $(if $(DOCUMENT),--document $(DOCUMENT))

bench-memory:
	@scripts/setup.sh libbenchmark-dev
	@scripts/setup.sh libmimalloc-dev || echo "bench: mimalloc could not be installed"
	cmake --preset release -DPEWTER_BENCHMARKS=ON -DPEWTER_TESTS=OFF
	cmake --build build/release --parallel $(JOBS) --target allocation_benchmark
	build/release/bin/allocation_benchmark

# With Clang's sanitizers and libFuzzer, which nothing else needs. Stops at the first input that does harm.
FUZZ_SECONDS ?= 3600
FUZZER ?=
fuzz:
	@scripts/setup.sh clang-19 libclang-rt-19-dev
	cmake --preset fuzz
	cmake --build build/fuzz --parallel $(JOBS) --target fuzzers
	tests/fuzz/input/run.py build/fuzz/bin build/fuzz/findings --seconds $(FUZZ_SECONDS) $(addprefix --only ,$(FUZZER))

contracts: build
	scripts/contracts.py $(BUILD)/bin

lint: build
	scripts/check_layers.py
	scripts/check_environment.py
	scripts/check_format.sh
	scripts/check_tidy.py $(BUILD) $(JOBS)

format: setup
	scripts/check_format.sh --fix

clean:
	rm -rf build
