float block_product(global const uchar* block, global const float* x) {
  float sum = 0;
  for (uint j = 0; j < 16; ++j) {
    uchar pair = block[2 + j];
    sum += ((int)(pair & 15) - 8) * x[j] + ((int)(pair >> 4) - 8) * x[j + 16];
  }
  return vload_half(0, (global const half*)block) * sum;
}

kernel void q4_matvec_row(global const uchar* weights, global const float* x, global float* y,
                          uint columns) {
  uint row = get_global_id(0), block_count = columns / 32;
  weights += row * block_count * 18;
  float sum = 0;
  for (uint k = 0; k < block_count; ++k) {
    sum += block_product(weights + k * 18, x + k * 32);
  }
  y[row] = sum;
}

kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void q4_matvec_simdgroup(global const uchar* weights, global const float* x, global float* y,
                         uint columns) {
  local float partial[32];
  uint row = get_group_id(0), item = get_local_id(0), block_count = columns / 32;
  weights += row * block_count * 18;
  float sum = 0;
  for (uint k = item; k < block_count; k += 32) {
    sum += block_product(weights + k * 18, x + k * 32);
  }
  partial[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint offset = 16; offset > 0; offset /= 2) {
    if (item < offset) {
      partial[item] += partial[item + offset];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) {
    y[row] = partial[0];
  }
}
