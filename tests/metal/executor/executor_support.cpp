#include "tests/metal/executor/executor_support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace pewter::executor::test {
namespace {

std::vector<std::byte> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file, path);
  const std::vector<char> text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return std::byte(c); });
  return bytes;
}

std::shared_ptr<const LoadedKernel> load(const std::vector<std::byte>& object,
                                         const std::string& name,
                                         const KernelTraits& traits) {
  auto kernel = LoadedKernel::load(object, name, traits);
  REQUIRE_MESSAGE(kernel, kernel.error().message);
  return *kernel;
}

}  // namespace

std::vector<std::byte> plain_object() {
  return read_file(PEWTER_PLAIN_KERNELS);
}
std::vector<std::byte> fiber_object() {
  return read_file(PEWTER_FIBER_KERNELS);
}
std::vector<std::byte> simd_object() {
  return read_file(PEWTER_SIMD_KERNELS);
}
std::vector<std::byte> broken_object() {
  return read_file(PEWTER_BROKEN_KERNELS);
}

std::shared_ptr<const LoadedKernel> plain_kernel(const std::string& name,
                                                 const KernelTraits& traits) {
  return load(plain_object(), name, traits);
}

std::shared_ptr<const LoadedKernel> fiber_kernel(const std::string& name,
                                                 std::uint32_t stack_bytes) {
  return load(fiber_object(), name, {.needs_fibers = true, .stack_bytes = stack_bytes});
}

std::shared_ptr<const LoadedKernel> simd_kernel(const std::string& name) {
  return load(simd_object(), name, {.needs_fibers = true, .stack_bytes = 0});
}

Dispatch dispatch(const LoadedKernel& kernel,
                  Extent threads,
                  Extent group,
                  const std::vector<const void*>& buffers,
                  std::uint32_t threadgroup_bytes) {
  Dispatch made = {};
  made.kernel = &kernel;
  made.threadgroup_bytes = threadgroup_bytes;
  std::copy(buffers.begin(), buffers.end(), made.launch.buffers);
  const std::uint32_t grid[] = {threads.x, threads.y, threads.z};
  const std::uint32_t size[] = {group.x, group.y, group.z};
  for (int axis = 0; axis < 3; ++axis) {
    made.launch.threads_per_grid[axis] = grid[axis];
    made.launch.threads_per_threadgroup[axis] = size[axis];
    made.launch.threadgroups_per_grid[axis] =
        static_cast<std::uint32_t>((std::uint64_t(grid[axis]) + size[axis] - 1) / size[axis]);
  }
  return made;
}

TimeLimit::TimeLimit(std::uint64_t milliseconds) : previous_(timeout_ms()) {
  set_timeout_ms(milliseconds);
}

TimeLimit::~TimeLimit() {
  set_timeout_ms(previous_);
}

}  // namespace pewter::executor::test
