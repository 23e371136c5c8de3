#include <metal_stdlib>
#include <pewter/stream.h>
using namespace metal;

struct Progression {
  float start;
  float step;
  long whole_start;
  long whole_step;
  ulong count;
};

// Whole numbers are counted exactly, the others with one rounding each.
template <typename T>
inline T element_of(constant Progression& p, uint i) { return T(uint(p.whole_start) + uint(p.whole_step) * i); }
template <>
inline long element_of<long>(constant Progression& p, uint i) { return p.whole_start + p.whole_step * long(i); }
template <>
inline ulong element_of<ulong>(constant Progression& p, uint i) { return ulong(p.whole_start + p.whole_step * long(i)); }
template <>
inline float element_of<float>(constant Progression& p, uint i) { return fma(float(i), p.step, p.start); }
template <>
inline half element_of<half>(constant Progression& p, uint i) { return half(fma(float(i), p.step, p.start)); }
template <>
inline bfloat element_of<bfloat>(constant Progression& p, uint i) { return bfloat(fma(float(i), p.step, p.start)); }

template <typename T>
kernel void progression(device T* out [[buffer(0)]],
                        constant Progression& p [[buffer(1)]],
                        uint i [[thread_position_in_grid]]) {
  if (i >= p.count) {
    return;
  }
  pewter::stream(out + i, element_of<T>(p, i));
}

#define INSTANTIATE(name, type) \
  template [[host_name("progression_" #name)]] kernel void progression<type>(device type*, constant Progression&, uint);
INSTANTIATE(uint8, uchar)
INSTANTIATE(uint16, ushort)
INSTANTIATE(uint32, uint)
INSTANTIATE(uint64, ulong)
INSTANTIATE(int8, char)
INSTANTIATE(int16, short)
INSTANTIATE(int32, int)
INSTANTIATE(int64, long)
INSTANTIATE(float16, half)
INSTANTIATE(bfloat16, bfloat)
INSTANTIATE(float32, float)
