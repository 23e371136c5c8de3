// Kernels whose threads wait for each other. Sites are numbered as the code generator does it: in
// program order.
#include "tests/metal/executor/kernels/kernel.h"

using pewter::abi::buffer;
using pewter::abi::grid_index;

extern "C" {
std::int32_t simd_sum(std::int32_t value) PEWTER_SYMBOL("air.simd_sum.s.i32");
std::uint64_t simd_active_threads_mask() PEWTER_SYMBOL("air.simd_active_threads_mask.i64");
std::uint32_t simd_shuffle(std::uint32_t value, std::uint16_t lane)
    PEWTER_SYMBOL("air.simd_shuffle.u.i32");
std::uint32_t simd_broadcast_first(std::uint32_t value)
    PEWTER_SYMBOL("air.simd_broadcast_first.u.i32");
}

namespace {
std::uint32_t thread_count(const pewter::abi::Group* group) {
  return group->size[0] * group->size[1] * group->size[2];
}
}  // namespace

/// buffer(0)[i] becomes the sum of its group, by a tree in threadgroup memory.
PEWTER_KERNEL(tree_sum) {
  auto* shared = reinterpret_cast<std::uint32_t*>(group->threadgroup_memory);
  const std::uint64_t index = grid_index(launch, group, thread);
  shared[thread] = buffer<std::uint32_t>(launch, 0)[index];
  threadgroup_barrier(2, 1);
  std::uint32_t width = 1;
  while (width < thread_count(group)) {
    width *= 2;
  }
  for (std::uint32_t half = width / 2; half > 0; half /= 2) {
    if (thread < half && thread + half < thread_count(group)) {
      shared[thread] += shared[thread + half];
    }
    threadgroup_barrier(2, 1);
  }
  buffer<std::uint32_t>(launch, 0)[index] = shared[0];
}

/// Odd threads leave before the barrier; the others must not wait for them.
PEWTER_KERNEL(leave_before_barrier) {
  auto* shared = reinterpret_cast<std::uint32_t*>(group->threadgroup_memory);
  if (thread % 2 != 0) {
    return;
  }
  shared[thread / 2] = thread;
  threadgroup_barrier(2, 1);
  const std::uint32_t next = (thread / 2 + 1) % ((thread_count(group) + 1) / 2);
  buffer<std::uint32_t>(launch, 0)[grid_index(launch, group, thread)] = shared[next];
}

/// Which threads are active in each branch of an if, and after it.
PEWTER_KERNEL(masks_of_branches) {
  auto* masks = buffer<std::uint64_t>(launch, 0) + std::size_t(thread) * 2;
  if (thread % 3 == 0) {
    site(1);
    masks[0] = simd_active_threads_mask();
  } else {
    site(2);
    masks[0] = simd_active_threads_mask();
  }
  site(3);
  masks[1] = simd_active_threads_mask();
}

/// Each thread loops as often as its index says; buffer(0) collects how many were with it in each
/// turn.
PEWTER_KERNEL(masks_of_loop) {
  std::uint64_t count = 0;
  for (std::uint32_t turn = 0; turn < thread; ++turn) {
    site(1);
    for (std::uint64_t mask = simd_active_threads_mask(); mask != 0; mask >>= 1) {
      count += mask & 1;
    }
    reconverge(2);
  }
  site(3);
  const std::uint64_t after = simd_active_threads_mask();
  auto* results = buffer<std::uint64_t>(launch, 0) + std::size_t(thread) * 2;
  results[0] = count;
  results[1] = after;
}

/// A slow lane must still read what a fast one wrote for it, though the fast one is at the next
/// exchange by then.
PEWTER_KERNEL(rotate_many_times) {
  std::uint32_t value = thread;
  for (std::uint32_t turn = 0; turn < 100; ++turn) {
    site(1);
    value = simd_shuffle(value, static_cast<std::uint16_t>((thread + 1) % 32));
    reconverge(2);
  }
  buffer<std::uint32_t>(launch, 0)[grid_index(launch, group, thread)] = value;
}

/// A lane waits at a high site while others exchange at lower ones; its value must survive.
PEWTER_KERNEL(wait_at_high_site) {
  std::uint32_t value = thread + 100;
  if (thread != 5) {
    site(1);
    value = simd_broadcast_first(value) + thread;
    site(2);
    value = simd_broadcast_first(value) + thread;
  }
  site(3);
  const auto sum = static_cast<std::uint32_t>(simd_sum(static_cast<std::int32_t>(value)));
  buffer<std::uint32_t>(launch, 0)[grid_index(launch, group, thread)] = sum;
}

PEWTER_KERNEL(fault_after_barrier) {
  threadgroup_barrier(2, 1);
  if (thread == 33) {
    *reinterpret_cast<volatile int*>(0x1234) = 1;
  }
  threadgroup_barrier(2, 1);
}

/// Never ends, and spends its time inside the scheduler.
PEWTER_KERNEL(barrier_for_ever) {
  for (volatile bool again = true; again;) {
    threadgroup_barrier(2, 1);
  }
}

/// Never ends after a first barrier.
PEWTER_KERNEL(loop_after_barrier) {
  threadgroup_barrier(2, 1);
  for (volatile bool again = true; again;) {
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

PEWTER_KERNEL(recurse_after_barrier) {
  threadgroup_barrier(2, 1);
  volatile int depth = 0;
  if (thread == 1) {
    descend(&depth);
  }
}

/// Keeps 100 KiB per thread alive across a barrier.
PEWTER_KERNEL(large_array_across_barrier) {
  volatile std::uint8_t bytes[100 << 10];
  for (std::uint32_t i = 0; i < sizeof(bytes); i += 256) {
    bytes[i] = static_cast<std::uint8_t>(thread + i / 256);
  }
  threadgroup_barrier(2, 1);
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < sizeof(bytes); i += 256) {
    wrong += bytes[i] != static_cast<std::uint8_t>(thread + i / 256);
  }
  buffer<std::uint32_t>(launch, 0)[grid_index(launch, group, thread)] = wrong;
}
