#include <metal_stdlib>
using namespace metal;

/// partial[group] = sum of the elements that the group visits.
///
/// Lanes of a simdgroup add up without memory; simdgroups of a threadgroup through threadgroup memory.
kernel void reduction(device const float* in [[buffer(0)]],
                      device float* partial [[buffer(1)]],
                      constant uint& count [[buffer(2)]],
                      uint id [[thread_position_in_grid]],
                      uint stride [[threads_per_grid]],
                      uint group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint simdgroup_count [[simdgroups_per_threadgroup]]) {
  threadgroup float sums[32];

  float sum = 0;
  for (uint i = id; i < count; i += stride) {
    sum += in[i];
  }
  sum = simd_sum(sum);
  if (simd_is_first()) {
    sums[simdgroup] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  if (simdgroup == 0) {
    const float total = simd_sum(lane < simdgroup_count ? sums[lane] : 0);
    if (lane == 0) {
      partial[group] = total;
    }
  }
}
