kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void softmax(global const float* x, global float* y, uint columns) {
  local float partial[256];
  uint item = get_local_id(0);
  x += get_group_id(0) * columns;
  y += get_group_id(0) * columns;
  float maximum = -INFINITY;
  for (uint i = item; i < columns; i += 256) {
    maximum = fmax(maximum, x[i]);
  }
  partial[item] = maximum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint offset = 128; offset > 0; offset /= 2) {
    if (item < offset) {
      partial[item] = fmax(partial[item], partial[item + offset]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  maximum = partial[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (uint i = item; i < columns; i += 256) {
    float e = exp(x[i] - maximum);
    y[i] = e;
    sum += e;
  }
  partial[item] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint offset = 128; offset > 0; offset /= 2) {
    if (item < offset) {
      partial[item] += partial[item + offset];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  float scale = 1.0f / partial[0];
  for (uint i = item; i < columns; i += 256) {
    y[i] *= scale;
  }
}
