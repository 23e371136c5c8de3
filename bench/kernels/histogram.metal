#include <metal_stdlib>
using namespace metal;

/// Counts bytes: a table in threadgroup memory for each group, added to the result at the end.
[[max_total_threads_per_threadgroup(256)]]
kernel void histogram(device const uchar* bytes [[buffer(0)]],
                      device atomic_uint* counts [[buffer(1)]],
                      constant uint& bytes_per_thread [[buffer(2)]],
                      uint thread_index [[thread_position_in_threadgroup]],
                      uint group [[threadgroup_position_in_grid]]) {
  threadgroup atomic_uint table[256];
  atomic_store_explicit(&table[thread_index], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  bytes += group * 256 * bytes_per_thread + thread_index;
  for (uint i = 0; i < bytes_per_thread; ++i) {
    atomic_fetch_add_explicit(&table[bytes[i * 256]], 1, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  const uint count = atomic_load_explicit(&table[thread_index], memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[thread_index], count, memory_order_relaxed);
}
