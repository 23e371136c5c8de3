#include <metal_stdlib>

// Stable merge sort of rows. First every thread sorts a short run of its own, then runs are merged in pairs: each thread
// finds where its stretch of the result begins in both runs (Green, McColl, Bader: GPU merge path) and merges it.

/// Elements that a thread sorts or merges by itself.
constant constexpr uint kRun = 16;
constant constexpr uint kStretch = 32;

/// Rows are `length` long and their runs `width`; `parts` threads share a row.
struct Extent {
  uint length;
  uint width;
  uint parts;
};

template <typename T>
static bool is_less(T a, T b) {
  return a < b;
}

/// What is no number comes last.
template <typename T>
static bool is_less_or_number(T a, T b) {
  return a < b || (!(a != a) && b != b);
}
template <>
bool is_less<float>(float a, float b) {
  return is_less_or_number(a, b);
}
template <>
bool is_less<half>(half a, half b) {
  return is_less_or_number(a, b);
}
template <>
bool is_less<bfloat>(bfloat a, bfloat b) {
  return is_less_or_number(a, b);
}

/// Sorts the elements themselves.
template <typename T>
struct ByValue {
  using Item = T;
  device const T* values;

  T first(uint place) const { return values[place]; }
  bool less(T a, T b) const { return is_less(a, b); }
};

/// Sorts places, which stay what they are while the elements do not move.
template <typename T>
struct ByPlace {
  using Item = uint;
  device const T* values;

  uint first(uint place) const { return place; }
  bool less(uint a, uint b) const { return is_less(values[a], values[b]); }
};

template <typename Order>
static void sort_run(Order order, device typename Order::Item* out, uint begin, uint end) {
  using Item = typename Order::Item;
  for (uint i = begin; i < end; ++i) {
    const Item item = order.first(i);
    uint at = i;
    while (at > begin && order.less(item, out[at - 1])) {
      out[at] = out[at - 1];
      --at;
    }
    out[at] = item;
  }
}

template <typename Order>
static void merge_stretch(Order order,
                          device const typename Order::Item* in,
                          device typename Order::Item* out,
                          constant Extent& extent,
                          uint begin) {
  using Item = typename Order::Item;
  const uint pair_begin = begin / (2 * extent.width) * (2 * extent.width);
  const uint middle = metal::min(pair_begin + extent.width, extent.length);
  const uint pair_end = metal::min(middle + extent.width, extent.length);
  device const Item* left = in + pair_begin;
  device const Item* right = in + middle;
  const uint left_count = middle - pair_begin;
  const uint right_count = pair_end - middle;

  // How many of the elements before the stretch come from the left run.
  const uint before = begin - pair_begin;
  uint low = before > right_count ? before - right_count : 0;
  uint high = metal::min(before, left_count);
  while (low < high) {
    const uint tried = (low + high) / 2;
    if (order.less(right[before - tried - 1], left[tried])) {
      high = tried;
    } else {
      low = tried + 1;
    }
  }
  uint from_left = low;
  uint from_right = before - low;

  const uint end = metal::min(begin + kStretch, pair_end);
  for (uint at = begin; at < end; ++at) {
    const bool takes_right =
        from_right < right_count &&
        (from_left >= left_count || order.less(right[from_right], left[from_left]));
    if (takes_right) {
      out[at] = right[from_right++];
    } else {
      out[at] = left[from_left++];
    }
  }
}

template <typename Order, typename T>
[[kernel]] void sort_runs(device const T* values [[buffer(0)]],
                          device typename Order::Item* out [[buffer(1)]],
                          constant Extent& extent [[buffer(2)]],
                          uint index [[thread_position_in_grid]]) {
  const ulong row = ulong(index / extent.parts) * extent.length;
  const uint begin = index % extent.parts * kRun;
  sort_run(Order{values + row}, out + row, begin, metal::min(begin + kRun, extent.length));
}

template <typename Order, typename T>
[[kernel]] void sort_merge(device const T* values [[buffer(0)]],
                           device typename Order::Item* out [[buffer(1)]],
                           constant Extent& extent [[buffer(2)]],
                           device const typename Order::Item* in [[buffer(3)]],
                           uint index [[thread_position_in_grid]]) {
  const ulong row = ulong(index / extent.parts) * extent.length;
  const uint begin = index % extent.parts * kStretch;
  merge_stretch(Order{values + row}, in + row, out + row, extent, begin);
}

#define INSTANTIATE(kernel_name, order, suffix, type, dtype)                    \
  template [[host_name(#kernel_name suffix "_" #dtype)]] [[kernel]] decltype(   \
      kernel_name<order<type>, type>) kernel_name<order<type>, type>;

#define INSTANTIATE_TYPE(type, dtype)                       \
  INSTANTIATE(sort_runs, ByValue, "", type, dtype)          \
  INSTANTIATE(sort_runs, ByPlace, "_places", type, dtype)   \
  INSTANTIATE(sort_merge, ByValue, "", type, dtype)         \
  INSTANTIATE(sort_merge, ByPlace, "_places", type, dtype)

INSTANTIATE_TYPE(bool, bool)
INSTANTIATE_TYPE(uchar, uint8)
INSTANTIATE_TYPE(ushort, uint16)
INSTANTIATE_TYPE(uint, uint32)
INSTANTIATE_TYPE(ulong, uint64)
INSTANTIATE_TYPE(char, int8)
INSTANTIATE_TYPE(short, int16)
INSTANTIATE_TYPE(int, int32)
INSTANTIATE_TYPE(long, int64)
INSTANTIATE_TYPE(half, float16)
INSTANTIATE_TYPE(bfloat, bfloat16)
INSTANTIATE_TYPE(float, float32)
