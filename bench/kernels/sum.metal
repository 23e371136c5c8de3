#include <metal_stdlib>
using namespace metal;

/// One element to a thread, then a tree in threadgroup memory.
[[max_total_threads_per_threadgroup(256)]]
kernel void sum_tree(device const float* x [[buffer(0)]],
                     device float* out [[buffer(1)]],
                     uint i [[thread_position_in_grid]],
                     uint thread_index [[thread_position_in_threadgroup]],
                     uint group [[threadgroup_position_in_grid]]) {
  threadgroup float partial[256];
  partial[thread_index] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint offset = 128; offset > 0; offset /= 2) {
    if (thread_index < offset) {
      partial[thread_index] += partial[thread_index + offset];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (thread_index == 0) {
    out[group] = partial[0];
  }
}

/// 64 elements to a thread, a group apart, before the tree.
[[max_total_threads_per_threadgroup(256)]]
kernel void sum_strided(device const float* x [[buffer(0)]],
                        device float* out [[buffer(1)]],
                        uint thread_index [[thread_position_in_threadgroup]],
                        uint group [[threadgroup_position_in_grid]]) {
  threadgroup float partial[256];
  x += group * 256 * 64 + thread_index;
  float sum = 0;
  for (uint i = 0; i < 64; ++i) {
    sum += x[i * 256];
  }
  partial[thread_index] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint offset = 128; offset > 0; offset /= 2) {
    if (thread_index < offset) {
      partial[thread_index] += partial[thread_index + offset];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (thread_index == 0) {
    out[group] = partial[0];
  }
}

/// The same with simd_sum in place of the tree.
[[max_total_threads_per_threadgroup(256)]]
kernel void sum_simd(device const float* x [[buffer(0)]],
                     device float* out [[buffer(1)]],
                     uint thread_index [[thread_position_in_threadgroup]],
                     uint group [[threadgroup_position_in_grid]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[8];
  x += group * 256 * 64 + thread_index;
  float sum = 0;
  for (uint i = 0; i < 64; ++i) {
    sum += x[i * 256];
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    partial[simdgroup] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == 0) {
    sum = simd_sum(lane < 8 ? partial[lane] : 0);
    if (lane == 0) {
      out[group] = sum;
    }
  }
}
