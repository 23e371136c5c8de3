// What sample, sample_compare and gather of every texture come to.
#pragma once

#include <metal_geometric>
#include <pewter/sampler.h>
#include <pewter/texels.h>

namespace metal {

// Where an index outside of 0 .. n - 1 leads: to another index, or to -1, which means the border.
__pw_inline int __pw_wrap(int i, int n, uint mode) {
  if (mode == 2 || mode == 3) {
    const int period = mode == 2 ? n : 2 * n;
    // In floating point, which lanes can divide; an error of one period is made good.
    int m = i - period * (int)floor((float)i / (float)period);
    m = m < 0 ? m + period : m >= period ? m - period : m;
    return m < n ? m : 2 * n - 1 - m;
  }
  if (mode >= 4) {
    return (uint)i < (uint)n ? i : -1;
  }
  const int mirrored = mode == 1 && i < 0 ? -1 - i : i;
  return clamp(mirrored, 0, n - 1);
}

// Zero is transparent where the texture has alpha.
template <typename W>
__pw_const vec<W, 4> __pw_border(__pw_texture_pointer t, ulong bits, uint mode) {
  const uint colour = mode == 5 ? (uint)(bits >> 17) & 3 : 0;
  const W rgb = colour == 2 ? (W)1 : (W)0;
  const W alpha = colour != 0 || (mode == 4 && t->has_alpha == 0) ? (W)1 : (W)0;
  return vec<W, 4>(rgb, rgb, rgb, alpha);
}

__pw_inline float __pw_compare(uint function, float reference, float value) {
  const bool result = function == 1   ? reference < value
                      : function == 2 ? reference == value
                      : function == 3 ? reference <= value
                      : function == 4 ? reference > value
                      : function == 5 ? reference != value
                      : function == 6 ? reference >= value
                                      : function == 7;
  return result ? 1.0f : 0.0f;
}

// A place on a cube: its face and where on it, from 0 to 1.
struct __pw_cube_place {
  uint face;
  float2 at;
};

__pw_inline __pw_cube_place __pw_project_on_cube(float3 d) {
  const float3 a = fabs(d);
  __pw_cube_place place;
  float2 p = float2(0.0f, 0.0f);
  float major = 1.0f;
  if (a.x >= a.y && a.x >= a.z) {
    place.face = d.x < 0.0f ? 1 : 0;
    p = float2(d.x < 0.0f ? d.z : -d.z, -d.y);
    major = a.x;
  } else if (a.y >= a.z) {
    place.face = d.y < 0.0f ? 3 : 2;
    p = float2(d.x, d.y < 0.0f ? -d.z : d.z);
    major = a.y;
  } else {
    place.face = d.z < 0.0f ? 5 : 4;
    p = float2(d.z < 0.0f ? -d.x : d.x, -d.y);
    major = a.z;
  }
  place.at = p / major * 0.5f + 0.5f;
  return place;
}

__pw_inline float3 __pw_cube_direction(uint face, float2 at) {
  const float2 p = at * 2.0f - 1.0f;
  const float sign = (face & 1) != 0 ? -1.0f : 1.0f;
  if (face < 2) {
    return float3(sign, -p.y, -sign * p.x);
  }
  if (face < 4) {
    return float3(p.x, sign, sign * p.y);
  }
  return float3(sign * p.x, -p.y, sign);
}

// One texel, wherever its index leads. `slice` is the face for cubes, which have no border: beyond an edge lies the
// face next to it.
template <typename W, int Dimensions, bool IsCube>
__pw_const vec<W, 4> __pw_tap(__pw_texture_pointer t, ulong bits, int3 i, uint slice, uint lod) {
  const __pw_device __pw_texture_level& l = t->levels[lod];
  int x = i.x, y = i.y, z = 0;
  if constexpr (IsCube) {
    const int n = (int)l.width;
    if ((uint)x >= (uint)n || (uint)y >= (uint)n) {
      const float2 at = float2((float)x + 0.5f, (float)y + 0.5f) / (float)n;
      const __pw_cube_place place = __pw_project_on_cube(__pw_cube_direction(slice % 6, at));
      slice = slice - slice % 6 + place.face;
      x = clamp((int)(place.at.x * (float)n), 0, n - 1);
      y = clamp((int)(place.at.y * (float)n), 0, n - 1);
    }
  } else {
    x = __pw_wrap(x, (int)l.width, (uint)bits & 7);
    y = Dimensions > 1 ? __pw_wrap(y, (int)l.height, (uint)(bits >> 3) & 7) : 0;
    z = Dimensions > 2 ? __pw_wrap(i.z, (int)l.depth, (uint)(bits >> 6) & 7) : 0;
    if ((x | y | z) < 0) {
      const uint mode = x < 0 ? (uint)bits & 7 : y < 0 ? (uint)(bits >> 3) & 7 : (uint)(bits >> 6) & 7;
      return __pw_border<W>(t, bits, mode);
    }
  }
  return __pw_load_texel<W>(t, l.address + (ulong)(slice + (uint)z) * l.slice_bytes + (ulong)(uint)y * l.row_bytes +
                                   (ulong)(uint)x * t->texel_bytes);
}

// A place in texels of a level: the texel at or before it, and how far behind that it is.
struct __pw_texel_place {
  int3 first;
  float3 fraction;
};
__pw_inline __pw_texel_place __pw_place(__pw_texture_pointer t, ulong bits, float3 at, uint lod, bool linear, int3 offset) {
  const __pw_device __pw_texture_level& l = t->levels[lod];
  const bool is_pixel = (bits >> 13 & 1) != 0;
  const float3 size = float3((float)l.width, (float)l.height, (float)l.depth);
  const float3 u = (is_pixel ? at : at * size) - (linear ? 0.5f : 0.0f);
  const float3 base = floor(u);
  __pw_texel_place place;
  place.fraction = u - base;
  // NaN and what no texture is large enough for end up somewhere.
  place.first = int3((int)clamp(base.x, -1.0e8f, 1.0e8f), (int)clamp(base.y, -1.0e8f, 1.0e8f),
                     (int)clamp(base.z, -1.0e8f, 1.0e8f)) +
                offset;
  return place;
}

template <typename W, int Dimensions, bool IsCube, bool Compares>
__pw_const vec<W, 4> __pw_sample_level(__pw_texture_pointer t, ulong bits, float3 at, uint slice, uint lod, bool linear,
                                       int3 offset, float reference) {
  const __pw_texel_place place = __pw_place(t, bits, at, lod, linear, offset);
  const uint taps = linear ? 1u << Dimensions : 1u;
  vec<W, 4> sum = vec<W, 4>((W)0);
#pragma clang loop unroll(disable)
  for (uint k = 0; k < taps; ++k) {
    const int3 i = place.first + int3((int)(k & 1), (int)(k >> 1 & 1), (int)(k >> 2));
    vec<W, 4> c = __pw_tap<W, Dimensions, IsCube>(t, bits, i, slice, lod);
    if constexpr (__is_same(W, float)) {
      if constexpr (Compares) {
        c = float4(__pw_compare((uint)(bits >> 14) & 7, reference, c.x));
      }
      float weight = 1.0f;
      if (linear) {
        const float3 f = place.fraction;
        weight = (k & 1) != 0 ? f.x : 1.0f - f.x;
        weight *= Dimensions < 2 ? 1.0f : (k & 2) != 0 ? f.y : 1.0f - f.y;
        weight *= Dimensions < 3 ? 1.0f : (k & 4) != 0 ? f.z : 1.0f - f.z;
      }
      sum = sum + c * weight;
    } else {
      sum = c;
    }
  }
  return sum;
}

template <typename W, int Dimensions, bool IsCube, bool Compares>
__pw_const vec<W, 4> __pw_sample(__pw_texture_pointer t, sampler s, float3 at, uint slice, float lod, int3 offset,
                                 float reference = 0.0f) {
  const ulong bits = s.__bits;
  lod = clamp(lod, (float)(bits >> 32 & 0xffff) / 256.0f, (float)(bits >> 48) / 256.0f);
  // Integers are never mixed.
  const bool linear = __is_same(W, float) && ((lod > 0.0f ? bits >> 9 : bits >> 10) & 1) != 0;
  const uint mip = (uint)(bits >> 11) & 3;
  const uint last = t->level_count - 1;
  lod = mip == 0 ? 0.0f : clamp(lod, 0.0f, (float)last);
  const uint first = (uint)(mip == 1 ? lod + 0.5f : lod);
  const float fraction = mip == 2 && __is_same(W, float) ? lod - (float)first : 0.0f;
  const uint levels = fraction > 0.0f ? 2 : 1;
  vec<W, 4> sum = vec<W, 4>((W)0);
#pragma clang loop unroll(disable)
  for (uint n = 0; n < levels; ++n) {
    const vec<W, 4> c = __pw_sample_level<W, Dimensions, IsCube, Compares>(t, bits, at, slice, min(first + n, last),
                                                                           linear, offset, reference);
    if constexpr (__is_same(W, float)) {
      sum = sum + c * (n == 0 ? 1.0f - fraction : fraction);
    } else {
      sum = c;
    }
  }
  return sum;
}

// The four texels that a linear filter would mix, one channel of each: counter-clockwise from the lower left.
template <typename W, bool IsCube, bool Compares>
__pw_const vec<W, 4> __pw_gather(__pw_texture_pointer t, sampler s, float3 at, uint slice, int3 offset, uint channel,
                                 float reference = 0.0f) {
  const ulong bits = s.__bits;
  const __pw_texel_place place = __pw_place(t, bits, at, 0, true, offset);
  vec<W, 4> result = vec<W, 4>((W)0);
#pragma clang loop unroll(disable)
  for (uint k = 0; k < 4; ++k) {
    // 0, 1, 2, 3 become (0, 1), (1, 1), (1, 0), (0, 0).
    const int3 i = place.first + int3((int)(k == 1 || k == 2), (int)(k < 2), 0);
    const vec<W, 4> c = __pw_tap<W, 2, IsCube>(t, bits, i, slice, 0);
    W value = channel == 0 ? c.x : channel == 1 ? c.y : channel == 2 ? c.z : c.w;
    if constexpr (Compares) {
      value = __pw_compare((uint)(bits >> 14) & 7, reference, value);
    }
    result = vec<W, 4>(k == 0 ? value : result.x, k == 1 ? value : result.y, k == 2 ? value : result.z,
                       k == 3 ? value : result.w);
  }
  return result;
}

// The level that gradients ask for: as many texels as the longer one crosses.
__pw_inline float __pw_level_of(__pw_texture_pointer t, float3 dx, float3 dy) {
  const __pw_device __pw_texture_level& l = t->levels[0];
  const float3 size = float3((float)l.width, (float)l.height, (float)l.depth);
  return log2(max(length(dx * size), length(dy * size)));
}

}  // namespace metal
