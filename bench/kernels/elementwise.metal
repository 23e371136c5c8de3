#include <metal_stdlib>
using namespace metal;

kernel void empty() {}

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = a * x[i] + y[i];
}

kernel void gaussian(device const float* x [[buffer(0)]],
                     device float* y [[buffer(1)]],
                     uint i [[thread_position_in_grid]]) {
  float v = x[i];
  y[i] = exp(-v * v);
}
