#include <fmt/core.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/single_output.h"
#include "pewter/array/ops/trace.h"

namespace pewter::fast {
namespace {

constexpr std::int64_t kLanes = 32;
/// From so many queries on products of matrices are faster than a kernel that reads keys for each.
constexpr std::int64_t kManyQueries = 9;
/// As kernels/attention.metal has it.
constexpr std::int64_t kMaxKeys = 4096;
/// Matrices that one thread turns: enough to share an angle, few enough to leave work for others.
constexpr std::uint32_t kTurned = 8;

/// As kernels/attention.metal has it.
struct Attention {
  std::uint32_t repeats;
  std::uint32_t queries;
  std::uint32_t keys;
  std::uint32_t width;
  std::uint32_t value_width;
  std::uint32_t is_causal;
  float scale;
  std::int64_t query_strides[3];
  std::int64_t key_strides[3];
  std::int64_t value_strides[3];
};

/// As kernels/attention.metal has it.
struct Rope {
  std::uint32_t width;
  std::uint32_t half_dims;
  std::uint32_t length;
  std::uint32_t outer;
  std::uint32_t outer_of_group;
  std::uint32_t has_frequencies;
  float exponent;
  float scale;
  std::int32_t offset;
};

class AttendPrimitive final : public ops::SingleOutput {
 public:
  AttendPrimitive(float scale, bool is_causal) : scale_(scale), is_causal_(is_causal) {}
  std::string_view name() const override { return "scaled_dot_product_attention"; }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t) const override {
    return {scaled_dot_product_attention(inputs[0], inputs[1], inputs[2], scale_,
                                         is_causal_ ? "causal" : "")};
  }

 protected:
  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const graph::Node& q = *inputs[0];
    const graph::Node& k = *inputs[1];
    const graph::Node& v = *inputs[2];
    Attention p = {};
    p.repeats = static_cast<std::uint32_t>(q.shape[1] / k.shape[1]);
    p.queries = static_cast<std::uint32_t>(q.shape[2]);
    p.keys = static_cast<std::uint32_t>(k.shape[2]);
    p.width = static_cast<std::uint32_t>(q.shape[3]);
    p.value_width = static_cast<std::uint32_t>(v.shape[3]);
    p.is_causal = is_causal_ ? 1 : 0;
    p.scale = scale_;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      p.query_strides[axis] = q.strides[axis];
      p.key_strides[axis] = k.strides[axis];
      p.value_strides[axis] = v.strides[axis];
    }
    const auto kernel =
        ops::shipped_kernel("attention.metal", fmt::format("attend_{}", name_of(out.dtype)));
    ops::KernelCall(stream, *kernel)
        .input(q)
        .input(k)
        .input(v)
        .output(out)
        .value(p)
        .dispatch_groups(
            MTL::Size(static_cast<NS::UInteger>(q.shape[2]), static_cast<NS::UInteger>(q.shape[1]),
                      static_cast<NS::UInteger>(q.shape[0])),
            MTL::Size(kLanes, 1, 1));
  }

 private:
  float scale_;
  bool is_causal_;
};

class RopePrimitive final : public ops::SingleOutput {
 public:
  RopePrimitive(const Rope& rope, bool traditional) : rope_(rope), traditional_(traditional) {}
  std::string_view name() const override { return "rope"; }

 protected:
  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const auto kernel = ops::shipped_kernel(
        "attention.metal",
        fmt::format("rope_{}_{}", traditional_ ? "neighbours" : "halves", name_of(out.dtype)));
    const NS::UInteger columns = rope_.width - rope_.half_dims;
    const NS::UInteger width = columns >= 128 ? 128 : (columns + kLanes - 1) / kLanes * kLanes;
    ops::KernelCall(stream, *kernel)
        .input(*inputs[0])
        .input(*inputs[1])
        .output(out)
        .value(rope_)
        .dispatch_groups(MTL::Size((columns + width - 1) / width, rope_.length,
                                   (rope_.outer + rope_.outer_of_group - 1) / rope_.outer_of_group),
                         MTL::Size(width, 1, 1));
  }

 private:
  Rope rope_;
  bool traditional_;
};

Dtype floating(Dtype dtype) {
  return dtype < Dtype::Float16 ? Dtype::Float32 : dtype;
}

/// The array with the elements of its last axis one behind the other.
array with_unit_stride(const array& a, std::uint32_t stream) {
  const bool has = a.node().strides.back() == 1 || a.shape().back() == 1;
  return has && a.node().placement == Placement::Device ? a : ops::row_contiguous(a, stream);
}

void expect_rope(const array& x,
                 int dims,
                 const std::optional<float>& base,
                 const std::optional<array>& freqs) {
  if (x.dtype() == Dtype::Complex64 || (freqs && freqs->dtype() == Dtype::Complex64)) {
    throw std::invalid_argument("[rope] elements of type complex64");
  }
  if (x.ndim() < 2 || dims <= 0 || dims % 2 != 0 || dims > x.shape().back()) {
    throw std::invalid_argument(
        fmt::format("[rope] {} dims of the shape {}: needs rank 2 and an even number, at most the "
                    "last axis",
                    dims, graph::to_text(x.shape())));
  }
  if (base.has_value() == freqs.has_value()) {
    throw std::invalid_argument("[rope] give either base or freqs");
  }
  if (base && !(*base > 0)) {
    throw std::invalid_argument(
        fmt::format("[rope] a base of {}; it must be greater than 0", *base));
  }
  if (freqs && freqs->shape() != Shape{dims / 2}) {
    throw std::invalid_argument(fmt::format("[rope] freqs of shape {}; needs [{}]",
                                            graph::to_text(freqs->shape()), dims / 2));
  }
}

void expect_attention(const array& q, const array& k, const array& v) {
  const bool fits = q.ndim() == 4 && k.ndim() == 4 && v.ndim() == 4 &&
                    q.shape()[0] == k.shape()[0] && k.shape()[0] == v.shape()[0] &&
                    k.shape()[1] == v.shape()[1] && k.shape()[2] == v.shape()[2] &&
                    q.shape()[3] == k.shape()[3] && k.shape()[1] > 0 &&
                    q.shape()[1] % k.shape()[1] == 0 && k.shape()[2] > 0;
  if (!fits) {
    throw std::invalid_argument(fmt::format(
        "[scaled_dot_product_attention] shapes {}, {} and {}: needs (batch, heads, length, dim) "
        "with equal batches and dims, heads of the first a multiple of the others', and keys",
        graph::to_text(q.shape()), graph::to_text(k.shape()), graph::to_text(v.shape())));
  }
}

void expect_floating(Dtype dtype) {
  if (dtype < Dtype::Float16 || dtype == Dtype::Complex64) {
    throw std::invalid_argument(
        fmt::format("[scaled_dot_product_attention] elements of type {}; possible are float16, "
                    "bfloat16 and float32",
                    name_of(dtype)));
  }
}

void expect_mask(const array& mask, const Shape& scores) {
  if (mask.dtype() == Dtype::Complex64) {
    throw std::invalid_argument("[scaled_dot_product_attention] a mask of type complex64");
  }
  if (!graph::broadcasts_to(mask.shape(), scores)) {
    throw std::invalid_argument(
        fmt::format("[scaled_dot_product_attention] a mask of shape {} for scores of shape {}",
                    graph::to_text(mask.shape()), graph::to_text(scores)));
  }
}

/// Whether the query may look at the key: the last query sees all keys.
array causal_mask(std::int64_t queries, std::int64_t keys, const StreamOrDevice& s) {
  const array query = expand_dims(arange(static_cast<int>(queries), s), 1, s);
  const array key = arange(static_cast<int>(keys), s);
  return less_equal(key, add(query, array(static_cast<int>(keys - queries)), s), s);
}

array masked(const array& scores, const array& mask, const StreamOrDevice& s) {
  if (mask.dtype() == Dtype::Bool) {
    // Not infinite: a query that may look at nothing takes all values alike.
    return where(mask, scores, array(std::numeric_limits<float>::lowest(), scores.dtype()), s);
  }
  return add(scores, astype(mask, scores.dtype(), s), s);
}

}  // namespace

array rope(const array& x,
           int dims,
           bool traditional,
           std::optional<float> base,
           float scale,
           int offset,
           const std::optional<array>& freqs,
           StreamOrDevice s) {
  expect_rope(x, dims, base, freqs);
  ops::expect_joinable("rope", x);
  const std::uint32_t stream = ops::stream_number(s);
  const array input =
      ops::row_contiguous(ops::viewable(ops::convert(x, floating(x.dtype()), stream)), stream);
  const array frequencies =
      freqs
          ? ops::row_contiguous(ops::viewable(ops::convert(*freqs, Dtype::Float32, stream)), stream)
          : array(1.0F);
  const std::int64_t length = x.shape()[x.ndim() - 2];
  const std::int64_t matrix = length * x.shape().back();
  Rope rope = {};
  rope.width = static_cast<std::uint32_t>(x.shape().back());
  rope.half_dims = static_cast<std::uint32_t>(dims / 2);
  rope.length = static_cast<std::uint32_t>(length);
  rope.outer =
      matrix == 0 ? 0 : static_cast<std::uint32_t>(x.size() / static_cast<std::size_t>(matrix));
  rope.outer_of_group = kTurned;
  rope.has_frequencies = freqs ? 1 : 0;
  // base^(-2 i / dims), as exp(-i * log(base) * 2 / dims).
  rope.exponent = base ? -std::log(*base) / static_cast<float>(rope.half_dims) : 0;
  rope.scale = scale;
  rope.offset = offset;
  return array(graph::make_computed(x.shape(), input.dtype(),
                                    std::make_shared<RopePrimitive>(rope, traditional),
                                    {input.node_pointer(), frequencies.node_pointer()}, stream));
}

array scaled_dot_product_attention(const array& queries,
                                   const array& keys,
                                   const array& values,
                                   float scale,
                                   const std::string& mask_mode,
                                   const std::optional<array>& mask,
                                   StreamOrDevice s) {
  expect_attention(queries, keys, values);
  if (!mask_mode.empty() && mask_mode != "causal") {
    throw std::invalid_argument(fmt::format(
        "[scaled_dot_product_attention] mask mode '{}'; possible are causal and none", mask_mode));
  }
  const Dtype dtype = promote_types(promote_types(queries.dtype(), keys.dtype()), values.dtype());
  expect_floating(dtype);
  const Shape& shape = queries.shape();
  const Shape scores_shape = {shape[0], shape[1], shape[2], keys.shape()[2]};
  if (mask) {
    expect_mask(*mask, scores_shape);
  }
  const bool is_few =
      !mask && shape[2] < kManyQueries && keys.shape()[2] <= kMaxKeys && shape[3] > 0;
  if (is_few) {
    const std::uint32_t stream = ops::stream_number(s);
    const auto operand = [&](const array& a) {
      return with_unit_stride(ops::viewable(ops::convert(a, dtype, stream)), stream).node_pointer();
    };
    return array(
        graph::make_computed({shape[0], shape[1], shape[2], values.shape()[3]}, dtype,
                             std::make_shared<AttendPrimitive>(scale, mask_mode == "causal"),
                             {operand(queries), operand(keys), operand(values)}, stream));
  }
  const std::int64_t heads = keys.shape()[1];
  const std::int64_t repeats = shape[1] / heads;
  // Queries that share a head of keys stand beside each other.
  const array q = reshape(multiply(astype(queries, Dtype::Float32, s), array(scale), s),
                          {shape[0], heads, repeats, shape[2], shape[3]}, s);
  const array k = expand_dims(astype(keys, Dtype::Float32, s), 2, s);
  const array v = expand_dims(astype(values, Dtype::Float32, s), 2, s);
  array scores = matmul(q, swapaxes(k, -1, -2, s), s);
  if (mask_mode == "causal") {
    scores = masked(scores, causal_mask(shape[2], keys.shape()[2], s), s);
  }
  if (mask) {
    const array whole = reshape(broadcast_to(*mask, scores_shape, s),
                                {shape[0], heads, repeats, shape[2], keys.shape()[2]}, s);
    scores = masked(scores, whole, s);
  }
  const array result = matmul(softmax(scores, -1, s), v, s);
  return astype(reshape(result, {shape[0], shape[1], shape[2], values.shape()[3]}, s), dtype, s);
}

}  // namespace pewter::fast
