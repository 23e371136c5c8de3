#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pewter/metal/executor/executor.h"

namespace pewter::executor::test {

/// The object files that the test kernels are compiled to.
std::vector<std::byte> plain_object();
std::vector<std::byte> fiber_object();
std::vector<std::byte> simd_object();
std::vector<std::byte> broken_object();

/// A kernel whose threads run alone, or wait for each other. The test ends when it cannot be
/// loaded.
std::shared_ptr<const LoadedKernel> plain_kernel(const std::string& name,
                                                 const KernelTraits& traits = {});
std::shared_ptr<const LoadedKernel> fiber_kernel(const std::string& name,
                                                 std::uint32_t stack_bytes = 0);
std::shared_ptr<const LoadedKernel> simd_kernel(const std::string& name);

struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

/// A dispatch of `threads` in groups of `group`, with buffers 0, 1, ... in order.
Dispatch dispatch(const LoadedKernel& kernel,
                  Extent threads,
                  Extent group,
                  const std::vector<const void*>& buffers = {},
                  std::uint32_t threadgroup_bytes = 0);

/// Sets the time limit of grids until the end of the scope.
class TimeLimit {
 public:
  explicit TimeLimit(std::uint64_t milliseconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  const std::uint64_t previous_;
};

}  // namespace pewter::executor::test
