#include <metal_stdlib>
using namespace metal;

/// 32 weights: low nibbles are the first 16, high nibbles the others; value = scale * (nibble - 8).
struct Q4Block {
  half scale;
  uchar nibbles[16];
};

static float block_product(device const Q4Block& block, device const float* x) {
  float sum = 0;
  for (uint j = 0; j < 16; ++j) {
    const uchar pair = block.nibbles[j];
    sum += (int(pair & 15) - 8) * x[j] + (int(pair >> 4) - 8) * x[j + 16];
  }
  return float(block.scale) * sum;
}

/// One thread to a row.
kernel void q4_matvec_row(device const Q4Block* weights [[buffer(0)]],
                          device const float* x [[buffer(1)]],
                          device float* y [[buffer(2)]],
                          constant uint& columns [[buffer(3)]],
                          uint row [[thread_position_in_grid]]) {
  const uint block_count = columns / 32;
  weights += row * block_count;
  float sum = 0;
  for (uint k = 0; k < block_count; ++k) {
    sum += block_product(weights[k], x + k * 32);
  }
  y[row] = sum;
}

/// One simdgroup to a row.
[[max_total_threads_per_threadgroup(32)]]
kernel void q4_matvec_simdgroup(device const Q4Block* weights [[buffer(0)]],
                                device const float* x [[buffer(1)]],
                                device float* y [[buffer(2)]],
                                constant uint& columns [[buffer(3)]],
                                uint row [[threadgroup_position_in_grid]],
                                uint lane [[thread_index_in_simdgroup]]) {
  const uint block_count = columns / 32;
  weights += row * block_count;
  float sum = 0;
  for (uint k = lane; k < block_count; k += 32) {
    sum += block_product(weights[k], x + k * 32);
  }
  sum = simd_sum(sum);
  if (lane == 0) {
    y[row] = sum;
  }
}
