#include <fmt/core.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/shape.h"

namespace pewter::fast {
namespace {

/// Elements first, first + step ... up to but not last of the last axis.
array columns(const array& x,
              std::int64_t first,
              std::int64_t last,
              std::int64_t step,
              const StreamOrDevice& s) {
  Shape start(x.ndim(), 0);
  Shape stop = x.shape();
  Shape strides(x.ndim(), 1);
  start.back() = first;
  stop.back() = last;
  strides.back() = step;
  return slice(x, start, stop, strides, s);
}

void expect_rope(const array& x,
                 int dims,
                 const std::optional<float>& base,
                 const std::optional<array>& freqs) {
  if (x.ndim() < 2 || dims <= 0 || dims % 2 != 0 || dims > x.shape().back()) {
    throw std::invalid_argument(
        fmt::format("[rope] {} dims of the shape {}: needs rank 2 and an even number, at most the "
                    "last axis",
                    dims, graph::to_text(x.shape())));
  }
  if (base.has_value() == freqs.has_value()) {
    throw std::invalid_argument("[rope] give either base or freqs");
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
                    q.shape()[1] % k.shape()[1] == 0;
  if (!fits) {
    throw std::invalid_argument(fmt::format(
        "[scaled_dot_product_attention] shapes {}, {} and {}: needs (batch, heads, length, dim) "
        "with equal batches and dims, and heads of the first a multiple of the others'",
        graph::to_text(q.shape()), graph::to_text(k.shape()), graph::to_text(v.shape())));
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
    return where(mask, scores, array(-std::numeric_limits<float>::infinity(), scores.dtype()), s);
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
  const std::int64_t half = dims / 2;
  const std::int64_t length = x.shape()[x.ndim() - 2];
  const array position = multiply(
      arange(offset, static_cast<double>(offset + length), 1, Dtype::Float32, s), array(scale), s);
  // base^(-2 i / dims), as exp(-i * log(base) * 2 / dims).
  const array frequency =
      freqs ? reciprocal(astype(*freqs, Dtype::Float32, s), s)
            : exp(multiply(arange(0, static_cast<double>(half), 1, Dtype::Float32, s),
                           array(-std::log(*base) / static_cast<float>(half)), s),
                  s);
  const array angle = multiply(expand_dims(position, 1, s), frequency, s);
  const array cosine = cos(angle, s);
  const array sine = sin(angle, s);
  const array wide = astype(x, Dtype::Float32, s);
  const array first = traditional ? columns(wide, 0, dims, 2, s) : columns(wide, 0, half, 1, s);
  const array second = traditional ? columns(wide, 1, dims, 2, s) : columns(wide, half, dims, 1, s);
  const array turned_first = astype(first * cosine - second * sine, x.dtype(), s);
  const array turned_second = astype(first * sine + second * cosine, x.dtype(), s);
  array turned = turned_first;
  if (traditional) {
    Shape shape = x.shape();
    shape.back() = dims;
    turned = reshape(stack({turned_first, turned_second}, -1, s), shape, s);
  } else {
    turned = concatenate({turned_first, turned_second}, -1, s);
  }
  if (dims == x.shape().back()) {
    return turned;
  }
  return concatenate({turned, columns(x, dims, x.shape().back(), 1, s)}, -1, s);
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
  const Shape& shape = queries.shape();
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
    array whole = *mask;
    const Shape expected = {shape[0], shape[1], shape[2], keys.shape()[2]};
    whole = reshape(broadcast_to(whole, expected, s),
                    {shape[0], heads, repeats, shape[2], keys.shape()[2]}, s);
    scores = masked(scores, whole, s);
  }
  const array result = matmul(softmax(scores, -1, s), v, s);
  return astype(reshape(result, {shape[0], shape[1], shape[2], values.shape()[3]}, s), dtype, s);
}

}  // namespace pewter::fast
