#include <fmt/core.h>
#include <pewter/array.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "pewter/array/evaluation/evaluate.h"
#include "pewter/array/graph/constant.h"
#include "pewter/array/graph/node.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/trace.h"
#include "pewter/runtime/allocator.h"

namespace pewter {
namespace {

void expect_dtype(const graph::Node& node, Dtype expected) {
  if (node.dtype != expected) {
    throw std::invalid_argument(
        fmt::format("[array] the elements are {}, not {}", name_of(node.dtype), name_of(expected)));
  }
}

void expect_count(const graph::Node& node, std::size_t count) {
  if (node.size != count) {
    throw std::invalid_argument(fmt::format("[array] {} values for the shape {}, which has {}",
                                            count, graph::to_text(node.shape), node.size));
  }
}

// Copies the elements of a strided layout to (or from) a row contiguous one.
template <typename Copy>
void copy_elements(const graph::Node& node, const Copy& copy) {
  const std::size_t item = size_of(node.dtype);
  std::byte* const first = node.first();
  if (node.is_row_contiguous) {
    copy(first, std::size_t{0}, node.size * item);
    return;
  }
  std::size_t at = 0;
  graph::for_each_position(node.shape, node.strides, [&](std::int64_t position) {
    copy(first + position * static_cast<std::int64_t>(item), at, item);
    at += item;
  });
}

}  // namespace

array::array(const void* values, std::size_t count, Dtype dtype, Shape shape, Placement placement) {
  // Checked before memory is taken: a refused call leaves nothing behind.
  const std::size_t expected = graph::element_count(shape, size_of(dtype));
  if (count != expected) {
    throw std::invalid_argument(fmt::format("[array] {} values for the shape {}, which has {}",
                                            count, graph::to_text(shape), expected));
  }
  auto node = graph::make_node(std::move(shape), dtype, placement);
  if (count > 0) {
    std::memcpy(node->first(), values, count * size_of(dtype));
  }
  node_ = std::move(node);
}

array::array(const std::vector<bool>& values, Placement placement)
    : array(values, {static_cast<std::int64_t>(values.size())}, placement) {}

array::array(const std::vector<bool>& values, Shape shape, Placement placement) {
  // Bits of a vector have no addresses.
  const std::vector<std::uint8_t> bytes(values.begin(), values.end());
  *this = array(bytes.data(), bytes.size(), Dtype::Bool, std::move(shape), placement);
}

array::array(const std::vector<double>& values, Placement placement)
    : array(values, {static_cast<std::int64_t>(values.size())}, placement) {}

array::array(const std::vector<double>& values, Shape shape, Placement placement)
    : array(std::vector<float>(values.begin(), values.end()), std::move(shape), placement) {}

array array::adopt(void* memory, Shape shape, Dtype dtype, std::function<void()> release) {
  const std::size_t count = graph::element_count(shape, size_of(dtype));
  const std::size_t bytes = count * size_of(dtype);
  if (memory == nullptr && bytes > 0) {
    throw std::invalid_argument(
        fmt::format("[array::adopt] a null pointer for the shape {}, which has {} elements",
                    graph::to_text(shape), count));
  }
  runtime::Buffer adopted =
      bytes > 0 ? runtime::allocator().adopt(memory, bytes, release) : runtime::Buffer();
  if (!adopted) {
    array copied(memory, count, dtype, std::move(shape), Placement::Device);
    if (release) {
      release();
    }
    return copied;
  }
  auto node = std::make_shared<graph::Node>();
  node->size = count;
  node->strides = graph::row_strides(shape);
  node->shape = std::move(shape);
  node->dtype = dtype;
  node->is_shared_memory = true;
  node->buffer = std::move(adopted);
  node->is_available.store(true);
  return array(std::move(node));
}

array::array(const Scalar& value, Dtype dtype)
    : node_(graph::make_node({}, dtype, Placement::Host)) {
  graph::write_element(value, node_->first(), dtype);
}

void array::expect_row(const Shape& shape, const Shape& expected) {
  if (shape != expected) {
    throw std::invalid_argument(fmt::format("[array] a row of shape {} among rows of shape {}",
                                            graph::to_text(shape), graph::to_text(expected)));
  }
}

void array::eval() const {
  evaluation::ensure_available(*this);
  evaluation::wait(*this);
}

bool array::is_available() const {
  return node_->has_memory();
}

const graph::Node& array::evaluated() const {
  evaluation::ensure_available(*this);
  return *node_;
}

array array::empty(Shape shape, Dtype dtype, Placement placement) {
  return array(graph::make_node(std::move(shape), dtype, placement));
}

const Shape& array::shape() const {
  ops::note_lengths_read(*node_);
  return node_->shape;
}

std::size_t array::ndim() const {
  return node_->shape.size();
}

const Strides& array::strides() const {
  ops::note_lengths_read(*node_);
  return node_->strides;
}

Dtype array::dtype() const {
  return node_->dtype;
}

Placement array::placement() const {
  return node_->placement;
}

std::size_t array::size() const {
  ops::note_lengths_read(*node_);
  return node_->size;
}

std::int64_t array::offset() const {
  ops::note_lengths_read(*node_);
  return node_->offset;
}

bool array::row_contiguous() const {
  ops::note_lengths_read(*node_);
  return node_->is_row_contiguous;
}

std::string array::description() const {
  return fmt::format("{}{}", name_of(node_->dtype), graph::to_text(node_->shape));
}

array array::slice(std::int64_t start,
                   std::int64_t stop,
                   std::size_t axis,
                   std::int64_t step) const {
  if (axis >= ndim()) {
    throw std::invalid_argument(
        fmt::format("[array::slice] axis {} of an array of rank {}", axis, ndim()));
  }
  if (step == 0) {
    throw std::invalid_argument("[array::slice] a step of 0");
  }

  const ops::LengthsScope lengths_are_repeated;
  const graph::Range range = graph::slice_range(start, stop, step, shape()[axis]);
  Shape lengths = shape();
  Strides steps = strides();
  lengths[axis] = range.count;
  steps[axis] *= range.count > 1 ? step : 1;
  const std::int64_t offset = range.count > 0 ? range.first * strides()[axis] : 0;
  return ops::traced_view(graph::make_view(node_, std::move(lengths), std::move(steps), offset),
                          *this, "slice",
                          [=](const array& other) { return other.slice(start, stop, axis, step); });
}

array array::transposed() const {
  const ops::LengthsScope lengths_are_repeated;
  Shape lengths(shape().rbegin(), shape().rend());
  Strides steps(strides().rbegin(), strides().rend());
  return ops::traced_view(graph::make_view(node_, std::move(lengths), std::move(steps), 0), *this,
                          "transposed", [](const array& other) { return other.transposed(); });
}

array array::reshaped(Shape shape) const {
  if (!row_contiguous()) {
    throw std::invalid_argument("[array::reshaped] the array is not row contiguous; copy it first");
  }
  expect_count(*node_, graph::element_count(shape, size_of(dtype())));
  auto view = graph::make_view(node_, shape, graph::row_strides(shape), 0);
  return ops::traced_view(
      std::move(view), *this, "reshaped",
      [shape = std::move(shape)](const array& other) { return other.reshaped(shape); });
}

array array::copy(Placement placement) const {
  auto node = graph::make_node(node_->shape, node_->dtype, placement);
  if (node_->size > 0) {
    read(node->first(), node_->dtype);
  }
  return array(std::move(node));
}

MTL::Buffer* array::metal_buffer() const {
  return node_->size > 0 ? evaluated().memory().metal() : nullptr;
}

void* array::data(Dtype expected) const {
  expect_dtype(*node_, expected);
  eval();
  return node_->first();
}

void array::read(void* values, Dtype expected) const {
  if (data(expected) == nullptr) {
    return;
  }
  auto* const out = static_cast<std::byte*>(values);
  copy_elements(*node_, [&](const std::byte* element, std::size_t at, std::size_t bytes) {
    std::memcpy(out + at, element, bytes);
  });
}

void array::read_item(void* value, Dtype expected) const {
  if (node_->size != 1) {
    throw std::invalid_argument(fmt::format("[array::item] {} elements in the shape {}; needs one",
                                            node_->size, graph::to_text(shape())));
  }
  read(value, expected);
}

void array::write(const void* values, std::size_t count, Dtype given) const {
  expect_dtype(*node_, given);
  expect_count(*node_, count);
  if (data(given) == nullptr) {
    return;
  }
  const auto* const in = static_cast<const std::byte*>(values);
  copy_elements(*node_, [&](std::byte* element, std::size_t at, std::size_t bytes) {
    std::memcpy(element, in + at, bytes);
  });
}

}  // namespace pewter
