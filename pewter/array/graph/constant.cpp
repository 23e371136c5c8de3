#include "pewter/array/graph/constant.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <variant>

namespace pewter::graph {
namespace {

template <typename Visitor>
void visit_type(Dtype type, const Visitor& visitor) {
  switch (type) {
    case Dtype::Bool:
      return visitor(bool{});
    case Dtype::UInt8:
      return visitor(std::uint8_t{});
    case Dtype::UInt16:
      return visitor(std::uint16_t{});
    case Dtype::UInt32:
      return visitor(std::uint32_t{});
    case Dtype::UInt64:
      return visitor(std::uint64_t{});
    case Dtype::Int8:
      return visitor(std::int8_t{});
    case Dtype::Int16:
      return visitor(std::int16_t{});
    case Dtype::Int32:
      return visitor(std::int32_t{});
    case Dtype::Int64:
      return visitor(std::int64_t{});
    case Dtype::Float16:
      return visitor(Float16{});
    case Dtype::BFloat16:
      return visitor(BFloat16{});
    case Dtype::Float32:
      return visitor(float{});
    case Dtype::Complex64:
      return visitor(std::complex<float>{});
  }
}

template <typename T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <typename To>
To from_double(double number) {
  if constexpr (std::is_same_v<To, bool>) {
    return number != 0;
  } else if constexpr (std::is_integral_v<To>) {
    if (std::isnan(number)) {
      return 0;
    }
    constexpr auto kLow = static_cast<double>(std::numeric_limits<To>::min());
    constexpr auto kHigh = static_cast<double>(std::numeric_limits<To>::max());
    if (number <= kLow) {
      return std::numeric_limits<To>::min();
    }
    return number >= kHigh ? std::numeric_limits<To>::max() : static_cast<To>(number);
  } else if constexpr (kIsHalf<To>) {
    return To(static_cast<float>(number));
  } else if constexpr (std::is_same_v<To, float>) {
    return static_cast<float>(number);
  } else {
    return {static_cast<float>(number), 0.0F};
  }
}

template <typename From>
double to_double(From value) {
  if constexpr (kIsHalf<From>) {
    return static_cast<double>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, std::complex<float>>) {
    return static_cast<double>(value.real());
  } else {
    return static_cast<double>(value);
  }
}

template <typename To, typename From>
To converted(const From& value) {
  if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool> && std::is_same_v<From, std::complex<float>>) {
    return value.real() != 0 || value.imag() != 0;
  } else if constexpr (std::is_integral_v<From> && std::is_integral_v<To> &&
                       !std::is_same_v<To, bool>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_integral_v<From> &&
                       (std::is_same_v<To, float> || std::is_same_v<To, std::complex<float>>)) {
    // Rounded once: not every integer of 64 bits is a double.
    return static_cast<float>(value);
  } else {
    return from_double<To>(to_double(value));
  }
}

}  // namespace

void convert_element(const std::byte* from, Dtype from_type, std::byte* to, Dtype to_type) {
  visit_type(from_type, [&](auto from_example) {
    using From = decltype(from_example);
    From value;
    std::memcpy(&value, from, sizeof(value));
    visit_type(to_type, [&](auto to_example) {
      const auto result = converted<decltype(to_example)>(value);
      std::memcpy(to, &result, sizeof(result));
    });
  });
}

void write_element(const Scalar& number, std::byte* to, Dtype type) {
  std::visit(
      [&](const auto& given) {
        visit_type(type, [&](auto example) {
          const auto value = converted<decltype(example)>(given);
          std::memcpy(to, &value, sizeof(value));
        });
      },
      number);
}

double read_element(const std::byte* from, Dtype type) {
  double number = 0;
  visit_type(type, [&](auto example) {
    std::memcpy(&example, from, sizeof(example));
    number = to_double(example);
  });
  return number;
}

}  // namespace pewter::graph
