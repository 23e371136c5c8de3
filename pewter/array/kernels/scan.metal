// Running sums and their relatives along the middle of (outer, length, inner).

#include <metal_stdlib>
using namespace metal;

struct Scan {
  uint length;
  uint inner;
  uint is_reverse;
  uint is_exclusive;
};

struct Sum {
  template <typename T>
  static T combine(T a, T b) { return a + b; }
  template <typename T>
  static T start() { return T(0); }
};
struct Product {
  template <typename T>
  static T combine(T a, T b) { return a * b; }
  template <typename T>
  static T start() { return T(1); }
};
struct Greatest {
  template <typename T>
  static T combine(T a, T b) { return a != a ? a : b != b ? b : a > b ? a : b; }
  template <typename T>
  static T start() { return numeric_limits<T>::has_infinity ? -numeric_limits<T>::infinity() : numeric_limits<T>::lowest(); }
};
struct Least {
  template <typename T>
  static T combine(T a, T b) { return a != a ? a : b != b ? b : a < b ? a : b; }
  template <typename T>
  static T start() { return numeric_limits<T>::has_infinity ? numeric_limits<T>::infinity() : numeric_limits<T>::max(); }
};

struct ComplexProduct {
  template <typename T>
  static T combine(T a, T b) { return T(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
  template <typename T>
  static T start() { return T(1, 0); }
};

// S is stored, T computed with, R comes out.
template <typename Op, typename S, typename T, typename R>
kernel void scan_columns(const device S* in [[buffer(0)]],
                         device R* out [[buffer(1)]],
                         constant Scan& p [[buffer(2)]],
                         uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.inner) {
    return;
  }
  const ulong first = ulong(at.y) * p.length * p.inner + at.x;
  T total = Op::template start<T>();
  for (uint i = 0; i < p.length; ++i) {
    const uint step = p.is_reverse != 0 ? p.length - 1 - i : i;
    const ulong place = first + ulong(step) * p.inner;
    const T value = T(in[place]);
    if (p.is_exclusive != 0) {
      out[place] = R(total);
      total = Op::combine(total, value);
    } else {
      total = Op::combine(total, value);
      out[place] = R(total);
    }
  }
}

// A simdgroup takes 32 neighbours of a row at a time.
template <typename Op, typename S, typename T, typename R>
kernel void scan_rows(const device S* in [[buffer(0)]],
                      device R* out [[buffer(1)]],
                      constant Scan& p [[buffer(2)]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint row [[threadgroup_position_in_grid]]) {
  in += ulong(row) * p.length;
  out += ulong(row) * p.length;
  T before = Op::template start<T>();
  for (uint i = 0; i < p.length; i += 32) {
    const uint step = i + lane;
    const bool is_inside = step < p.length;
    const uint place = p.is_reverse != 0 ? p.length - 1 - step : step;
    T total = is_inside ? T(in[is_inside ? place : 0]) : Op::template start<T>();
    for (ushort distance = 1; distance < 32; distance *= 2) {
      const T other = simd_shuffle_up(total, distance);
      total = lane >= distance ? Op::combine(other, total) : total;
    }
    const T neighbour = simd_shuffle_up(total, ushort(1));
    const T exclusive = lane == 0 ? before : Op::combine(before, neighbour);
    const T inclusive = Op::combine(before, total);
    if (is_inside) {
      out[place] = R(p.is_exclusive != 0 ? exclusive : inclusive);
    }
    before = simd_shuffle(inclusive, ushort(31));
  }
}

#define COLUMNS(op, Op, name, S, T, R)                                                                         \
  template [[host_name(#op "_columns_" #name)]] kernel void scan_columns<Op, S, T, R>(const device S*, device R*, \
                                                                                      constant Scan&, uint2);
#define ROWS(op, Op, name, S, T, R)                                                                            \
  template [[host_name(#op "_rows_" #name)]] kernel void scan_rows<Op, S, T, R>(const device S*, device R*,       \
                                                                                constant Scan&, uint, uint);
#define BOTH(op, Op, name, S, T, R) COLUMNS(op, Op, name, S, T, R) ROWS(op, Op, name, S, T, R)
#define EVERY(op, Op)                          \
  BOTH(op, Op, uint32, uint, uint, uint)       \
  COLUMNS(op, Op, uint64, ulong, ulong, ulong) \
  BOTH(op, Op, int32, int, int, int)           \
  COLUMNS(op, Op, int64, long, long, long)     \
  BOTH(op, Op, float16, half, float, half)     \
  BOTH(op, Op, bfloat16, bfloat, float, bfloat) \
  BOTH(op, Op, float32, float, float, float)
COLUMNS(cumsum, Sum, complex64, float2, float2, float2)
COLUMNS(cumprod, ComplexProduct, complex64, float2, float2, float2)
EVERY(cumsum, Sum)
EVERY(cumprod, Product)
EVERY(cummax, Greatest)
EVERY(cummin, Least)
