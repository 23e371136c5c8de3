#pragma once

/// The same works by hand in C++, OpenMP and AVX2. Each function registers its own, as
/// `<work>/<peer>`:
///
///   cpp        the algorithm that a careful engineer would write for the processor
///   by_lanes   the kernel's own algorithm, eight threads of the grid to a vector
///   streaming  only the kernel's memory traffic, with non-temporal stores
namespace bench {

void add_native_memory_works();
void add_native_compute_works();
void add_native_matmul_works();
void add_native_divergent_works();

}  // namespace bench
