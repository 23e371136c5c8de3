#include <metal_stdlib>
using namespace metal;

/// One group of 256 threads to a row.
[[max_total_threads_per_threadgroup(256)]]
kernel void softmax(device const float* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    constant uint& columns [[buffer(2)]],
                    uint thread_index [[thread_position_in_threadgroup]],
                    uint row [[threadgroup_position_in_grid]]) {
  threadgroup float partial[256];
  x += row * columns;
  y += row * columns;

  float maximum = -INFINITY;
  for (uint i = thread_index; i < columns; i += 256) {
    maximum = max(maximum, x[i]);
  }
  partial[thread_index] = maximum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint offset = 128; offset > 0; offset /= 2) {
    if (thread_index < offset) {
      partial[thread_index] = max(partial[thread_index], partial[thread_index + offset]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  maximum = partial[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float sum = 0;
  for (uint i = thread_index; i < columns; i += 256) {
    const float e = exp(x[i] - maximum);
    y[i] = e;
    sum += e;
  }
  partial[thread_index] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint offset = 128; offset > 0; offset /= 2) {
    if (thread_index < offset) {
      partial[thread_index] += partial[thread_index + offset];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  const float scale = 1.0f / partial[0];
  for (uint i = thread_index; i < columns; i += 256) {
    y[i] *= scale;
  }
}
