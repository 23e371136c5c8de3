#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "pewter/compiler/compiler.h"
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
  /// Why the kernel ran one thread at a time although lanes were asked for; empty otherwise.
  std::string fallback;
};

/// One kernel, read once and compiled in as many modes as are asked for. Every run starts from the
/// same memory.
class KernelRunner {
 public:
  explicit KernelRunner(const Program& program);

  Outcome run(const Mode& mode) const;

 private:
  const Program& program_;
  std::shared_ptr<compiler::Library> library_;
  /// Why there is no library.
  std::string error_;
};

/// What a buffer holds before the kernel runs.
std::vector<std::byte> initial_content(const Program& program, std::size_t index);

}  // namespace pewter::fuzz
