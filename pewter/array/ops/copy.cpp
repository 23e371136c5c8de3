#include "pewter/array/ops/copy.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "pewter/array/graph/constant.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"

namespace pewter::ops {
namespace {

constexpr std::size_t kMaxAxes = 8;

/// As kernels/copy.metal has it.
struct Layout {
  std::uint32_t lengths[kMaxAxes];
  std::uint32_t axis_count;
  std::uint32_t unused;
  std::int64_t from_strides[kMaxAxes];
  std::int64_t to_strides[kMaxAxes];
};

/// All axes but the last two together, which are one axis of the grid.
std::uint64_t planes_of(const Layout& layout) {
  std::uint64_t planes = 1;
  for (std::size_t axis = 2; axis < kMaxAxes; ++axis) {
    planes *= layout.lengths[axis];
  }
  return planes;
}

Layout joined(const char* origin, const Shape& shape, const Strides& from, const Strides& to) {
  Layout layout = {};
  std::fill(std::begin(layout.lengths), std::end(layout.lengths), 1U);
  std::size_t count = 0;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] == 1) {
      continue;
    }
    if (count > 0) {
      const std::size_t last = count - 1;
      const auto length = static_cast<std::int64_t>(layout.lengths[last]);
      if (from[axis] == layout.from_strides[last] * length &&
          to[axis] == layout.to_strides[last] * length && length * shape[axis] < (1LL << 31)) {
        layout.lengths[last] = static_cast<std::uint32_t>(length * shape[axis]);
        continue;
      }
    }
    if (count == kMaxAxes) {
      throw std::invalid_argument(
          fmt::format("[{}] the shape {} has more than {} axes that cannot be joined", origin,
                      graph::to_text(shape), kMaxAxes));
    }
    graph::expect_dispatchable(origin, shape[axis]);
    layout.lengths[count] = static_cast<std::uint32_t>(shape[axis]);
    layout.from_strides[count] = from[axis];
    layout.to_strides[count] = to[axis];
    ++count;
  }
  if (count == 0) {
    layout.from_strides[0] = 1;
    layout.to_strides[0] = 1;
  }
  layout.axis_count = static_cast<std::uint32_t>(count);
  graph::expect_dispatchable(origin, static_cast<std::int64_t>(planes_of(layout)));
  return layout;
}

}  // namespace

void expect_copyable(const char* origin,
                     const Shape& shape,
                     const Strides& from,
                     const Strides& to) {
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (!is_empty) {
    static_cast<void>(joined(origin, shape, from, to));
  }
}

void encode_copy(runtime::Stream& stream,
                 const graph::Node& from,
                 const graph::Node& to,
                 const Strides& strides,
                 std::int64_t offset) {
  if (from.size == 0) {
    return;
  }
  const Layout layout = joined("copy", from.shape, from.strides, strides);
  const std::size_t bytes = size_of(from.dtype);
  const bool by_rows = layout.from_strides[0] == 1 && layout.to_strides[0] == 1;
  const auto kernel =
      shipped_kernel("copy.metal", fmt::format("{}_{}", by_rows ? "copy_rows" : "copy", bytes));
  const std::uint32_t width = std::clamp(layout.lengths[0] / 32 * 32 + 32, 32U, 1024U);
  KernelCall(stream, *kernel)
      .input(from)
      .buffer(to.memory(), to.byte_offset() + static_cast<std::size_t>(offset) * bytes,
              runtime::Access::Write)
      .value(layout)
      .dispatch_groups(
          MTL::Size((layout.lengths[0] + width - 1) / width, layout.lengths[1], planes_of(layout)),
          MTL::Size(width, 1, 1));
}

void encode_copy(runtime::Stream& stream, const graph::Node& from, const graph::Node& to) {
  encode_copy(stream, from, to, graph::row_strides(from.shape), 0);
}

void encode_fill(runtime::Stream& stream, double number, const graph::Node& to) {
  if (to.size == 0) {
    return;
  }
  alignas(8) std::byte element[8];
  graph::write_element(number, element, to.dtype);
  // Rows of a length that one axis of the grid can have.
  constexpr std::size_t kRow = std::size_t{1} << 30U;
  const std::size_t bytes = size_of(to.dtype);
  const auto kernel = shipped_kernel("copy.metal", fmt::format("fill_{}", bytes));
  for (std::size_t first = 0; first < to.size; first += kRow) {
    Layout layout = {};
    std::fill(std::begin(layout.lengths), std::end(layout.lengths), 1U);
    layout.lengths[0] = static_cast<std::uint32_t>(std::min(kRow, to.size - first));
    layout.axis_count = 1;
    layout.to_strides[0] = 1;
    KernelCall(stream, *kernel)
        .bytes(element, bytes)
        .buffer(to.memory(), to.byte_offset() + first * bytes, runtime::Access::Write)
        .value(layout)
        .dispatch_groups(MTL::Size((layout.lengths[0] + 255) / 256, 1, 1), MTL::Size(256, 1, 1));
  }
}

array row_contiguous(const array& a, std::uint32_t stream) {
  const array input = viewable(a);
  return input.row_contiguous()
             ? input
             : apply_row(conversion_row(), {input.node_pointer()}, input.dtype(), stream);
}

}  // namespace pewter::ops
