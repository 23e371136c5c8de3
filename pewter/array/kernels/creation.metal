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

// A double, which kernels do not have, as integers: digits * 2^exponent, with 53 bits of digits unless it is 0.
struct Double {
  ulong digits;
  int exponent;
  uint is_negative;
};

// The nearest double to a number of up to 116 bits, the even one of two.
static Double rounded(ulong high, ulong low, int exponent, bool is_negative) {
  const int bits = high != 0 ? 128 - int(clz(high)) : 64 - int(clz(low));
  const int dropped = bits - 53;
  if (dropped <= 0) {
    return {low, exponent, is_negative};
  }
  ulong digits = low >> dropped | high << (64 - dropped);
  const ulong rest = low & ((1ul << dropped) - 1);
  const ulong half_way = 1ul << (dropped - 1);
  digits += rest > half_way || (rest == half_way && (digits & 1) != 0) ? 1 : 0;
  return {digits, exponent + dropped, is_negative};
}

static Double product(uint count, Double a) {
  const ulong below = (a.digits & 0xffffffff) * count;
  const ulong above = (a.digits >> 32) * count;
  const ulong low = below + (above << 32);
  const ulong high = (above >> 32) + (low < below ? 1 : 0);
  return rounded(high, low, a.exponent, a.is_negative != 0);
}

static Double sum(Double a, Double b) {
  if (a.digits == 0 || b.digits == 0) {
    return a.digits == 0 ? b : a;
  }
  if (a.exponent < b.exponent) {
    const Double other = a;
    a = b;
    b = other;
  }
  // Eight bits behind the point, the last of which says whether any were lost.
  constexpr int kGuard = 8;
  const int distance = min(a.exponent - b.exponent, 63);
  const ulong shifted = b.digits << kGuard;
  const ulong kept = shifted >> distance;
  const ulong lost = kept << distance != shifted ? 1 : 0;
  const long left = long(a.digits << kGuard);
  const long right = long(kept | lost);
  const long total = (a.is_negative != 0 ? -left : left) + (b.is_negative != 0 ? -right : right);
  return rounded(0, ulong(total < 0 ? -total : total), a.exponent - kGuard, total < 0);
}

// Downward to a whole number, modulo 2^64.
static ulong whole(Double a) {
  if (a.exponent >= 0) {
    const ulong digits = a.exponent < 64 ? a.digits << a.exponent : 0;
    return a.is_negative != 0 ? 0 - digits : digits;
  }
  const int dropped = min(-a.exponent, 63);
  const ulong digits = a.digits >> dropped;
  const ulong up = digits << dropped != a.digits ? 1 : 0;
  return a.is_negative != 0 ? 0 - (digits + up) : digits;
}

template <typename T>
inline T number_of(Double a) { return T(whole(a)); }
template <>
inline float number_of<float>(Double a) {
  const float number = ldexp(float(a.digits), a.exponent);
  return a.is_negative != 0 ? -number : number;
}
template <>
inline half number_of<half>(Double a) { return half(number_of<float>(a)); }
template <>
inline bfloat number_of<bfloat>(Double a) { return bfloat(number_of<float>(a)); }

struct Spaced {
  Double start;
  Double step;
  Double last;
  ulong count;
};

// As NumPy rounds them: a product and a sum in double.
template <typename T>
kernel void spaced(device T* out [[buffer(0)]],
                   constant Spaced& p [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  if (i >= p.count) {
    return;
  }
  out[i] = number_of<T>(i + 1 == p.count ? p.last : sum(product(i, p.step), p.start));
}

#define INSTANTIATE(name, type) \
  template [[host_name("spaced_" #name)]] kernel void spaced<type>(device type*, constant Spaced&, uint); \
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
