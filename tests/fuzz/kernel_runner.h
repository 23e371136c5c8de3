#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/fuzz/program.h"

namespace pewter::fuzz {

/// How a kernel is compiled.
struct Mode {
  bool is_spmd = false;
  /// Lanes of a vector program; 0 leaves the choice to the compiler.
  unsigned lanes = 0;

  std::string name() const;
};

/// What became of a kernel.
struct Outcome {
  enum class Kind { Ran, NotCompiled, Failed };
  Kind kind = Kind::Ran;
  /// When it did not compile or run.
  std::string error;
  /// Content of every buffer afterwards; empty for those that are only read.
  std::vector<std::vector<std::byte>> contents;
};

/// Compiles and runs kernels on the default device. Every run starts from the same memory.
class KernelRunner {
 public:
  KernelRunner();

  Outcome run(const Program& program, const Mode& mode);

 private:
  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
};

/// What a buffer holds before the kernel runs.
std::vector<std::byte> initial_content(const Program& program, std::size_t index);

}  // namespace pewter::fuzz
