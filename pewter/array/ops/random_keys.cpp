#include <fmt/core.h>
#include <pewter/ops.h>
#include <pewter/random.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

#include "pewter/array/graph/constant.h"
#include "pewter/array/graph/node.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/threefry.h"
#include "pewter/array/ops/trace.h"

namespace pewter::random {
namespace {

/// The calling thread's default key. Until it is seeded it comes from the system's entropy.
ops::KeyWords& default_key() {
  thread_local ops::KeyWords key = [] {
    std::random_device source;
    return ops::KeyWords{source(), source()};
  }();
  return key;
}

array key_array(const ops::KeyWords& words, Placement placement) {
  return array(std::vector<std::uint32_t>(words.begin(), words.end()), placement);
}

/// What split() gives as its second half; the first becomes the default.
array next_default_key() {
  ops::KeyWords& key = default_key();
  const ops::KeyWords first = ops::threefry(key, {0, 2});
  const ops::KeyWords second = ops::threefry(key, {1, 3});
  key = {first[0], second[0]};
  return key_array({first[1], second[1]}, Placement::Host);
}

array checked_key(const char* origin, const Key& key, StreamOrDevice s) {
  if (!key) {
    return next_default_key();
  }
  if (key->dtype() != Dtype::UInt32 || key->shape() != Shape{2}) {
    throw std::invalid_argument(
        fmt::format("[random::{}] a key of {}; keys are uint32[2]", origin, key->description()));
  }
  return contiguous(*key, s);
}

bool is_floating(Dtype dtype) {
  return dtype == Dtype::Float32 || dtype == Dtype::Float16 || dtype == Dtype::BFloat16;
}

/// Whether a type of whole numbers has this one.
bool has_number(Dtype dtype, std::int64_t number) {
  switch (dtype) {
    case Dtype::Bool:
      return number == 0 || number == 1;
    case Dtype::UInt8:
      return std::in_range<std::uint8_t>(number);
    case Dtype::UInt16:
      return std::in_range<std::uint16_t>(number);
    case Dtype::UInt32:
      return std::in_range<std::uint32_t>(number);
    case Dtype::UInt64:
      return number >= 0;
    case Dtype::Int8:
      return std::in_range<std::int8_t>(number);
    case Dtype::Int16:
      return std::in_range<std::int16_t>(number);
    case Dtype::Int32:
      return std::in_range<std::int32_t>(number);
    default:
      return true;
  }
}

void expect_floating(const char* origin, Dtype dtype) {
  if (!is_floating(dtype)) {
    throw std::invalid_argument(
        fmt::format("[random::{}] type {}; possible are float32, float16 and bfloat16", origin,
                    name_of(dtype)));
  }
}

std::string tag_of(const char* origin) {
  return fmt::format("random::{}", origin);
}

void expect_broadcast(const char* origin, const Shape& from, const Shape& shape) {
  if (!graph::broadcasts_to(from, shape)) {
    throw std::invalid_argument(fmt::format("[random::{}] the shape {} does not broadcast to {}",
                                            origin, graph::to_text(from), graph::to_text(shape)));
  }
}

int checked_axis(const array& logits, int axis) {
  const int rank = static_cast<int>(logits.ndim());
  const int placed = axis < 0 ? axis + rank : axis;
  if (placed < 0 || placed >= rank) {
    throw std::invalid_argument(
        fmt::format("[random::categorical] axis {} of logits of rank {}", axis, rank));
  }
  if (logits.shape()[static_cast<std::size_t>(placed)] == 0) {
    throw std::invalid_argument(fmt::format(
        "[random::categorical] nothing to choose from along axis {} of logits of shape {}", axis,
        graph::to_text(logits.shape())));
  }
  return placed;
}

Shape without(Shape shape, int axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

Shape shape_of_both(const char* origin, const array& a, const array& b) {
  return graph::broadcast_shape(tag_of(origin).c_str(), a.shape(), b.shape());
}

array bits_for(
    const char* origin, const Shape& shape, Dtype dtype, const Key& key, StreamOrDevice s) {
  return ops::threefry_bits(checked_key(origin, key, s), shape, dtype, ops::stream_number(s));
}

/// From 0 up to but not 1.
array unit_for(
    const char* origin, const Shape& shape, Dtype dtype, const Key& key, StreamOrDevice s) {
  expect_floating(origin, dtype);
  return ops::threefry_uniform(checked_key(origin, key, s), shape, dtype, 0, 1,
                               ops::stream_number(s));
}

/// As MLX has it: what lies between the ends may be rounded to `high`.
array between(const array& low, const array& high, const array& unit, StreamOrDevice s) {
  return add(multiply(subtract(high, low, s), unit, s), low, s);
}

/// Whether the distance between finite ends is not a number of their type, or may not be: the host
/// knows it of numbers alone.
bool may_be_too_far(const array& low, const array& high) {
  const graph::Node& from = low.node();
  const graph::Node& to = high.node();
  if (!from.is_constant() || !to.is_constant()) {
    return true;
  }
  const double distance =
      graph::read_element(to.first(), to.dtype) - graph::read_element(from.first(), from.dtype);
  const array rounded(distance, low.dtype());
  return std::isinf(graph::read_element(rounded.node().first(), low.dtype()));
}

/// The same without the distance between the ends, where that would be infinite.
array between_far_ends(
    const array& sample, const array& low, const array& high, const array& unit, StreamOrDevice s) {
  const auto wide = [&](const array& a) { return astype(a, Dtype::Float32, s); };
  const array share = wide(unit);
  const array from_low = multiply(wide(low), subtract(array(1.0F), share, s), s);
  const array weighted = add(from_low, multiply(wide(high), share, s), s);
  const array are_finite = logical_and(isfinite(low, s), isfinite(high, s), s);
  const array is_too_far = logical_and(are_finite, isinf(subtract(high, low, s), s), s);
  return where(is_too_far, astype(weighted, sample.dtype(), s), sample, s);
}

array gumbel_for(
    const char* origin, const Shape& shape, Dtype dtype, const Key& key, StreamOrDevice s) {
  const auto negative_log = [&](const array& x) { return negative(log(x, s), s); };
  return negative_log(negative_log(unit_for(origin, shape, dtype, key, s)));
}

/// Adds Gumbel noise and takes the greatest: as likely as softmax says.
array sampled(const array& logits, int axis, const Shape& shape, const Key& key, StreamOrDevice s) {
  const std::size_t place = static_cast<std::size_t>(axis) + shape.size() + 1 - logits.ndim();
  Shape noise = shape;
  noise.insert(noise.begin() + static_cast<std::ptrdiff_t>(place),
               logits.shape()[static_cast<std::size_t>(axis)]);
  const array noisy = add(gumbel_for("categorical", noise, Dtype::Float32, key, s), logits, s);
  return argmax(noisy, static_cast<int>(place), false, s);
}

}  // namespace

array key(std::uint64_t seed) {
  return key_array({static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)},
                   Placement::Device);
}

void seed(std::uint64_t seed) {
  default_key() = {static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)};
}

std::pair<array, array> split(const array& key, StreamOrDevice s) {
  const array keys = split(key, 2, s);
  return {reshape(slice(keys, {0, 0}, {1, 2}, s), {2}, s),
          reshape(slice(keys, {1, 0}, {2, 2}, s), {2}, s)};
}

array split(const array& key, int count, StreamOrDevice s) {
  if (count < 0) {
    throw std::invalid_argument(
        fmt::format("[random::split] {} keys; at least 0 are possible", count));
  }
  return bits_for("split", {count, 2}, Dtype::UInt32, key, s);
}

array bits(const Shape& shape, int width, const Key& key, StreamOrDevice s) {
  if (width != 1 && width != 2 && width != 4) {
    throw std::invalid_argument(
        fmt::format("[random::bits] words of {} bytes; possible are 1, 2 and 4", width));
  }
  const Dtype dtype = width == 4 ? Dtype::UInt32 : width == 2 ? Dtype::UInt16 : Dtype::UInt8;
  return bits_for("bits", shape, dtype, key, s);
}

array uniform(const array& low,
              const array& high,
              const Shape& shape,
              Dtype dtype,
              const Key& key,
              StreamOrDevice s) {
  expect_broadcast("uniform", shape_of_both("uniform", low, high), shape);
  const array unit = unit_for("uniform", shape, dtype, key, s);
  const array from = astype(low, dtype, s);
  const array to = astype(high, dtype, s);
  array sample = between(from, to, unit, s);
  if (may_be_too_far(from, to)) {
    sample = between_far_ends(sample, from, to, unit, s);
  }
  // `low` has only what is rounded down to it: with what is rounded up to `high` it is as likely as
  // its neighbours.
  return where(equal(sample, to, s), from, sample, s);
}

array uniform(const Shape& shape, Dtype dtype, const Key& key, StreamOrDevice s) {
  return unit_for("uniform", shape, dtype, key, s);
}

array normal(const Shape& shape,
             Dtype dtype,
             float mean,
             float deviation,
             const Key& key,
             StreamOrDevice s) {
  if (dtype == Dtype::Complex64) {
    Shape parts = shape;
    parts.push_back(2);
    // The mean is real; both parts together have the deviation.
    const float of_part = deviation * std::sqrt(0.5F);
    const array samples =
        view(normal(parts, Dtype::Float32, 0, of_part, key, s), Dtype::Complex64, s);
    return add(squeeze(samples, -1, s), array(mean), s);
  }
  expect_floating("normal", dtype);
  return ops::threefry_normal(checked_key("normal", key, s), shape, dtype, mean, deviation,
                              ops::stream_number(s));
}

array normal(const Shape& shape,
             Dtype dtype,
             const array& mean,
             const array& deviation,
             const Key& key,
             StreamOrDevice s) {
  expect_floating("normal", dtype);
  expect_broadcast("normal", shape_of_both("normal", mean, deviation), shape);
  const array samples = normal(shape, dtype, 0, 1, key, s);
  return add(multiply(samples, astype(deviation, dtype, s), s), astype(mean, dtype, s), s);
}

array truncated_normal(const array& lower,
                       const array& upper,
                       const Shape& shape,
                       Dtype dtype,
                       const Key& key,
                       StreamOrDevice s) {
  expect_broadcast("truncated_normal", shape_of_both("truncated_normal", lower, upper), shape);
  const array unit = unit_for("truncated_normal", shape, dtype, key, s);
  const array root(std::sqrt(2.0F), dtype);
  const array low = astype(lower, dtype, s);
  const array high = astype(upper, dtype, s);
  const array u = between(erf(divide(low, root, s), s), erf(divide(high, root, s), s), unit, s);
  return maximum(minimum(multiply(root, erfinv(u, s), s), high, s), low, s);
}

array truncated_normal(
    const array& lower, const array& upper, Dtype dtype, const Key& key, StreamOrDevice s) {
  return truncated_normal(lower, upper, shape_of_both("truncated_normal", lower, upper), dtype, key,
                          s);
}

array randint(const array& low,
              const array& high,
              const Shape& shape,
              Dtype dtype,
              const Key& key,
              StreamOrDevice s) {
  if (is_floating(dtype) || dtype == Dtype::Complex64) {
    throw std::invalid_argument(fmt::format(
        "[random::randint] type {}; possible are bool and the integer types", name_of(dtype)));
  }
  expect_broadcast("randint", shape_of_both("randint", low, high), shape);
  const array unit = unit_for("randint", shape, Dtype::Float32, key, s);
  const array u = between(astype(low, Dtype::Float32, s), astype(high, Dtype::Float32, s), unit, s);
  // The ends may not be numbers of float32; what comes out must be between them all the same.
  const array last = astype(subtract(high, array(1, high.dtype()), s), dtype, s);
  return maximum(minimum(astype(floor(u, s), dtype, s), last, s), astype(low, dtype, s), s);
}

array randint(std::int64_t low,
              std::int64_t high,
              const Shape& shape,
              Dtype dtype,
              const Key& key,
              StreamOrDevice s) {
  if (low < high && (!has_number(dtype, low) || !has_number(dtype, high - 1))) {
    throw std::invalid_argument(
        fmt::format("[random::randint] numbers from {} to {}, which type {} does not have", low,
                    high - 1, name_of(dtype)));
  }
  return randint(array(low), array(high), shape, dtype, key, s);
}

array bernoulli(const array& p, const Shape& shape, const Key& key, StreamOrDevice s) {
  if (!is_floating(p.dtype())) {
    throw std::invalid_argument(fmt::format(
        "[random::bernoulli] probabilities of type {}; possible are the floating-point types",
        name_of(p.dtype())));
  }
  expect_broadcast("bernoulli", p.shape(), shape);
  // A probability of 1 must be above every word.
  const float above_all = std::nextafter(0x1p32F, std::numeric_limits<float>::max());
  return less(bits_for("bernoulli", shape, Dtype::UInt32, key, s), multiply(p, array(above_all), s),
              s);
}

array bernoulli(const array& p, const Key& key, StreamOrDevice s) {
  return bernoulli(p, p.shape(), key, s);
}

array bernoulli(float p, const Shape& shape, const Key& key, StreamOrDevice s) {
  return bernoulli(array(p), shape, key, s);
}

array gumbel(const Shape& shape, Dtype dtype, const Key& key, StreamOrDevice s) {
  return gumbel_for("gumbel", shape, dtype, key, s);
}

array categorical(const array& logits, int axis, const Key& key, StreamOrDevice s) {
  const int placed = checked_axis(logits, axis);
  return sampled(logits, placed, without(logits.shape(), placed), key, s);
}

array categorical(const array& logits, int axis, int count, const Key& key, StreamOrDevice s) {
  const int placed = checked_axis(logits, axis);
  if (count < 0) {
    throw std::invalid_argument(
        fmt::format("[random::categorical] {} samples; at least 0 are possible", count));
  }
  Shape shape = without(logits.shape(), placed);
  shape.push_back(count);
  return sampled(expand_dims(logits, -1, s), placed, shape, key, s);
}

array categorical(
    const array& logits, int axis, const Shape& shape, const Key& key, StreamOrDevice s) {
  const int placed = checked_axis(logits, axis);
  expect_broadcast("categorical", without(logits.shape(), placed), shape);
  return sampled(logits, placed, shape, key, s);
}

array permutation(const array& x, int axis, const Key& key, StreamOrDevice s) {
  const int placed = axis < 0 ? axis + static_cast<int>(x.ndim()) : axis;
  if (placed < 0 || placed >= static_cast<int>(x.ndim())) {
    throw std::invalid_argument(
        fmt::format("[random::permutation] axis {} of {}", axis, x.description()));
  }
  const std::int64_t length = x.shape()[static_cast<std::size_t>(placed)];
  graph::expect_countable("random::permutation", length);
  return take(x, permutation(static_cast<int>(length), key, s), placed, s);
}

array permutation(int count, const Key& key, StreamOrDevice s) {
  if (count < 0) {
    throw std::invalid_argument(
        fmt::format("[random::permutation] {} numbers; at least 0 are possible", count));
  }
  return argsort(bits_for("permutation", {count}, Dtype::UInt32, key, s), 0, s);
}

}  // namespace pewter::random
