#include <metal_stdlib>
#include <pewter/stream.h>
using namespace metal;

// Axes with the last one first; x runs along it.
struct Layout {
  uint lengths[8];
  uint axis_count;
  uint unused;
  long from_strides[8];
  long to_strides[8];
};

// Where the row of a thread begins, in elements.
inline long row_offset(constant Layout& layout, constant long* strides, uint3 at) {
  long offset = at.y * strides[1];
  uint rest = at.z;
  for (uint axis = 2; axis < layout.axis_count; ++axis) {
    const uint above = rest / layout.lengths[axis];
    offset += (rest - above * layout.lengths[axis]) * strides[axis];
    rest = above;
  }
  return offset;
}

// Rows whose elements lie one after the other on both sides.
template <typename T>
kernel void copy_rows(const device T* from [[buffer(0)]],
                      device T* to [[buffer(1)]],
                      constant Layout& layout [[buffer(2)]],
                      uint3 at [[thread_position_in_grid]]) {
  if (at.x >= layout.lengths[0]) {
    return;
  }
  const device T* source = from + row_offset(layout, layout.from_strides, at);
  device T* target = to + row_offset(layout, layout.to_strides, at);
  pewter::stream(target + at.x, source[at.x]);
}

template <typename T>
kernel void copy(const device T* from [[buffer(0)]],
                 device T* to [[buffer(1)]],
                 constant Layout& layout [[buffer(2)]],
                 uint3 at [[thread_position_in_grid]]) {
  if (at.x >= layout.lengths[0]) {
    return;
  }
  const device T* source = from + row_offset(layout, layout.from_strides, at);
  device T* target = to + row_offset(layout, layout.to_strides, at);
  target[at.x * layout.to_strides[0]] = source[at.x * layout.from_strides[0]];
}

template <typename T>
kernel void fill(const device T* from [[buffer(0)]],
                 device T* to [[buffer(1)]],
                 constant Layout& layout [[buffer(2)]],
                 uint at [[thread_position_in_grid]]) {
  if (at < layout.lengths[0]) {
    pewter::stream(to + at, from[0]);
  }
}

#define INSTANTIATE(bytes, type)                                                                              \
  template [[host_name("copy_rows_" #bytes)]] kernel void copy_rows<type>(const device type*, device type*,   \
                                                                          constant Layout&, uint3);           \
  template [[host_name("copy_" #bytes)]] kernel void copy<type>(const device type*, device type*,             \
                                                                constant Layout&, uint3);                     \
  template [[host_name("fill_" #bytes)]] kernel void fill<type>(const device type*, device type*,             \
                                                                constant Layout&, uint);
INSTANTIATE(1, uchar)
INSTANTIATE(2, ushort)
INSTANTIATE(4, uint)
INSTANTIATE(8, ulong)
