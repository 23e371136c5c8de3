#include <fmt/core.h>
#include <pewter/errors.h>
#include <pewter/host_array.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "pewter/api/backend/host_dtype.h"
#include "pewter/array/graph/shape.h"

namespace pewter::backend {
namespace {

/// bool, unsigned, signed, floating, complex: "same_kind" allows only to go on in this order.
int kind_of(HostDtype dtype) {
  switch (dtype) {
    case HostDtype::Bool:
      return 0;
    case HostDtype::UInt8:
    case HostDtype::UInt16:
    case HostDtype::UInt32:
    case HostDtype::UInt64:
      return 1;
    case HostDtype::Int8:
    case HostDtype::Int16:
    case HostDtype::Int32:
    case HostDtype::Int64:
      return 2;
    case HostDtype::Float16:
    case HostDtype::Float32:
    case HostDtype::Float64:
      return 3;
    default:
      return 4;
  }
}

/// The strides with which an array of shape `from` is read as one of shape `to`, which may lack
/// axes of length 1 in front.
Strides broadcast_strides(const Shape& from, const Strides& strides, const Shape& to) {
  Strides result(to.size(), 0);
  bool fits = true;
  for (std::size_t back = 1; fits && back <= from.size(); ++back) {
    const std::size_t axis = from.size() - back;
    if (back > to.size()) {
      fits = from[axis] == 1;
      continue;
    }
    const std::int64_t length = to[to.size() - back];
    fits = from[axis] == length || from[axis] == 1;
    result[to.size() - back] = from[axis] == 1 ? 0 : strides[axis];
  }
  if (!fits) {
    throw std::invalid_argument(fmt::format("[HostArray] cannot broadcast the shape {} to {}",
                                            graph::to_text(from), graph::to_text(to)));
  }
  return result;
}

/// Calls `visit` with the positions of each element in two layouts of one shape.
template <typename Visit>
void for_each_pair(const Shape& shape,
                   const Strides& first,
                   const Strides& second,
                   const Visit& visit) {
  if (graph::is_row_contiguous(shape, first) && graph::is_row_contiguous(shape, second)) {
    const auto count = static_cast<std::int64_t>(graph::element_count(shape, 1));
    for (std::int64_t i = 0; i < count; ++i) {
      visit(i, i);
    }
    return;
  }
  std::vector<std::int64_t> positions;
  positions.reserve(graph::element_count(shape, 1));
  graph::for_each_position(shape, first, [&](std::int64_t at) { positions.push_back(at); });
  std::size_t next = 0;
  graph::for_each_position(shape, second, [&](std::int64_t at) { visit(positions[next++], at); });
}

/// The addresses from the first byte of an array in memory to behind its last.
struct Extent {
  explicit Extent(const HostArray& values)
      : begin(reinterpret_cast<std::intptr_t>(values.bytes())), end(begin) {
    const auto item = static_cast<std::int64_t>(values.itemsize());
    end += item;
    for (std::size_t axis = 0; axis < values.ndim(); ++axis) {
      const std::int64_t reach = (values.shape()[axis] - 1) * values.strides()[axis] * item;
      (reach < 0 ? begin : end) += reach;
    }
  }

  std::intptr_t begin;
  std::intptr_t end;
};

/// Whether two arrays may have bytes in common, also when one is memory of the caller's.
bool shares_bytes(const HostArray& left, const HostArray& right) {
  if (left.size() == 0 || right.size() == 0) {
    return false;
  }
  const Extent a(left);
  const Extent b(right);
  return a.begin < b.end && b.begin < a.end;
}

}  // namespace

HostArray::HostArray(Shape shape, HostDtype dtype) : dtype_(dtype) {
  size_ = graph::element_count(shape, backend::size_of(dtype));
  strides_ = graph::row_strides(shape);
  shape_ = std::move(shape);
  memory_ = std::shared_ptr<std::byte[]>(new std::byte[std::max<std::size_t>(nbytes(), 1)]);
  first_ = memory_.get();
}

HostArray::HostArray(void* first, Shape shape, HostDtype dtype)
    : dtype_(dtype), first_(static_cast<std::byte*>(first)) {
  size_ = graph::element_count(shape, backend::size_of(dtype));
  strides_ = graph::row_strides(shape);
  shape_ = std::move(shape);
}

void HostArray::swap(HostArray& other) noexcept {
  shape_.swap(other.shape_);
  strides_.swap(other.strides_);
  std::swap(size_, other.size_);
  std::swap(dtype_, other.dtype_);
  std::swap(first_, other.first_);
  memory_.swap(other.memory_);
}

HostArray HostArray::zeros(Shape shape, HostDtype dtype) {
  HostArray made(std::move(shape), dtype);
  std::memset(made.first_, 0, made.nbytes());
  return made;
}

bool HostArray::row_contiguous() const {
  return graph::is_row_contiguous(shape_, strides_);
}

std::string HostArray::description() const {
  return fmt::format("{}{}", name_of(dtype_), graph::to_text(shape_));
}

bool HostArray::is_same(const HostArray& other) const {
  return first_ == other.first_ && dtype_ == other.dtype_ && shape_ == other.shape_ &&
         strides_ == other.strides_;
}

HostArray HostArray::slice(std::int64_t start,
                           std::int64_t stop,
                           std::size_t axis,
                           std::int64_t step) const {
  if (axis >= ndim()) {
    throw std::invalid_argument(
        fmt::format("[HostArray::slice] axis {} of an array of rank {}", axis, ndim()));
  }
  if (step == 0) {
    throw std::invalid_argument("[HostArray::slice] step 0; a step is not 0");
  }
  const graph::Range range = graph::slice_range(start, stop, step, shape_[axis]);

  HostArray view = *this;
  view.shape_[axis] = range.count;
  view.size_ = graph::element_count(view.shape_, itemsize());
  if (view.size_ > 0) {
    view.first_ += range.first * strides_[axis] * static_cast<std::int64_t>(itemsize());
  }
  view.strides_[axis] *= range.count > 1 ? step : 1;
  return view;
}

HostArray HostArray::transposed() const {
  HostArray view = *this;
  std::reverse(view.shape_.begin(), view.shape_.end());
  std::reverse(view.strides_.begin(), view.strides_.end());
  return view;
}

void HostArray::assign(const HostArray& source, Casting casting) const {
  if (casting == Casting::SameKind && kind_of(source.dtype_) > kind_of(dtype_)) {
    throw TypeError(fmt::format("[HostArray] cannot cast {} to {} without losing its kind",
                                name_of(source.dtype_), name_of(dtype_)));
  }
  const Strides from = broadcast_strides(source.shape_, source.strides_, shape_);
  // Elements that are both read and written would be read after they were written.
  const bool overlaps = !is_same(source) && shares_bytes(*this, source);
  const HostArray kept = overlaps ? source.copy() : source;
  const Strides kept_strides =
      overlaps ? broadcast_strides(kept.shape_, kept.strides_, shape_) : from;
  visit_host_dtype(dtype_, [&](auto to_tag) {
    visit_host_dtype(kept.dtype_, [&](auto from_tag) {
      using To = typename decltype(to_tag)::Type;
      using From = typename decltype(from_tag)::Type;
      auto* const to = reinterpret_cast<To*>(first_);
      const auto* const values = reinterpret_cast<const From*>(kept.first_);
      for_each_pair(shape_, strides_, kept_strides, [&](std::int64_t at, std::int64_t other) {
        to[at] = converted<To>(values[other]);
      });
    });
  });
}

HostArray HostArray::astype(HostDtype dtype) const {
  HostArray made(shape_, dtype);
  made.assign(*this, Casting::Unsafe);
  return made;
}

bool HostArray::operator==(const HostArray& other) const {
  if (shape_ != other.shape_ || dtype_ != other.dtype_) {
    return false;
  }
  bool equal = true;
  visit_host_dtype(dtype_, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const auto* const left = reinterpret_cast<const T*>(first_);
    const auto* const right = reinterpret_cast<const T*>(other.first_);
    for_each_pair(shape_, strides_, other.strides_, [&](std::int64_t at, std::int64_t there) {
      equal = equal && left[at] == right[there];
    });
  });
  return equal;
}

void* HostArray::data(HostDtype expected) const {
  if (dtype_ != expected) {
    throw TypeError(
        fmt::format("[HostArray] the elements are {}, not {}", name_of(dtype_), name_of(expected)));
  }
  return first_;
}

void HostArray::expect_count(std::size_t count) const {
  if (count != size_) {
    throw std::invalid_argument(fmt::format("[HostArray] {} values for the shape {}, which has {}",
                                            count, graph::to_text(shape_), size_));
  }
}

void HostArray::expect_row_contiguous() const {
  if (!row_contiguous()) {
    throw std::invalid_argument("[HostArray] the array is not row contiguous; copy it first");
  }
}

std::int64_t HostArray::position(std::span<const std::int64_t> index) const {
  if (index.size() != ndim()) {
    throw std::out_of_range(
        fmt::format("[HostArray] {} positions for an array of rank {}", index.size(), ndim()));
  }
  std::int64_t at = 0;
  for (std::size_t axis = 0; axis < ndim(); ++axis) {
    const std::int64_t length = shape_[axis];
    const std::int64_t place = index[axis] < 0 ? index[axis] + length : index[axis];
    if (place < 0 || place >= length) {
      throw std::out_of_range(
          fmt::format("[HostArray] position {} on an axis of length {}", index[axis], length));
    }
    at += place * strides_[axis];
  }
  return at;
}

}  // namespace pewter::backend
