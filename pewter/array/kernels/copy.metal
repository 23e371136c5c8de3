#include <metal_stdlib>
using namespace metal;

// Axes with the last one first; x runs along it.
struct Layout {
  uint lengths[8];
  uint axis_count;
  uint unused;
  long from_strides[8];
  long to_strides[8];
};

template <typename T>
kernel void copy(const device T* from [[buffer(0)]],
                 device T* to [[buffer(1)]],
                 constant Layout& layout [[buffer(2)]],
                 uint3 at [[thread_position_in_grid]]) {
  if (at.x >= layout.lengths[0]) {
    return;
  }
  uint rest = at.z;
  from += at.y * layout.from_strides[1];
  to += at.y * layout.to_strides[1];
  for (uint axis = 2; axis < layout.axis_count; ++axis) {
    const uint above = rest / layout.lengths[axis];
    const uint here = rest - above * layout.lengths[axis];
    rest = above;
    from += here * layout.from_strides[axis];
    to += here * layout.to_strides[axis];
  }
  if (layout.from_strides[0] == 1 && layout.to_strides[0] == 1) {
    to[at.x] = from[at.x];
  } else {
    to[at.x * layout.to_strides[0]] = from[at.x * layout.from_strides[0]];
  }
}

#define INSTANTIATE(bytes, type)                                                                             \
  template [[host_name("copy_" #bytes)]] kernel void copy<type>(const device type*, device type*, constant Layout&, \
                                                                uint3);
INSTANTIATE(1, uchar)
INSTANTIATE(2, ushort)
INSTANTIATE(4, uint)
INSTANTIATE(8, ulong)
