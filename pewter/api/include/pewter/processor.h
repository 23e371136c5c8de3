#pragma once

#include <pewter/export.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pewter {

/// The processor that the software device runs kernels on.
struct Processor {
  /// Its own name, for instance "AMD EPYC 7763".
  std::string name;
  /// What kernels are compiled for, for instance "x86-64-v3".
  std::string target;
  /// Vector features, for instance {"avx2", "fma"}.
  std::vector<std::string> features;
  /// Threads that run kernels; the environment variable PEWTER_THREADS sets them.
  std::uint32_t threads = 0;
};

PEWTER_EXPORT Processor processor();

}  // namespace pewter
