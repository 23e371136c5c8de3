#include <fmt/core.h>
#include <pewter/ops.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "pewter/array/graph/node.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/single_output.h"
#include "pewter/array/ops/trace.h"
#include "pewter/runtime/allocator.h"

namespace pewter {
namespace {

// As kernels/sort.metal has them.
constexpr std::uint32_t kRun = 16;
constexpr std::uint32_t kStretch = 32;
struct Extent {
  std::uint32_t length;
  std::uint32_t width;
  std::uint32_t parts;
};

constexpr std::size_t kGroup = 256;
constexpr std::uint32_t kSignBit = 0x80000000U;
constexpr std::uint64_t kWideSignBit = std::uint64_t{1} << 63;

std::uint32_t parts_of(std::uint64_t length, std::uint32_t part) {
  return static_cast<std::uint32_t>((length + part - 1) / part);
}

/// Sorts the last axis of a row contiguous array of uint32 or uint64: its elements, or their
/// places.
class Sort final : public ops::SingleOutput {
 public:
  explicit Sort(bool gives_places) : gives_places_(gives_places) {}

  std::string_view name() const override { return gives_places_ ? "argsort" : "sort"; }

  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override {
    return {make(inputs[0], gives_places_, stream)};
  }

  static array make(const array& a, bool gives_places, std::uint32_t stream) {
    return array(graph::make_computed(a.shape(), gives_places ? Dtype::UInt32 : a.dtype(),
                                      std::make_shared<Sort>(gives_places), {a.node_pointer()},
                                      stream));
  }

  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const graph::Node& values = *inputs[0];
    const auto length = static_cast<std::uint32_t>(out.shape.back());
    const std::size_t rows = out.size / length;
    const std::string suffix =
        fmt::format("{}_{}", gives_places_ ? "_places" : "", name_of(values.dtype));

    // Passes alternate between the result and a second buffer, so that the last writes the result.
    std::uint32_t passes = 0;
    for (std::uint64_t width = kRun; width < length; width *= 2) {
      ++passes;
    }
    const std::size_t bytes = out.size * size_of(out.dtype);
    const runtime::Buffer second =
        passes > 0 ? runtime::allocator().allocate(bytes) : runtime::Buffer();
    const auto target = [&](std::uint32_t passes_left) {
      return passes_left % 2 == 0 ? std::pair(out.memory(), out.byte_offset())
                                  : std::pair(second, std::size_t{0});
    };
    const auto call = [&](const char* kernel, std::uint32_t passes_left, const Extent& extent,
                          bool merges) {
      const auto shipped = ops::shipped_kernel("sort.metal", kernel + suffix);
      ops::KernelCall run(stream, *shipped);
      const auto [buffer, offset] = target(passes_left);
      run.input(values).buffer(buffer, offset, runtime::Access::Write).value(extent);
      if (merges) {
        const auto [from, from_offset] = target(passes_left + 1);
        run.buffer(from, from_offset, runtime::Access::Read);
      }
      run.dispatch_threads(MTL::Size(rows * extent.parts, 1, 1), MTL::Size(kGroup, 1, 1));
    };

    call("sort_runs", passes, {length, kRun, length}, false);
    std::uint64_t width = kRun;
    for (std::uint32_t left = passes; left > 0; --left, width *= 2) {
      call("sort_merge", left - 1,
           {length, static_cast<std::uint32_t>(width), parts_of(length, kStretch)}, true);
    }
  }

 private:
  bool gives_places_;
};

int checked_axis(const char* origin, const array& a, int axis) {
  const int rank = static_cast<int>(a.ndim());
  const int placed = axis < 0 ? axis + rank : axis;
  if (placed < 0 || placed >= rank) {
    throw std::invalid_argument(
        fmt::format("[{}] axis {} of an array of rank {}", origin, axis, rank));
  }
  return placed;
}

/// Unsigned numbers in the order of the elements, what is no number last.
array keys_of(const array& a, bool is_stable, StreamOrDevice s) {
  switch (a.dtype()) {
    case Dtype::Float16:
    case Dtype::BFloat16:
    case Dtype::Float32: {
      // The two zeros are equal, but only where the elements themselves are not asked for.
      const array wide = astype(a, Dtype::Float32, s);
      const array bits = view(is_stable ? add(wide, array(0.0F), s) : wide, Dtype::UInt32, s);
      const array is_negative = greater_equal(bits, array(kSignBit), s);
      const array key =
          bitwise_xor(bits, where(is_negative, array(0xffffffffU), array(kSignBit), s), s);
      return where(isnan(wide, s), array(0xffffffffU), key, s);
    }
    case Dtype::Int8:
    case Dtype::Int16:
    case Dtype::Int32:
      return bitwise_xor(view(astype(a, Dtype::Int32, s), Dtype::UInt32, s), array(kSignBit), s);
    case Dtype::Int64:
      return bitwise_xor(view(a, Dtype::UInt64, s), array(kWideSignBit), s);
    case Dtype::UInt64:
      return a;
    default:
      return astype(a, Dtype::UInt32, s);
  }
}

/// The elements that keys stand for.
array elements_of(const array& keys, Dtype dtype, StreamOrDevice s) {
  switch (dtype) {
    case Dtype::Float16:
    case Dtype::BFloat16:
    case Dtype::Float32: {
      const array is_negative = less(keys, array(kSignBit), s);
      const array bits =
          bitwise_xor(keys, where(is_negative, array(0xffffffffU), array(kSignBit), s), s);
      return astype(view(bits, Dtype::Float32, s), dtype, s);
    }
    case Dtype::Int8:
    case Dtype::Int16:
    case Dtype::Int32:
      return astype(view(bitwise_xor(keys, array(kSignBit), s), Dtype::Int32, s), dtype, s);
    case Dtype::Int64:
      return view(bitwise_xor(keys, array(kWideSignBit), s), Dtype::Int64, s);
    case Dtype::UInt64:
      return keys;
    default:
      return astype(keys, dtype, s);
  }
}

array sorted(const char* origin, const array& a, int axis, bool gives_places, StreamOrDevice s) {
  if (a.dtype() == Dtype::Complex64) {
    throw std::invalid_argument(fmt::format("[{}] complex numbers have no order", origin));
  }
  const int placed = checked_axis(origin, a, axis);
  if (a.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument(
        fmt::format("[{}] {} has more than 2^32 - 1 elements", origin, a.description()));
  }
  const int last = static_cast<int>(a.ndim()) - 1;
  const array moved = placed == last ? ops::usable(a) : swapaxes(a, placed, last, s);
  ops::expect_joinable(origin, moved);
  const array rows = contiguous(moved, s);
  const array keys = contiguous(keys_of(rows, gives_places, s), s);
  const array result = Sort::make(keys, gives_places, ops::stream_number(s));
  const array given = gives_places ? result : elements_of(result, a.dtype(), s);
  return placed == last ? given : swapaxes(given, placed, last, s);
}

/// Whether `kth` is a position on that axis.
void expect_position(const char* origin, const array& a, int kth, int axis) {
  const std::int64_t length = a.shape()[static_cast<std::size_t>(checked_axis(origin, a, axis))];
  const std::int64_t placed = kth < 0 ? kth + length : kth;
  if (placed < 0 || placed >= length) {
    throw std::invalid_argument(
        fmt::format("[{}] position {} on an axis of length {}", origin, kth, length));
  }
}

}  // namespace

array sort(const array& a, int axis, StreamOrDevice s) {
  return sorted("sort", a, axis, false, s);
}

array argsort(const array& a, int axis, StreamOrDevice s) {
  return sorted("argsort", a, axis, true, s);
}

array partition(const array& a, int kth, int axis, StreamOrDevice s) {
  expect_position("partition", a, kth, axis);
  return sorted("partition", a, axis, false, s);
}

array argpartition(const array& a, int kth, int axis, StreamOrDevice s) {
  expect_position("argpartition", a, kth, axis);
  return sorted("argpartition", a, axis, true, s);
}

array topk(const array& a, int k, int axis, StreamOrDevice s) {
  const int placed = checked_axis("topk", a, axis);
  const std::int64_t length = a.shape()[static_cast<std::size_t>(placed)];
  if (k < 0 || k > length) {
    throw std::invalid_argument(
        fmt::format("[topk] the {} greatest on an axis of length {}", k, length));
  }
  Shape start(a.ndim(), 0);
  start[static_cast<std::size_t>(placed)] = length - k;
  return slice(sorted("topk", a, placed, false, s), start, a.shape(), s);
}

}  // namespace pewter
