// Samplers ("Samplers"): 64 bits, whether written in the program or bound by the host. The fields and their values are
// those of pewter/base/texture_abi.h.
#pragma once

#include <metal_types>

namespace metal {

enum class coord : uchar { normalized, pixel };
enum class address : uchar {
  clamp_to_edge = 0,
  repeat = 2,
  mirrored_repeat = 3,
  clamp_to_zero = 4,
  clamp_to_border = 5,
};
enum class s_address : uchar { clamp_to_edge = 0, repeat = 2, mirrored_repeat = 3, clamp_to_zero = 4, clamp_to_border = 5 };
enum class t_address : uchar { clamp_to_edge = 0, repeat = 2, mirrored_repeat = 3, clamp_to_zero = 4, clamp_to_border = 5 };
enum class r_address : uchar { clamp_to_edge = 0, repeat = 2, mirrored_repeat = 3, clamp_to_zero = 4, clamp_to_border = 5 };
enum class filter : uchar { nearest, linear };
enum class min_filter : uchar { nearest, linear };
enum class mag_filter : uchar { nearest, linear };
enum class mip_filter : uchar { none, nearest, linear };
enum class compare_func : uchar { never, less, equal, less_equal, greater, not_equal, greater_equal, always, none = 0 };
enum class border_color : uchar { transparent_black, opaque_black, opaque_white };

// Directions of a footprint are not known in a kernel, so there is nothing for it to change.
struct max_anisotropy {
  constexpr explicit max_anisotropy(int) {}
};
struct lod_clamp {
  constexpr explicit lod_clamp(float lowest, float highest) : __lowest(lowest), __highest(highest) {}
  float __lowest;
  float __highest;
};

class sampler {
 public:
  template <typename... Options>
  constexpr sampler(Options... options) : __bits(0xffffUL << 48) {
    (__apply(options), ...);
  }

  ulong __bits;

 private:
  constexpr void __put(uint shift, uint width, ulong value) {
    const ulong mask = (1UL << width) - 1;
    __bits = (__bits & ~(mask << shift)) | (value & mask) << shift;
  }
  constexpr void __apply(s_address a) { __put(0, 3, (ulong)a); }
  constexpr void __apply(t_address a) { __put(3, 3, (ulong)a); }
  constexpr void __apply(r_address a) { __put(6, 3, (ulong)a); }
  constexpr void __apply(address a) {
    __put(0, 3, (ulong)a);
    __put(3, 3, (ulong)a);
    __put(6, 3, (ulong)a);
  }
  constexpr void __apply(min_filter f) { __put(9, 1, (ulong)f); }
  constexpr void __apply(mag_filter f) { __put(10, 1, (ulong)f); }
  constexpr void __apply(filter f) {
    __put(9, 1, (ulong)f);
    __put(10, 1, (ulong)f);
  }
  constexpr void __apply(mip_filter f) { __put(11, 2, (ulong)f); }
  constexpr void __apply(coord c) { __put(13, 1, (ulong)c); }
  constexpr void __apply(compare_func f) { __put(14, 3, (ulong)f); }
  constexpr void __apply(border_color c) { __put(17, 2, (ulong)c); }
  constexpr void __apply(max_anisotropy) {}
  constexpr void __apply(lod_clamp c) {
    __put(32, 16, __fixed(c.__lowest));
    __put(48, 16, __fixed(c.__highest));
  }
  // In 256ths, as far as 16 bits go: no texture has that many levels.
  static constexpr ulong __fixed(float x) { return x <= 0.0f ? 0 : x >= 255.0f ? 0xffff : (ulong)(x * 256.0f); }
};
static_assert(sizeof(sampler) == 8);

// How to choose among the levels of a texture.
struct level {
  constexpr explicit level(float lod) : __lod(lod) {}
  float __lod;
};
struct bias {
  constexpr explicit bias(float lod) : __lod(lod) {}
  float __lod;
};
struct min_lod_clamp {
  constexpr explicit min_lod_clamp(float lod) : __lod(lod) {}
  float __lod;
};
struct gradient2d {
  constexpr gradient2d(float2 dx, float2 dy) : __dx(dx), __dy(dy) {}
  float2 __dx;
  float2 __dy;
};
struct gradient3d {
  constexpr gradient3d(float3 dx, float3 dy) : __dx(dx), __dy(dy) {}
  float3 __dx;
  float3 __dy;
};
struct gradientcube {
  constexpr gradientcube(float3 dx, float3 dy) : __dx(dx), __dy(dy) {}
  float3 __dx;
  float3 __dy;
};

}  // namespace metal
