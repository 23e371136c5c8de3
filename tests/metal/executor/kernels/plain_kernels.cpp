// Kernels whose threads do not wait for each other.
#include <cmath>

#include "tests/metal/executor/kernels/kernel.h"

using pewter::abi::buffer;
using pewter::abi::grid_index;

/// Counts how often each thread of the grid runs.
PEWTER_KERNEL(count_visits) {
  ++buffer<std::uint32_t>(launch, 0)[grid_index(launch, group, thread)];
}

/// Adds up the sizes of all groups, so that groups at the edge show.
PEWTER_KERNEL(record_group_sizes) {
  if (thread == 0) {
    auto* sizes = buffer<std::uint32_t>(launch, 0);
    const auto* position = group->position;
    const std::uint64_t index =
        (std::uint64_t(position[2]) * launch->threadgroups_per_grid[1] + position[1]) *
            launch->threadgroups_per_grid[0] +
        position[0];
    for (int axis = 0; axis < 3; ++axis) {
      sizes[index * 3 + axis] = group->size[axis];
    }
  }
}

PEWTER_KERNEL(sine) {
  const std::uint64_t index = grid_index(launch, group, thread);
  buffer<float>(launch, 1)[index] = std::sin(buffer<const float>(launch, 0)[index]);
}

// Through a table of constants, so that the object has data relocations.
namespace {
float twice(float x) {
  return x + x;
}
float square(float x) {
  return x * x;
}
using Function = float (*)(float);
constexpr Function kFunctions[] = {twice, square, std::floor};
}  // namespace

PEWTER_KERNEL(call_by_table) {
  const std::uint64_t index = grid_index(launch, group, thread);
  const volatile auto* functions = kFunctions;
  buffer<float>(launch, 1)[index] = functions[index % 3](buffer<const float>(launch, 0)[index]);
}

PEWTER_KERNEL(write_threadgroup_base) {
  auto* memory = static_cast<std::uint32_t*>(threadgroup_base());
  *memory = group->position[0];
  buffer<std::uint32_t>(launch, 0)[group->position[0]] =
      *reinterpret_cast<std::uint32_t*>(group->threadgroup_memory);
}

/// Writes the byte at index `buffer(0)[0]` of threadgroup memory.
PEWTER_KERNEL(touch_threadgroup_memory) {
  const_cast<volatile std::byte*>(
      group->threadgroup_memory)[*buffer<const std::uint32_t>(launch, 0)] = std::byte(1);
}

/// Nothing is bound to the last buffer.
PEWTER_KERNEL(write_to_null) {
  *buffer<volatile int>(launch, pewter::abi::kMaxBuffers - 1) = 1;
}

/// Faults in the group whose index buffer(1)[0] names, and counts in the others.
PEWTER_KERNEL(fault_in_one_group) {
  if (group->position[0] == *buffer<const std::uint32_t>(launch, 1)) {
    *reinterpret_cast<volatile int*>(0x1234) = 1;
  }
  __atomic_fetch_add(buffer<std::uint32_t>(launch, 0), 1, __ATOMIC_RELAXED);
}

PEWTER_KERNEL(divide_by_zero) {
  auto* numbers = buffer<volatile std::int32_t>(launch, 0);
  numbers[0] = numbers[0] / numbers[1];
}

PEWTER_KERNEL(illegal_instruction) {
  __builtin_trap();
}

PEWTER_KERNEL(loop_for_ever) {
  for (volatile bool again = true; again;) {
  }
}

/// Loops until buffer(0)[0] is set.
PEWTER_KERNEL(wait_for_flag) {
  const auto* flag = buffer<const std::uint32_t>(launch, 0);
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
  }
}

/// Sets buffer(1)[0], then loops until buffer(0)[0] is set.
PEWTER_KERNEL(begin_and_wait_for_flag) {
  __atomic_store_n(buffer<std::uint32_t>(launch, 1), 1, __ATOMIC_RELEASE);
  const auto* flag = buffer<const std::uint32_t>(launch, 0);
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
  }
}

/// Groups of the first half of a row wait for one of the second.
PEWTER_KERNEL(wait_for_second_half) {
  auto* flag = buffer<std::uint32_t>(launch, 0);
  if (group->position[0] >= launch->threadgroups_per_grid[0] / 2) {
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  }
  while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) {
  }
}

/// Counts up from group to group in buffer(0), each of which waits for the one before.
PEWTER_KERNEL(wait_for_group_before) {
  auto* counts = buffer<std::uint32_t>(launch, 0);
  const std::uint32_t position = group->position[0];
  std::uint32_t before = 0;
  while (position > 0 && before == 0) {
    before = __atomic_load_n(&counts[position - 1], __ATOMIC_ACQUIRE);
  }
  __atomic_store_n(&counts[position], before + 1, __ATOMIC_RELEASE);
}

/// Sets buffer(0)[0].
PEWTER_KERNEL(set_flag) {
  __atomic_store_n(buffer<std::uint32_t>(launch, 0), 1, __ATOMIC_RELEASE);
}

/// Takes a while in each group, unless buffer(0)[0] is set.
PEWTER_KERNEL(linger_until_flag) {
  const auto* flag = buffer<const std::uint32_t>(launch, 0);
  for (int i = 0; i < 20000 && __atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0; ++i) {
  }
}

namespace {
__attribute__((noinline)) int descend(volatile int* depth) {
  volatile char frame[256];
  frame[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  return descend(depth) + frame[0];
}
}  // namespace

PEWTER_KERNEL(recurse_for_ever) {
  volatile int depth = 0;
  descend(&depth);
}

/// Fills a private array of 1 MiB.
PEWTER_KERNEL(large_private_array) {
  volatile std::uint8_t bytes[1 << 20];
  for (std::uint32_t i = 0; i < sizeof(bytes); i += 512) {
    bytes[i] = static_cast<std::uint8_t>(i >> 9);
  }
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < sizeof(bytes); i += 512) {
    sum += bytes[i];
  }
  buffer<std::uint32_t>(launch, 0)[grid_index(launch, group, thread)] = sum;
}

/// Value of 1/3 in float, which depends on the rounding mode.
PEWTER_KERNEL(third) {
  volatile float one = 1;
  buffer<float>(launch, 0)[grid_index(launch, group, thread)] = one / 3;
}
