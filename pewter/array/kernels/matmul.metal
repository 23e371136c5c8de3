#include <metal_stdlib>
using namespace metal;

struct Product {
  uint rows;
  uint columns;
  uint inner;
  uint unused;
  long a_row;
  long a_inner;
  long a_batch;
  long b_inner;
  long b_column;
  long b_batch;
};

// Neighbouring threads compute neighbouring columns; four rows share what is read of b.
kernel void matmul(const device float* a [[buffer(0)]],
                   const device float* b [[buffer(1)]],
                   device float* out [[buffer(2)]],
                   constant Product& p [[buffer(3)]],
                   uint3 at [[thread_position_in_grid]]) {
  const uint column = at.x;
  if (column >= p.columns) {
    return;
  }
  const uint row = at.y * 4;
  a += at.z * p.a_batch;
  b += at.z * p.b_batch + column * p.b_column;
  out += ulong(at.z) * p.rows * p.columns + ulong(row) * p.columns + column;
  const uint rows = min(p.rows - row, 4u);
  const device float* a0 = a + row * p.a_row;
  const device float* a1 = a + (row + min(1u, rows - 1)) * p.a_row;
  const device float* a2 = a + (row + min(2u, rows - 1)) * p.a_row;
  const device float* a3 = a + (row + min(3u, rows - 1)) * p.a_row;
  float sum0 = 0;
  float sum1 = 0;
  float sum2 = 0;
  float sum3 = 0;
  for (uint k = 0; k < p.inner; ++k) {
    const float element = b[k * p.b_inner];
    sum0 = fma(a0[k * p.a_inner], element, sum0);
    sum1 = fma(a1[k * p.a_inner], element, sum1);
    sum2 = fma(a2[k * p.a_inner], element, sum2);
    sum3 = fma(a3[k * p.a_inner], element, sum3);
  }
  out[0] = sum0;
  if (rows > 1) { out[p.columns] = sum1; }
  if (rows > 2) { out[2 * ulong(p.columns)] = sum2; }
  if (rows > 3) { out[3 * ulong(p.columns)] = sum3; }
}

kernel void matmul_complex(const device float2* a [[buffer(0)]],
                           const device float2* b [[buffer(1)]],
                           device float2* out [[buffer(2)]],
                           constant Product& p [[buffer(3)]],
                           uint3 at [[thread_position_in_grid]]) {
  if (at.x >= p.columns) {
    return;
  }
  a += at.z * p.a_batch + at.y * p.a_row;
  b += at.z * p.b_batch + at.x * p.b_column;
  float2 sum = 0;
  for (uint k = 0; k < p.inner; ++k) {
    const float2 x = a[k * p.a_inner];
    const float2 y = b[k * p.b_inner];
    sum += float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
  }
  out[(ulong(at.z) * p.rows + at.y) * p.columns + at.x] = sum;
}
