#include <metal_stdlib>

// Stable merge sort of rows of unsigned keys. First every element finds its place in a short run, then runs are merged in
// pairs: each thread finds where its stretch of the result begins in both runs (Green, McColl, Bader: GPU merge path)
// and merges it.

/// Elements of the first runs, and those that a thread merges by itself.
constant constexpr uint kRun = 16;
constant constexpr uint kStretch = 32;

/// Rows are `length` long and their runs `width`; `parts` threads share a row.
struct Extent {
  uint length;
  uint width;
  uint parts;
};

/// Sorts the keys themselves.
template <typename T>
struct ByKey {
  using Item = T;
  device const T* keys;

  T first(uint place) const { return keys[place]; }
  T key(T item) const { return item; }
};

/// Sorts places, which stay what they are while the keys do not move.
template <typename T>
struct ByPlace {
  using Item = uint;
  device const T* keys;

  uint first(uint place) const { return place; }
  T key(uint item) const { return keys[item]; }
};

/// A thread to an element: as many places after the start of its run as elements belong before it.
template <typename Order, typename T>
[[kernel]] void sort_runs(device const T* keys [[buffer(0)]],
                          device typename Order::Item* out [[buffer(1)]],
                          constant Extent& extent [[buffer(2)]],
                          uint index [[thread_position_in_grid]]) {
  const ulong row = ulong(index / extent.parts) * extent.length;
  const uint place = index % extent.parts;
  const uint begin = place / kRun * kRun;
  const uint count = metal::min(kRun, extent.length - begin);
  const T own = keys[row + place];

  uint before = 0;
  for (uint i = 0; i < count; ++i) {
    const T other = keys[row + begin + i];
    before += other < own || (other == own && begin + i < place) ? 1 : 0;
  }
  out[row + begin + before] = Order{keys + row}.first(place);
}

/// A thread to a stretch, which lies in one pair of runs.
template <typename Order, typename T>
[[kernel]] void sort_merge(device const T* keys [[buffer(0)]],
                           device typename Order::Item* out [[buffer(1)]],
                           constant Extent& extent [[buffer(2)]],
                           device const typename Order::Item* in [[buffer(3)]],
                           uint index [[thread_position_in_grid]]) {
  using Item = typename Order::Item;
  const ulong row = ulong(index / extent.parts) * extent.length;
  const uint begin = index % extent.parts * kStretch;
  const Order order{keys + row};
  // Widths are powers of two. Past the end of a row of 2^31 elements or more no uint could point.
  const uint pair_begin = begin & ~(2 * extent.width - 1);
  const uint middle = pair_begin + metal::min(extent.width, extent.length - pair_begin);
  const uint pair_end = middle + metal::min(extent.width, extent.length - middle);
  device const Item* left = in + row + pair_begin;
  device const Item* right = in + row + middle;
  const uint left_count = middle - pair_begin;
  const uint right_count = pair_end - middle;

  // How many of the elements before the stretch come from the left run.
  const uint before = begin - pair_begin;
  uint low = before > right_count ? before - right_count : 0;
  uint high = metal::min(before, left_count);
  while (low < high) {
    const uint tried = (low + high) / 2;
    if (order.key(right[before - tried - 1]) < order.key(left[tried])) {
      high = tried;
    } else {
      low = tried + 1;
    }
  }
  uint from_left = low;
  uint from_right = before - low;

  out += row;
  const uint end = begin + metal::min(kStretch, pair_end - begin);
  for (uint at = begin; at < end; ++at) {
    // Positions past a run are not read; what stands there does not matter.
    const bool has_left = from_left < left_count;
    const bool has_right = from_right < right_count;
    const Item left_item = left[has_left ? from_left : 0];
    const Item right_item = has_right ? right[from_right] : left_item;
    const bool takes_right =
        has_right && (!has_left || order.key(right_item) < order.key(left_item));
    out[at] = takes_right ? right_item : left_item;
    from_right += takes_right ? 1 : 0;
    from_left += takes_right ? 0 : 1;
  }
}

#define INSTANTIATE(kernel_name, order, suffix, type, dtype)                  \
  template [[host_name(#kernel_name suffix "_" #dtype)]] [[kernel]] decltype( \
      kernel_name<order<type>, type>) kernel_name<order<type>, type>;

#define INSTANTIATE_TYPE(type, dtype)                     \
  INSTANTIATE(sort_runs, ByKey, "", type, dtype)          \
  INSTANTIATE(sort_runs, ByPlace, "_places", type, dtype) \
  INSTANTIATE(sort_merge, ByKey, "", type, dtype)         \
  INSTANTIATE(sort_merge, ByPlace, "_places", type, dtype)

INSTANTIATE_TYPE(uint, uint32)
INSTANTIATE_TYPE(ulong, uint64)
