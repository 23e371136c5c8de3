#include <fmt/core.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/trace.h"

namespace pewter {
namespace {

constexpr std::uint32_t kHasWeight = 1;
constexpr std::uint32_t kHasBias = 2;

/// As kernels/rows.metal has it.
struct Rows {
  std::uint32_t length;
  std::uint32_t parameter_flags;
  float epsilon;
  std::uint32_t count;
  std::uint32_t per_group;
};

/// An operation on each row; the inputs after the first are what the kernel takes besides.
class RowsPrimitive final : public graph::Primitive {
 public:
  RowsPrimitive(const char* kernel, float epsilon, std::uint32_t flags)
      : kernel_(kernel), epsilon_(epsilon), flags_(flags) {}
  std::string_view name() const override { return kernel_; }
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const override {
    graph::Node& out = *outputs[0];
    const graph::Node& in = *inputs[0];
    // A row is read before any of it is written.
    const bool can_reuse = in.base == nullptr && !in.is_shared_memory && inputs[0].use_count() == 1;
    if (can_reuse) {
      out.buffer = in.buffer;
    } else {
      graph::allocate_memory(out);
    }
    if (out.size == 0) {
      return;
    }
    const auto kernel =
        ops::shipped_kernel("rows.metal", fmt::format("{}_{}", kernel_, name_of(out.dtype)));
    const auto length = static_cast<std::size_t>(out.shape.back());
    const std::size_t count = out.size / length;
    // Few rows go to a group each, so that there is work for every thread.
    const std::size_t per_group = std::clamp<std::size_t>(count / 64, 1, 16);
    const Rows rows = {static_cast<std::uint32_t>(length), flags_, epsilon_,
                       static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(per_group)};
    ops::KernelCall call(stream, *kernel);
    for (const graph::NodePointer& input : inputs) {
      call.input(*input);
    }
    call.output(out).value(rows).dispatch_groups(
        MTL::Size((count + per_group - 1) / per_group, 1, 1), MTL::Size(32, 1, 1));
  }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override {
    return {make(kernel_, epsilon_, flags_, inputs, stream)};
  }

  static array make(const char* kernel,
                    float epsilon,
                    std::uint32_t flags,
                    const std::vector<array>& inputs,
                    std::uint32_t stream) {
    const std::int64_t length = inputs[0].shape().back();
    graph::expect_dispatchable(kernel, length);
    graph::expect_dispatchable(
        kernel, length == 0 ? 0 : static_cast<std::int64_t>(inputs[0].size()) / length);
    std::vector<graph::NodePointer> nodes;
    for (const array& input : inputs) {
      nodes.push_back(input.node().is_constant()
                          ? input.node_pointer()
                          : ops::row_contiguous(input, stream).node_pointer());
    }
    return array(graph::make_computed(inputs[0].shape(), inputs[0].dtype(),
                                      std::make_shared<RowsPrimitive>(kernel, epsilon, flags),
                                      std::move(nodes), stream));
  }

 private:
  const char* kernel_;
  float epsilon_;
  std::uint32_t flags_;
};

void expect_parameter(const char* origin,
                      const char* what,
                      const array& x,
                      const std::optional<array>& parameter) {
  if (parameter && (parameter->ndim() != 1 || parameter->shape()[0] != x.shape().back())) {
    throw std::invalid_argument(fmt::format("[{}] {} of shape {} for x of shape {}; needs [{}]",
                                            origin, what, graph::to_text(parameter->shape()),
                                            graph::to_text(x.shape()), x.shape().back()));
  }
  if (parameter && parameter->dtype() == Dtype::Complex64) {
    throw std::invalid_argument(fmt::format("[{}] {} of type complex64", origin, what));
  }
}

Dtype checked_norm_type(const char* origin, const array& x) {
  if (x.ndim() == 0) {
    throw std::invalid_argument(fmt::format("[{}] an array of rank 0; needs 1", origin));
  }
  if (x.dtype() == Dtype::Complex64) {
    throw std::invalid_argument(fmt::format("[{}] elements of type complex64", origin));
  }
  return x.dtype() < Dtype::Float16 ? Dtype::Float32 : x.dtype();
}

/// The given axes moved to the end and joined, and the way back.
struct MovedAxes {
  Axes order;
  Axes back;
};

MovedAxes moved_to_end(const std::vector<std::size_t>& axes, std::size_t rank) {
  MovedAxes moved;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) {
      moved.order.push_back(static_cast<int>(axis));
    }
  }
  for (const std::size_t axis : axes) {
    moved.order.push_back(static_cast<int>(axis));
  }
  moved.back.resize(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    moved.back[static_cast<std::size_t>(moved.order[i])] = static_cast<int>(i);
  }
  return moved;
}

}  // namespace

array softmax(const array& a, const Axes& axes, StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  const Dtype dtype = checked_norm_type("softmax", a.ndim() == 0 ? reshape(a, {1}, s) : a);
  const std::vector<std::size_t> positions = graph::checked_axes("softmax", axes, a.ndim());
  ops::expect_joinable("softmax", a);
  const array x = ops::viewable(ops::convert(a, dtype, stream));
  if (a.size() == 0) {
    return x;
  }
  if (positions.empty()) {
    return ones_like(x, s);
  }
  if (positions.size() == 1 && positions[0] + 1 == a.ndim()) {
    return RowsPrimitive::make("softmax", 0, 0, {x}, stream);
  }
  const MovedAxes moved = moved_to_end(positions, a.ndim());
  const array rows = transpose(x, moved.order, s);
  ops::expect_joinable("softmax", rows);
  const Shape& shape = rows.shape();
  std::int64_t length = 1;
  for (const std::size_t axis : positions) {
    length *= a.shape()[axis];
  }
  const array flat = reshape(rows, {-1, length}, s);
  const array result = RowsPrimitive::make("softmax", 0, 0, {flat}, stream);
  return transpose(reshape(result, shape, s), moved.back, s);
}

array softmax(const array& a, int axis, StreamOrDevice s) {
  return softmax(a, Axes{axis}, s);
}

array softmax(const array& a, StreamOrDevice s) {
  Axes axes;
  for (std::size_t axis = 0; axis < a.ndim(); ++axis) {
    axes.push_back(static_cast<int>(axis));
  }
  return softmax(a, axes, s);
}

namespace fast {

array rms_norm(const array& x, const std::optional<array>& weight, float eps, StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  Dtype dtype = checked_norm_type("rms_norm", x);
  expect_parameter("rms_norm", "weight", x, weight);
  ops::expect_joinable("rms_norm", x);
  dtype = weight ? promote_types(dtype, weight->dtype()) : dtype;
  const array input = ops::viewable(ops::convert(x, dtype, stream));
  const array parameter = weight ? ops::convert(*weight, dtype, stream) : array(0, dtype);
  return RowsPrimitive::make("rms_norm", eps, weight ? kHasWeight : 0, {input, parameter}, stream);
}

array layer_norm(const array& x,
                 const std::optional<array>& weight,
                 const std::optional<array>& bias,
                 float eps,
                 StreamOrDevice s) {
  const std::uint32_t stream = ops::stream_number(s);
  Dtype dtype = checked_norm_type("layer_norm", x);
  expect_parameter("layer_norm", "weight", x, weight);
  expect_parameter("layer_norm", "bias", x, bias);
  ops::expect_joinable("layer_norm", x);
  dtype = weight ? promote_types(dtype, weight->dtype()) : dtype;
  dtype = bias ? promote_types(dtype, bias->dtype()) : dtype;
  const auto converted = [&](const std::optional<array>& parameter) {
    return parameter ? ops::convert(*parameter, dtype, stream) : array(0, dtype);
  };
  const std::uint32_t flags = (weight ? kHasWeight : 0) | (bias ? kHasBias : 0);
  return RowsPrimitive::make(
      "layer_norm", eps, flags,
      {ops::viewable(ops::convert(x, dtype, stream)), converted(weight), converted(bias)}, stream);
}

}  // namespace fast
}  // namespace pewter
