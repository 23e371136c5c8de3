#include "pewter/runtime/kernel_argument.h"

#include <fmt/core.h>
#include <pewter/half.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace pewter::runtime {
namespace {

struct CastName {
  std::string_view name;
  ArgumentCast cast;
};

constexpr std::array<CastName, 6> kCasts = {{{"fp16", ArgumentCast::Float16},
                                             {"bf16", ArgumentCast::BFloat16},
                                             {"int32", ArgumentCast::Int32},
                                             {"int16", ArgumentCast::Int16},
                                             {"int8", ArgumentCast::Int8},
                                             {"uint8", ArgumentCast::UInt8}}};

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

// Rounds to the neighbour whose last bit is set when the value lies between two floats, so that
// rounding once more, to fewer bits, gives what rounding the value itself would.
float rounded_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) {
    return nearest;
  }
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(value)) {
    --bits;
  }
  return std::bit_cast<float>(bits | 1U);
}

// Towards zero; what C leaves open is settled: out of range gives the nearest, no number gives 0.
std::int64_t to_integer(double value) {
  constexpr double kLimit = 0x1p63;
  if (std::isnan(value)) {
    return 0;
  }
  if (value >= kLimit) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return value < -kLimit ? std::numeric_limits<std::int64_t>::min()
                         : static_cast<std::int64_t>(value);
}

std::int64_t to_integer(std::int64_t value) {
  return value;
}

template <typename Number>
void append_cast(std::vector<std::byte>& bytes, Number value, ArgumentCast cast) {
  switch (cast) {
    case ArgumentCast::Float16:
      return append(bytes, Float16(rounded_to_odd(static_cast<double>(value))).bits);
    case ArgumentCast::BFloat16:
      return append(bytes, BFloat16(rounded_to_odd(static_cast<double>(value))).bits);
    case ArgumentCast::Int32:
      return append(bytes, static_cast<std::int32_t>(to_integer(value)));
    case ArgumentCast::Int16:
      return append(bytes, static_cast<std::int16_t>(to_integer(value)));
    case ArgumentCast::Int8:
      return append(bytes, static_cast<std::int8_t>(to_integer(value)));
    case ArgumentCast::UInt8:
      return append(bytes, static_cast<std::uint8_t>(to_integer(value)));
  }
}

}  // namespace

ArgumentCast argument_cast(std::string_view name) {
  for (const CastName& entry : kCasts) {
    if (entry.name == name) {
      return entry.cast;
    }
  }
  throw std::runtime_error(
      fmt::format("[mps::compile_shader] unknown argument cast '{}'; use fp16, bf16, int32, int16, "
                  "int8 or uint8",
                  name));
}

BytesArgument pack_integers(std::span<const std::int64_t> values,
                            std::optional<ArgumentCast> cast) {
  BytesArgument packed;
  for (const std::int64_t value : values) {
    if (cast) {
      append_cast(packed.bytes, value, *cast);
    } else {
      append(packed.bytes, value);
    }
  }
  return packed;
}

BytesArgument pack_floats(std::span<const double> values, std::optional<ArgumentCast> cast) {
  BytesArgument packed;
  for (const double value : values) {
    if (cast) {
      append_cast(packed.bytes, value, *cast);
    } else {
      append(packed.bytes, static_cast<float>(value));
    }
  }
  return packed;
}

}  // namespace pewter::runtime
