kernel void empty(void) {}

kernel void saxpy(global const float* x, global float* y, float a) {
  size_t i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}

kernel void gaussian(global const float* x, global float* y) {
  size_t i = get_global_id(0);
  float v = x[i];
  y[i] = exp(-v * v);
}
