#include <metal_stdlib>
using namespace metal;

struct Settings {
  uint count;
  float time_step;
  float softening;  // keeps close encounters finite
};

float3 pull(float4 body, float3 position, float softening) {
  const float3 towards = body.xyz - position;
  const float inverse = rsqrt(dot(towards, towards) + softening * softening);
  return body.w * inverse * inverse * inverse * towards;
}

/// One step of gravity between all bodies. `w` of a position is the body's mass.
///
/// A threadgroup loads as many bodies as it has threads at a time and shares them through `tile`.
kernel void nbody(device const float4* positions [[buffer(0)]],
                  device const float4* velocities [[buffer(1)]],
                  device float4* next_positions [[buffer(2)]],
                  device float4* next_velocities [[buffer(3)]],
                  constant Settings& settings [[buffer(4)]],
                  threadgroup float4* tile [[threadgroup(0)]],
                  uint id [[thread_position_in_grid]],
                  uint local [[thread_position_in_threadgroup]],
                  uint tile_size [[threads_per_threadgroup]]) {
  const float4 self = positions[id];

  float3 acceleration = 0;
  for (uint start = 0; start < settings.count; start += tile_size) {
    tile[local] = positions[start + local];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < tile_size; ++i) {
      acceleration += pull(tile[i], self.xyz, settings.softening);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  const float3 velocity = velocities[id].xyz + settings.time_step * acceleration;
  next_velocities[id] = float4(velocity, 0);
  next_positions[id] = float4(self.xyz + settings.time_step * velocity, self.w);
}
