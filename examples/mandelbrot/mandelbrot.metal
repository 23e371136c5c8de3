#include <metal_stdlib>
using namespace metal;

struct View {
  float2 centre;
  float pixel;  // width of one pixel
  uint limit;   // steps after which a point counts as inside
};

/// How many steps each point takes to escape, with a fraction so that colours run smoothly; `limit` inside the set.
kernel void mandelbrot(device float* steps [[buffer(0)]],
                       constant View& view [[buffer(1)]],
                       uint2 position [[thread_position_in_grid]],
                       uint2 size [[threads_per_grid]]) {
  const float2 c = view.centre + view.pixel * (float2(position) - 0.5 * float2(size));

  float2 z = 0;
  float2 squared = 0;
  uint step = 0;
  // A radius well beyond 2 makes the fraction below accurate.
  while (squared.x + squared.y < 256 && step < view.limit) {
    z = float2(squared.x - squared.y, 2 * z.x * z.y) + c;
    squared = z * z;
    ++step;
  }

  const bool inside = step == view.limit;
  const float fraction = 4 - log2(log2(squared.x + squared.y));
  steps[position.y * size.x + position.x] = inside ? float(view.limit) : float(step) + fraction;
}

/// Paints the inside black and the outside in bands of colour.
kernel void paint(device const float* steps [[buffer(0)]],
                  device uchar4* pixels [[buffer(1)]],
                  constant View& view [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  const float3 colour = 0.5 + 0.5 * cos(3.0 + 0.15 * steps[i] + float3(0.0, 0.6, 1.0));
  const bool inside = steps[i] >= float(view.limit);
  pixels[i] = uchar4(inside ? uchar3(0) : uchar3(255 * colour), 255);
}
