#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

kernel void matmul_naive(device const float* a [[buffer(0)]],
                         device const float* b [[buffer(1)]],
                         device float* c [[buffer(2)]],
                         constant uint& n [[buffer(3)]],
                         uint2 position [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum += a[position.y * n + k] * b[k * n + position.x];
  }
  c[position.y * n + position.x] = sum;
}

/// Tiles of 16 x 16 go through threadgroup memory.
[[max_total_threads_per_threadgroup(256)]]
kernel void matmul_tiled(device const float* a [[buffer(0)]],
                         device const float* b [[buffer(1)]],
                         device float* c [[buffer(2)]],
                         constant uint& n [[buffer(3)]],
                         uint2 position [[thread_position_in_grid]],
                         uint2 local_position [[thread_position_in_threadgroup]]) {
  threadgroup float a_tile[16][16];
  threadgroup float b_tile[16][16];
  const uint x = local_position.x;
  const uint y = local_position.y;
  float sum = 0;
  for (uint tile = 0; tile < n; tile += 16) {
    a_tile[y][x] = a[position.y * n + tile + x];
    b_tile[y][x] = b[(tile + y) * n + position.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < 16; ++k) {
      sum += a_tile[y][k] * b_tile[k][x];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[position.y * n + position.x] = sum;
}

/// Blocks of 64 x 64 by four simdgroups, each with 4 x 4 fragments of 8 x 8; n is a multiple of 64.
[[max_total_threads_per_threadgroup(128)]]
kernel void matmul_simdgroup(device const float* a [[buffer(0)]],
                             device const float* b [[buffer(1)]],
                             device float* c [[buffer(2)]],
                             constant uint& n [[buffer(3)]],
                             uint2 group [[threadgroup_position_in_grid]],
                             uint thread_index [[thread_index_in_threadgroup]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr uint kBlock = 64;
  constexpr uint kDepth = 16;
  constexpr uint kAStride = kDepth + 4;
  constexpr uint kBStride = kBlock + 4;
  threadgroup float a_tile[kBlock * kAStride];
  threadgroup float b_tile[kDepth * kBStride];

  a += group.y * kBlock * n;
  b += group.x * kBlock;
  c += group.y * kBlock * n + group.x * kBlock;

  // The simdgroups' fragments are interleaved: fragment i of each lies 16 rows further down.
  const uint row = 8 * (simdgroup / 2);
  const uint column = 8 * (simdgroup % 2);
  simdgroup_float8x8 sums[4][4];
  for (uint i = 0; i < 4; ++i) {
    for (uint j = 0; j < 4; ++j) {
      sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
  }

  const uint a_row = thread_index / 4;
  const uint a_column = thread_index % 4 * 4;
  const uint b_row = thread_index / 16;
  const uint b_column = thread_index % 16 * 4;
  for (uint depth = 0; depth < n; depth += kDepth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint r = 0; r < kBlock; r += 32) {
      *(threadgroup float4*)&a_tile[(a_row + r) * kAStride + a_column] =
          *(device const float4*)&a[(a_row + r) * n + depth + a_column];
    }
    for (uint r = 0; r < kDepth; r += 8) {
      *(threadgroup float4*)&b_tile[(b_row + r) * kBStride + b_column] =
          *(device const float4*)&b[(depth + b_row + r) * n + b_column];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);

    for (uint k = 0; k < kDepth; k += 8) {
      simdgroup_float8x8 a_fragments[4];
      simdgroup_float8x8 b_fragments[4];
      for (uint i = 0; i < 4; ++i) {
        simdgroup_load(a_fragments[i], &a_tile[(row + 16 * i) * kAStride + k], kAStride);
      }
      for (uint j = 0; j < 4; ++j) {
        simdgroup_load(b_fragments[j], &b_tile[k * kBStride + column + 16 * j], kBStride);
      }
      for (uint i = 0; i < 4; ++i) {
        for (uint j = 0; j < 4; ++j) {
          simdgroup_multiply_accumulate(sums[i][j], a_fragments[i], b_fragments[j], sums[i][j]);
        }
      }
    }
  }

  for (uint i = 0; i < 4; ++i) {
    for (uint j = 0; j < 4; ++j) {
      simdgroup_store(sums[i][j], &c[(row + 16 * i) * n + column + 16 * j], n);
    }
  }
}
