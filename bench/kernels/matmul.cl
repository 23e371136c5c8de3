kernel void matmul_naive(global const float* a, global const float* b, global float* c, uint n) {
  uint x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (uint k = 0; k < n; ++k) {
    sum += a[y * n + k] * b[k * n + x];
  }
  c[y * n + x] = sum;
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul_tiled(global const float* a, global const float* b, global float* c, uint n) {
  local float a_tile[16][16], b_tile[16][16];
  uint x = get_local_id(0), y = get_local_id(1);
  uint column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (uint tile = 0; tile < n; tile += 16) {
    a_tile[y][x] = a[row * n + tile + x];
    b_tile[y][x] = b[(tile + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < 16; ++k) {
      sum += a_tile[y][k] * b_tile[k][x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
