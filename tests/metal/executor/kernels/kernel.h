#pragma once

#include <cstddef>
#include <cstdint>

#include "pewter/base/kernel_abi.h"

/// What the kernels of these tests, compiled to an object of their own, call as MSL code would.

#define PEWTER_SYMBOL(name) __asm__(name)

extern "C" {
void threadgroup_barrier(std::uint32_t flags, std::uint32_t scope) PEWTER_SYMBOL("air.wg.barrier");
void simdgroup_barrier(std::uint32_t flags, std::uint32_t scope)
    PEWTER_SYMBOL("air.simdgroup.barrier");
void site(std::uint32_t id) PEWTER_SYMBOL("pewter.site");
void reconverge(std::uint32_t id) PEWTER_SYMBOL("pewter.reconverge");
void* threadgroup_base() PEWTER_SYMBOL("pewter.threadgroup_base");
}

namespace pewter::abi {

/// Buffer `index` of the launch as an array of T.
template <typename T>
T* buffer(const Launch* launch, int index) {
  return static_cast<T*>(const_cast<void*>(launch->buffers[index]));
}

/// Index in the grid, x fastest, of a thread given by its index in the group.
inline std::uint64_t grid_index(const Launch* launch, const Group* group, std::uint32_t thread) {
  const std::uint32_t local[3] = {thread % group->size[0], thread / group->size[0] % group->size[1],
                                  thread / group->size[0] / group->size[1]};
  std::uint64_t index = 0;
  for (int axis = 2; axis >= 0; --axis) {
    const std::uint64_t position =
        std::uint64_t(group->position[axis]) * launch->threads_per_threadgroup[axis] + local[axis];
    index = index * launch->threads_per_grid[axis] + position;
  }
  return index;
}

}  // namespace pewter::abi

/// Defines a kernel: the body runs for each thread, which `thread` numbers inside its group.
#define PEWTER_KERNEL(name)                                                                     \
  static void name##_thread(const pewter::abi::Launch* launch, const pewter::abi::Group* group, \
                            std::uint32_t thread);                                              \
  extern "C" void name(const pewter::abi::Launch* launch, const pewter::abi::Group* group,      \
                       std::uint32_t first, std::uint32_t count) {                              \
    for (std::uint32_t thread = first; thread < first + count; ++thread) {                      \
      name##_thread(launch, group, thread);                                                     \
    }                                                                                           \
  }                                                                                             \
  static void name##_thread([[maybe_unused]] const pewter::abi::Launch* launch,                 \
                            [[maybe_unused]] const pewter::abi::Group* group,                   \
                            [[maybe_unused]] std::uint32_t thread)
