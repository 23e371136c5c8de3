kernel void mandelbrot(global uint* out, uint limit) {
  uint px = get_global_id(0), py = get_global_id(1);
  uint width = get_global_size(0), height = get_global_size(1);
  float cx = -2.0f + 2.5f * px / width, cy = -1.25f + 2.5f * py / height;
  float x = 0, y = 0;
  uint steps = 0;
  while (steps < limit && x * x + y * y <= 4.0f) {
    float next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    ++steps;
  }
  out[py * width + px] = steps;
}
