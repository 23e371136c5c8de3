#include "pewter/array/ops/elementwise.h"

#include <fmt/core.h>
#include <pewter/ops.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "pewter/array/evaluation/iteration.h"
#include "pewter/array/fusion/kernel_structure.h"
#include "pewter/array/graph/constant.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/trace.h"
#include "pewter/array/ops/upload.h"

namespace pewter::ops {
namespace {

constexpr auto kRows = [] {
#define PEWTER_UNARY(name, rule, msl, text) Elementwise{#name, 1, Rule::rule, msl, text, 0},
#define PEWTER_BINARY(name, rule, msl, text) Elementwise{#name, 2, Rule::rule, msl, text, 0},
  std::array rows = {
#include <pewter/elementwise.def>
      Elementwise{"astype", 1, Rule::Conversion, "converted<$R>($a)", "conversion", 0},
      Elementwise{"where", 3, Rule::Choice, "$a ? $b : $c", "choice", 0},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].number = static_cast<std::uint16_t>(i);
  }
  return rows;
}();

consteval const Elementwise& row_named(std::string_view name) {
  std::size_t i = 0;
  while (kRows[i].name != name) {
    ++i;
  }
  return kRows[i];
}

constexpr const Elementwise& kConversionRow = row_named("astype");
constexpr const Elementwise& kChoiceRow = row_named("where");

class ElementwisePrimitive final : public graph::Primitive {
 public:
  explicit ElementwisePrimitive(const Elementwise* row) : row_(row) {}
  std::string_view name() const override { return row_->name; }
  const Elementwise* elementwise() const override { return row_; }
  void encode(runtime::Stream&,
              std::span<const graph::NodePointer>,
              std::span<graph::Node* const>) const override {
    throw std::logic_error(fmt::format("{} has no kernel of its own", row_->name));
  }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override {
    std::vector<graph::NodePointer> operands;
    for (const array& input : inputs) {
      operands.push_back(input.node_pointer());
    }
    const Dtype result = row_->rule == Rule::Choice
                             ? inputs[1].dtype()
                             : elementwise_types(*row_, inputs[0].dtype()).result;
    return {apply_row(*row_, std::move(operands), result, stream)};
  }

 private:
  const Elementwise* row_;
};

/// Knows what comes out, which its operands do not tell.
class ConversionPrimitive final : public graph::Primitive {
 public:
  explicit ConversionPrimitive(Dtype to) : to_(to) {}
  std::string_view name() const override { return kConversionRow.name; }
  const Elementwise* elementwise() const override { return &kConversionRow; }
  void encode(runtime::Stream&,
              std::span<const graph::NodePointer>,
              std::span<graph::Node* const>) const override {
    throw std::logic_error("astype has no kernel of its own");
  }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override {
    return {apply_row(kConversionRow, {inputs[0].node_pointer()}, to_, stream)};
  }

 private:
  Dtype to_;
};

/// Without a count of owners: the primitives of rows live as long as the process.
std::shared_ptr<const graph::Primitive> unowned(const graph::Primitive* primitive) {
  return {std::shared_ptr<const void>(), primitive};
}

const graph::Primitive* primitive_of(const Elementwise& row, Dtype result) {
  static const auto* const rows = [] {
    auto* const made = new std::vector<ElementwisePrimitive>;
    for (const Elementwise& entry : kRows) {
      made->emplace_back(&entry);
    }
    return made;
  }();
  static const auto* const conversions = [] {
    auto* const made = new std::vector<ConversionPrimitive>;
    for (int i = 0; i <= static_cast<int>(Dtype::Complex64); ++i) {
      made->emplace_back(static_cast<Dtype>(i));
    }
    return made;
  }();
  if (row.rule == Rule::Conversion) {
    return &(*conversions)[static_cast<std::size_t>(result)];
  }
  return &(*rows)[row.number];
}

bool is_integer(Dtype dtype) {
  return dtype >= Dtype::UInt8 && dtype <= Dtype::Int64;
}

std::invalid_argument refused(const Elementwise& row, Dtype dtype, const char* possible) {
  return std::invalid_argument(
      fmt::format("[{}] elements of type {}; possible are {}", row.name, name_of(dtype), possible));
}

Shape common_shape(const Elementwise& row, const std::vector<graph::NodePointer>& operands) {
  // Mostly all have one shape, or are numbers.
  const Shape* shape = &operands[0]->shape;
  for (const auto& operand : operands) {
    shape = operand->shape.size() > shape->size() ? &operand->shape : shape;
  }
  bool differ = false;
  for (const auto& operand : operands) {
    differ = differ || (!operand->shape.empty() && operand->shape != *shape);
  }
  if (!differ) {
    return *shape;
  }
  Shape result = operands[0]->shape;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    result = graph::broadcast_shape(row.name, result, operands[i]->shape);
  }
  return result;
}

array unary(const Elementwise& row, const array& a, const StreamOrDevice& s) {
  const std::uint32_t stream = stream_number(s);
  const ElementwiseTypes types = elementwise_types(row, a.dtype());
  return apply_row(row, {convert(a, types.operand, stream).node_pointer()}, types.result, stream);
}

array binary(const Elementwise& row, const array& a, const array& b, const StreamOrDevice& s) {
  const std::uint32_t stream = stream_number(s);
  const ElementwiseTypes types = elementwise_types(row, promote_types(a.dtype(), b.dtype()));
  std::vector<graph::NodePointer> operands;
  operands.reserve(2);
  operands.push_back(convert(a, types.operand, stream).node_pointer());
  operands.push_back(convert(b, types.operand, stream).node_pointer());
  return apply_row(row, std::move(operands), types.result, stream);
}

}  // namespace

std::span<const Elementwise> elementwise_table() {
  return std::span(kRows);
}

const Elementwise& conversion_row() {
  return kConversionRow;
}

const Elementwise& choice_row() {
  return kChoiceRow;
}

ElementwiseTypes elementwise_types(const Elementwise& row, Dtype promoted) {
  const bool is_complex = promoted == Dtype::Complex64;
  const Dtype floating = promoted < Dtype::Float16 ? Dtype::Float32 : promoted;
  switch (row.rule) {
    case Rule::NoBool:
      if (promoted == Dtype::Bool) {
        throw refused(row, promoted, "all types but bool");
      }
      return {promoted, promoted};
    case Rule::Real:
      if (is_complex) {
        throw refused(row, promoted, "all types but complex64");
      }
      return {promoted, promoted};
    case Rule::Magnitude:
    case Rule::Part:
      return {promoted, is_complex ? Dtype::Float32 : promoted};
    case Rule::Float:
      return {floating, floating};
    case Rule::RealFloat:
      if (is_complex) {
        throw refused(row, promoted, "all types but complex64");
      }
      return {floating, floating};
    case Rule::Bits:
      if (promoted != Dtype::Bool && !is_integer(promoted)) {
        throw refused(row, promoted, "bool and the integer types");
      }
      return {promoted, promoted};
    case Rule::Shift:
      if (!is_integer(promoted)) {
        throw refused(row, promoted, "the integer types");
      }
      return {promoted, promoted};
    case Rule::Order:
      if (is_complex) {
        throw refused(row, promoted, "all types but complex64");
      }
      return {promoted, Dtype::Bool};
    case Rule::Compare:
    case Rule::Predicate:
      return {promoted, Dtype::Bool};
    case Rule::Logical:
      return {Dtype::Bool, Dtype::Bool};
    case Rule::Any:
    case Rule::Conversion:
    case Rule::Choice:
      break;
  }
  return {promoted, promoted};
}

void expect_joinable(const char* origin,
                     const Shape& shape,
                     const std::vector<graph::NodePointer>& operands) {
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (shape.size() <= fusion::kMaxAxes || is_empty) {
    return;
  }
  std::vector<graph::Node*> nodes;
  for (const auto& operand : operands) {
    nodes.push_back(operand.get());
  }
  evaluation::Iteration().plan(shape, graph::element_count(shape, 1), nodes, origin);
}

void expect_joinable(const char* origin, const array& a) {
  if (a.ndim() > fusion::kMaxAxes) {
    expect_joinable(origin, a.shape(), {a.node_pointer()});
  }
}

array apply_row(const Elementwise& row,
                std::vector<graph::NodePointer> operands,
                Dtype result,
                std::uint32_t stream) {
  Shape shape = common_shape(row, operands);
  expect_joinable(row.name, shape, operands);
  return array(graph::make_computed(std::move(shape), result, unowned(primitive_of(row, result)),
                                    std::move(operands), stream));
}

array usable(const array& a) {
  const graph::Node& node = a.node();
  if (node.placement == Placement::Host && !node.is_constant() && !node.is_placeholder) {
    return uploaded(a);
  }
  return a;
}

array viewable(const array& a) {
  const bool is_on_host = a.node().placement == Placement::Host && !a.node().is_placeholder;
  return is_on_host ? uploaded(a) : a;
}

array convert(const array& a, Dtype dtype, std::uint32_t stream) {
  if (a.dtype() == dtype) {
    return usable(a);
  }
  const graph::Node& node = a.node();
  if (node.is_constant()) {
    auto converted = graph::make_node(node.shape, dtype, Placement::Host);
    graph::convert_element(node.first(), node.dtype, converted->first(), dtype);
    return array(std::move(converted));
  }
  return apply_row(kConversionRow, {usable(a).node_pointer()}, dtype, stream);
}

}  // namespace pewter::ops

namespace pewter {

#define PEWTER_UNARY(name, rule, msl, text)         \
  array name(const array& a, StreamOrDevice s) {    \
    return ops::unary(ops::row_named(#name), a, s); \
  }
#define PEWTER_BINARY(name, rule, msl, text)                     \
  array name(const array& a, const array& b, StreamOrDevice s) { \
    return ops::binary(ops::row_named(#name), a, b, s);          \
  }
#include <pewter/elementwise.def>

array astype(const array& a, Dtype dtype, StreamOrDevice s) {
  return ops::convert(a, dtype, ops::stream_number(s));
}

array where(const array& condition, const array& x, const array& y, StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  const Dtype result = promote_types(x.dtype(), y.dtype());
  return ops::apply_row(ops::choice_row(),
                        {ops::convert(condition, Dtype::Bool, stream).node_pointer(),
                         ops::convert(x, result, stream).node_pointer(),
                         ops::convert(y, result, stream).node_pointer()},
                        result, stream);
}

array operand(const Scalar& number, Dtype beside) {
  if (std::holds_alternative<std::complex<float>>(number)) {
    return array(number, Dtype::Complex64);
  }
  if (std::holds_alternative<double>(number)) {
    return array(number, beside >= Dtype::Float16 ? beside : Dtype::Float32);
  }
  if (beside != Dtype::Bool || std::holds_alternative<bool>(number)) {
    return array(number, beside);
  }
  if (const auto* const large = std::get_if<std::uint64_t>(&number)) {
    const bool is_signed = std::in_range<std::int64_t>(*large);
    return is_signed ? operand(static_cast<std::int64_t>(*large), beside)
                     : array(number, Dtype::UInt64);
  }
  const bool is_small = std::in_range<std::int32_t>(std::get<std::int64_t>(number));
  return array(number, is_small ? Dtype::Int32 : Dtype::Int64);
}

}  // namespace pewter
