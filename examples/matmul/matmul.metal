#include <metal_stdlib>
using namespace metal;

constant uint kTile = 16;

struct Sizes {
  uint rows;
  uint columns;
  uint depth;
};

/// c = a * b, all row-major. A threadgroup of 16 x 16 computes one tile of c and shares tiles of a and b, so that
/// each number is read from device memory once for sixteen uses.
kernel void matmul(device const float* a [[buffer(0)]],
                   device const float* b [[buffer(1)]],
                   device float* c [[buffer(2)]],
                   constant Sizes& sizes [[buffer(3)]],
                   uint2 position [[thread_position_in_grid]],
                   uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float a_tile[kTile][kTile];
  threadgroup float b_tile[kTile][kTile];
  const uint row = position.y;
  const uint column = position.x;

  float sum = 0;
  for (uint start = 0; start < sizes.depth; start += kTile) {
    // Threads beyond the edge still load, and store zeros: every thread must reach the barriers.
    const uint a_column = start + local.x;
    const uint b_row = start + local.y;
    a_tile[local.y][local.x] =
        row < sizes.rows && a_column < sizes.depth ? a[row * sizes.depth + a_column] : 0;
    b_tile[local.y][local.x] =
        b_row < sizes.depth && column < sizes.columns ? b[b_row * sizes.columns + column] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (uint k = 0; k < kTile; ++k) {
      sum = fma(a_tile[local.y][k], b_tile[k][local.x], sum);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  if (row < sizes.rows && column < sizes.columns) {
    c[row * sizes.columns + column] = sum;
  }
}
