#include "pewter/array/ops/random.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "pewter/array/graph/node.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/runtime/launch.h"

namespace pewter::ops {
namespace {

/// As kernels/random.metal has it.
struct alignas(16) Position {
  runtime::PhiloxCounter counter;
  runtime::PhiloxKey key;
};
static_assert(sizeof(Position) == 32);

template <typename T>
runtime::BytesArgument bytes_of(const T& value) {
  runtime::BytesArgument argument;
  argument.bytes.resize(sizeof(T));
  std::memcpy(argument.bytes.data(), &value, sizeof(T));
  return argument;
}

bool is_floating(Dtype dtype) {
  return dtype == Dtype::Float32 || dtype == Dtype::Float16 || dtype == Dtype::BFloat16;
}

void expect_floating(const char* origin, Dtype dtype) {
  if (!is_floating(dtype)) {
    throw std::invalid_argument(fmt::format(
        "[{}] type {}; possible are float32, float16 and bfloat16", origin, name_of(dtype)));
  }
}

/// What fill() makes.
struct Fill {
  const Shape& shape;
  Dtype dtype;
  std::string kernel;
  std::size_t values_per_block = 4;
  /// What buffer 1 holds instead of the number of elements.
  std::optional<std::uint64_t> number = {};
};

/// Fills an array by a kernel whose buffers are the array, a number, the position and, unless it is
/// empty, `parameter`.
array fill(runtime::Generator& generator,
           runtime::Stream& stream,
           const Fill& request,
           runtime::BytesArgument parameter) {
  array out = array::empty(request.shape, request.dtype);
  if (out.size() == 0) {
    return out;
  }
  const auto kernel = shipped_kernel("random.metal", request.kernel);
  const std::size_t blocks = (out.size() + request.values_per_block - 1) / request.values_per_block;

  runtime::Launch launch;
  launch.threads = {static_cast<std::int64_t>(blocks)};
  launch.description = fmt::format("{}({})", request.kernel, out.description());
  const runtime::RandomPosition start = generator.take(blocks);
  launch.arguments = {runtime::BufferArgument{out.node().buffer, 0},
                      bytes_of(request.number.value_or(out.size())),
                      bytes_of(Position{start.counter, start.key})};
  if (!parameter.bytes.empty()) {
    launch.arguments.emplace_back(std::move(parameter));
  }
  runtime::launch(stream, kernel, launch);
  return out;
}

/// The greatest number of a type of 16 bits below `limit`.
template <typename Half>
float greatest_below(double limit) {
  Half half(static_cast<float>(limit));
  while (static_cast<double>(static_cast<float>(half)) >= limit) {
    const bool is_negative = (half.bits & 0x8000U) != 0;
    const bool is_zero = (half.bits & 0x7fffU) == 0;
    half.bits = static_cast<std::uint16_t>(is_zero       ? 0x8001U
                                           : is_negative ? half.bits + 1U
                                                         : half.bits - 1U);
  }
  return static_cast<float>(half);
}

float greatest_below(double limit, Dtype dtype) {
  if (dtype == Dtype::Float16) {
    return greatest_below<Float16>(limit);
  }
  if (dtype == Dtype::BFloat16) {
    return greatest_below<BFloat16>(limit);
  }
  auto number = static_cast<float>(limit);
  while (static_cast<double>(number) >= limit) {
    number = std::nextafter(number, -std::numeric_limits<float>::infinity());
  }
  return number;
}

/// Smallest and greatest value of an integer type, as far as 64 signed bits can say.
struct IntegerRange {
  std::int64_t low;
  std::int64_t high;
};

template <typename T>
constexpr IntegerRange range_of() {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return {static_cast<std::int64_t>(std::numeric_limits<T>::min()),
          std::in_range<std::int64_t>(std::numeric_limits<T>::max())
              ? static_cast<std::int64_t>(std::numeric_limits<T>::max())
              : kMax};
}

IntegerRange integer_range(Dtype dtype) {
  switch (dtype) {
    case Dtype::UInt8:
      return range_of<std::uint8_t>();
    case Dtype::UInt16:
      return range_of<std::uint16_t>();
    case Dtype::UInt32:
      return range_of<std::uint32_t>();
    case Dtype::UInt64:
      return range_of<std::uint64_t>();
    case Dtype::Int8:
      return range_of<std::int8_t>();
    case Dtype::Int16:
      return range_of<std::int16_t>();
    case Dtype::Int32:
      return range_of<std::int32_t>();
    case Dtype::Int64:
      return range_of<std::int64_t>();
    default:
      throw std::invalid_argument(
          fmt::format("[random::randint] type {}; possible are the integer types", name_of(dtype)));
  }
}

}  // namespace

array random_bits(runtime::Generator& generator, runtime::Stream& stream, const Shape& shape) {
  return fill(generator, stream, Fill{shape, Dtype::UInt32, "random_bits"}, {});
}

array random_uniform(runtime::Generator& generator,
                     runtime::Stream& stream,
                     const Shape& shape,
                     double low,
                     double high,
                     Dtype dtype) {
  expect_floating("random::uniform", dtype);
  const auto first = static_cast<float>(low);
  const auto range = static_cast<float>(high - low);
  if (!(low <= high) || !std::isfinite(first) || !std::isfinite(range)) {
    throw std::invalid_argument(fmt::format(
        "[random::uniform] from {} to {}: both must be finite, and the first not greater", low,
        high));
  }
  // Three floats are as wide as four in a kernel.
  const float greatest = low == high ? first : greatest_below(high, dtype);
  const std::array<float, 4> limits = {first, range, greatest, 0};
  return fill(generator, stream,
              Fill{shape, dtype, fmt::format("random_uniform_{}", name_of(dtype))},
              bytes_of(limits));
}

array random_normal(runtime::Generator& generator,
                    runtime::Stream& stream,
                    const Shape& shape,
                    double mean,
                    double deviation,
                    Dtype dtype) {
  expect_floating("random::normal", dtype);
  if (!std::isfinite(mean) || !std::isfinite(deviation) || deviation < 0) {
    throw std::invalid_argument(
        fmt::format("[random::normal] mean {} and deviation {}: both must be finite, and the "
                    "deviation not negative",
                    mean, deviation));
  }
  const std::array<float, 2> form = {static_cast<float>(mean), static_cast<float>(deviation)};
  return fill(generator, stream,
              Fill{shape, dtype, fmt::format("random_normal_{}", name_of(dtype))}, bytes_of(form));
}

array random_integers(runtime::Generator& generator,
                      runtime::Stream& stream,
                      std::int64_t low,
                      std::int64_t high,
                      const Shape& shape,
                      Dtype dtype) {
  const IntegerRange range = integer_range(dtype);
  if (low >= high || low < range.low || high - 1 > range.high) {
    throw std::invalid_argument(
        fmt::format("[random::randint] from {} up to but not {}: empty, or more than {} holds", low,
                    high, name_of(dtype)));
  }
  Fill request{shape, dtype, fmt::format("random_integers_{}", name_of(dtype))};
  request.values_per_block = 1;
  request.number = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return fill(generator, stream, request, bytes_of(low));
}

array random_bernoulli(runtime::Generator& generator,
                       runtime::Stream& stream,
                       double probability,
                       const Shape& shape) {
  if (!(probability >= 0 && probability <= 1)) {
    throw std::invalid_argument(
        fmt::format("[random::bernoulli] probability {} is not from 0 to 1", probability));
  }
  const auto threshold = static_cast<std::uint64_t>(std::llround(probability * 0x1p32));
  return fill(generator, stream, Fill{shape, Dtype::Bool, "random_bernoulli"}, bytes_of(threshold));
}

}  // namespace pewter::ops
