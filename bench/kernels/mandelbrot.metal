#include <metal_stdlib>
using namespace metal;

kernel void mandelbrot(device uint* out [[buffer(0)]],
                       constant uint& limit [[buffer(1)]],
                       uint2 position [[thread_position_in_grid]],
                       uint2 size [[threads_per_grid]]) {
  float2 c = float2(-2.0f, -1.25f) + 2.5f * float2(position) / float2(size);
  float x = 0;
  float y = 0;
  uint steps = 0;
  while (steps < limit && x * x + y * y <= 4.0f) {
    float next = x * x - y * y + c.x;
    y = 2 * x * y + c.y;
    x = next;
    ++steps;
  }
  out[position.y * size.x + position.x] = steps;
}
