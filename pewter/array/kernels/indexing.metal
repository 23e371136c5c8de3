// Picking and placing elements. Elements are moved as bytes of their size; indices outside an axis
// are clamped to it, so that no kernel reads or writes beside an array.

#include <metal_stdlib>
using namespace metal;

struct Take {
  uint outer;
  uint length;
  uint inner;
  uint count;
};

inline uint clamped(int index, uint length) {
  return uint(clamp(index < 0 ? index + int(length) : index, 0, int(length) - 1));
}

// Rows of `inner` neighbours.
template <typename T>
kernel void take_rows(const device T* in [[buffer(0)]],
                      const device int* indices [[buffer(1)]],
                      device T* out [[buffer(2)]],
                      constant Take& p [[buffer(3)]],
                      uint3 at [[thread_position_in_grid]]) {
  if (at.x >= p.inner) {
    return;
  }
  const uint row = clamped(indices[at.y], p.length);
  const device T* from = in + (ulong(at.z) * p.length + row) * p.inner;
  device T* to = out + (ulong(at.z) * p.count + at.y) * p.inner;
  to[at.x] = from[at.x];
}

template <typename T>
kernel void take_elements(const device T* in [[buffer(0)]],
                          const device int* indices [[buffer(1)]],
                          device T* out [[buffer(2)]],
                          constant Take& p [[buffer(3)]],
                          uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.count * p.inner) {
    return;
  }
  const uint row = at.x / p.inner;
  const uint column = at.x - row * p.inner;
  const device T* from = in + ulong(at.y) * p.length * p.inner;
  out[ulong(at.y) * p.count * p.inner + at.x] = from[ulong(clamped(indices[row], p.length)) * p.inner + column];
}

// Indices of the shape (outer, count, inner).
template <typename T>
kernel void take_along(const device T* in [[buffer(0)]],
                       const device int* indices [[buffer(1)]],
                       device T* out [[buffer(2)]],
                       constant Take& p [[buffer(3)]],
                       uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.count * p.inner) {
    return;
  }
  const uint column = at.x % p.inner;
  const ulong place = ulong(at.y) * p.count * p.inner + at.x;
  const uint row = clamped(indices[place], p.length);
  out[place] = in[(ulong(at.y) * p.length + row) * p.inner + column];
}

struct Assign {
  template <typename T>
  static T combine(T, T value) { return value; }
};
struct Add {
  template <typename T>
  static T combine(T old, T value) { return T(old + value); }
};
struct Multiply {
  template <typename T>
  static T combine(T old, T value) { return T(old * value); }
};
struct Greatest {
  template <typename T>
  static T combine(T old, T value) { return value > old || value != value ? value : old; }
};
struct Least {
  template <typename T>
  static T combine(T old, T value) { return value < old || value != value ? value : old; }
};

// A thread for each column places its values one after the other, so that equal indices have a
// defined order.
template <typename Op, typename T>
kernel void put_along(device T* out [[buffer(0)]],
                      const device int* indices [[buffer(1)]],
                      const device T* values [[buffer(2)]],
                      constant Take& p [[buffer(3)]],
                      uint thread_index [[thread_position_in_grid]]) {
  if (thread_index >= p.outer * p.inner) {
    return;
  }
  const uint row = thread_index / p.inner;
  const uint column = thread_index - row * p.inner;
  device T* to = out + ulong(row) * p.length * p.inner + column;
  const ulong first = ulong(row) * p.count * p.inner + column;
  for (uint i = 0; i < p.count; ++i) {
    const ulong from = first + ulong(i) * p.inner;
    const ulong place = ulong(clamped(indices[from], p.length)) * p.inner;
    to[place] = Op::combine(to[place], values[from]);
  }
}

struct Slices {
  uint lengths[8];
  uint axis_count;
  uint slice_size;
  uint count;
  uint sliding_axes;
  long strides[8];
  long whole_lengths[8];
};

inline long slice_offset(constant Slices& p, uint element) {
  long offset = 0;
  for (uint axis = 0; axis < p.axis_count; ++axis) {
    const uint above = element / p.lengths[axis];
    offset += (element - above * p.lengths[axis]) * p.strides[axis];
    element = above;
  }
  return offset;
}

// Slices that begin at `offsets`.
template <typename T>
kernel void gather(const device T* in [[buffer(0)]],
                   const device long* offsets [[buffer(1)]],
                   device T* out [[buffer(2)]],
                   constant Slices& p [[buffer(3)]],
                   uint2 at [[thread_position_in_grid]]) {
  if (at.x >= p.slice_size) {
    return;
  }
  out[ulong(at.y) * p.slice_size + at.x] = in[offsets[at.y] + slice_offset(p, at.x)];
}

// The element of the slice at `offset` that a thread takes: along axes on which slices may overlap
// the one whose place in the array has the thread's remainder, so that no other thread writes there.
inline uint element_at(constant Slices& p, uint thread_index, long offset) {
  uint element = 0;
  uint scale = 1;
  for (uint axis = 0; axis < p.axis_count; ++axis) {
    const uint length = p.lengths[axis];
    const uint above = thread_index / length;
    uint place = thread_index - above * length;
    if ((p.sliding_axes >> axis & 1) != 0) {
      const uint start = uint(offset / p.strides[axis] % p.whole_lengths[axis] % length);
      place = place >= start ? place - start : place + (length - start);
    }
    element += place * scale;
    scale *= length;
    thread_index = above;
  }
  return element;
}

// As many threads as a slice has elements take the slices one after the other.
template <typename Op, typename T>
kernel void scatter(device T* out [[buffer(0)]],
                    const device long* offsets [[buffer(1)]],
                    const device T* updates [[buffer(2)]],
                    constant Slices& p [[buffer(3)]],
                    uint thread_index [[thread_position_in_grid]]) {
  if (thread_index >= p.slice_size) {
    return;
  }
  uint element = thread_index;
  long inside = slice_offset(p, element);
  for (uint i = 0; i < p.count; ++i) {
    if (p.sliding_axes != 0) {
      element = element_at(p, thread_index, offsets[i]);
      inside = slice_offset(p, element);
    }
    device T* to = out + offsets[i] + inside;
    *to = Op::combine(*to, updates[ulong(i) * p.slice_size + element]);
  }
}

#define MOVES(bytes, T)                                                                                           \
  template [[host_name("take_rows_" #bytes)]] kernel void take_rows<T>(const device T*, const device int*,        \
                                                                       device T*, constant Take&, uint3);         \
  template [[host_name("take_elements_" #bytes)]] kernel void take_elements<T>(                                   \
      const device T*, const device int*, device T*, constant Take&, uint2);                                      \
  template [[host_name("take_along_" #bytes)]] kernel void take_along<T>(const device T*, const device int*,      \
                                                                         device T*, constant Take&, uint2);       \
  template [[host_name("gather_" #bytes)]] kernel void gather<T>(const device T*, const device long*, device T*,  \
                                                                 constant Slices&, uint2);                        \
  PLACES(assign, Assign, bytes, T)
#define PLACES(op, Op, name, T)                                                                                   \
  template [[host_name("put_along_" #op "_" #name)]] kernel void put_along<Op, T>(                                \
      device T*, const device int*, const device T*, constant Take&, uint);                                       \
  template [[host_name("scatter_" #op "_" #name)]] kernel void scatter<Op, T>(                                    \
      device T*, const device long*, const device T*, constant Slices&, uint);
#define COMBINES(name, T)             \
  PLACES(add, Add, name, T)           \
  PLACES(prod, Multiply, name, T)     \
  PLACES(max, Greatest, name, T)      \
  PLACES(min, Least, name, T)
MOVES(1, uchar)
MOVES(2, ushort)
MOVES(4, uint)
MOVES(8, ulong)
COMBINES(uint8, uchar)
COMBINES(uint16, ushort)
COMBINES(uint32, uint)
COMBINES(uint64, ulong)
COMBINES(int8, char)
COMBINES(int16, short)
COMBINES(int32, int)
COMBINES(int64, long)
COMBINES(float16, half)
COMBINES(bfloat16, bfloat)
COMBINES(float32, float)
