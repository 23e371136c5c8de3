#include <metal_stdlib>
using namespace metal;

/// Accelerations of n bodies (position, mass in w); n is a multiple of 256.
[[max_total_threads_per_threadgroup(256)]]
kernel void nbody(device const float4* bodies [[buffer(0)]],
                  device float4* accelerations [[buffer(1)]],
                  constant uint& n [[buffer(2)]],
                  uint i [[thread_position_in_grid]],
                  uint thread_index [[thread_position_in_threadgroup]]) {
  threadgroup float4 tile[256];
  const float3 position = bodies[i].xyz;
  float3 acceleration = 0;
  for (uint first = 0; first < n; first += 256) {
    tile[thread_index] = bodies[first + thread_index];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint j = 0; j < 256; ++j) {
      float3 difference = tile[j].xyz - position;
      float inverse = rsqrt(dot(difference, difference) + 1e-3f);
      acceleration += tile[j].w * inverse * inverse * inverse * difference;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  accelerations[i] = float4(acceleration, 0);
}
