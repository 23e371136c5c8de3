kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sum_tree(global const float* x, global float* out) {
  local float partial[256];
  uint item = get_local_id(0);
  partial[item] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint offset = 128; offset > 0; offset /= 2) {
    if (item < offset) {
      partial[item] += partial[item + offset];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) {
    out[get_group_id(0)] = partial[0];
  }
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void sum_strided(global const float* x, global float* out) {
  local float partial[256];
  uint item = get_local_id(0);
  x += get_group_id(0) * 256 * 64 + item;
  float sum = 0;
  for (uint i = 0; i < 64; ++i) {
    sum += x[i * 256];
  }
  partial[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint offset = 128; offset > 0; offset /= 2) {
    if (item < offset) {
      partial[item] += partial[item + offset];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (item == 0) {
    out[get_group_id(0)] = partial[0];
  }
}
