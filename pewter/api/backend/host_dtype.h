#pragma once

#include <pewter/host_array.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace pewter::backend {

/// The bytes of one element of a type that NumPy knows by that name and HostDtype lacks:
/// "float128", "O", "S4", "M8[ns]" and so on. Nothing for a text that names none.
std::optional<std::size_t> other_dtype_bytes(std::string_view name);

template <typename T>
struct TypeTag {
  using Type = T;
};

/// Calls `visit` with the TypeTag of the C++ type that holds `dtype`.
template <typename Visit>
decltype(auto) visit_host_dtype(HostDtype dtype, Visit&& visit) {
  switch (dtype) {
    case HostDtype::Bool:
      return visit(TypeTag<bool>());
    case HostDtype::UInt8:
      return visit(TypeTag<std::uint8_t>());
    case HostDtype::UInt16:
      return visit(TypeTag<std::uint16_t>());
    case HostDtype::UInt32:
      return visit(TypeTag<std::uint32_t>());
    case HostDtype::UInt64:
      return visit(TypeTag<std::uint64_t>());
    case HostDtype::Int8:
      return visit(TypeTag<std::int8_t>());
    case HostDtype::Int16:
      return visit(TypeTag<std::int16_t>());
    case HostDtype::Int32:
      return visit(TypeTag<std::int32_t>());
    case HostDtype::Int64:
      return visit(TypeTag<std::int64_t>());
    case HostDtype::Float16:
      return visit(TypeTag<Float16>());
    case HostDtype::Float32:
      return visit(TypeTag<float>());
    case HostDtype::Float64:
      return visit(TypeTag<double>());
    case HostDtype::Complex64:
      return visit(TypeTag<std::complex<float>>());
    case HostDtype::Complex128:
      return visit(TypeTag<std::complex<double>>());
  }
  throw std::logic_error("a type of host arrays that is none");
}

template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// Converts an element as NumPy does; a complex number loses its imaginary part.
template <typename To, typename From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<To, bool> && !std::is_same_v<From, Float16>) {
    return value != From(0);
  } else if constexpr (kIsComplex<From> && !kIsComplex<To>) {
    return converted<To>(value.real());
  } else if constexpr (kIsComplex<To> && kIsComplex<From>) {
    return To(static_cast<typename To::value_type>(value.real()),
              static_cast<typename To::value_type>(value.imag()));
  } else if constexpr (kIsComplex<To>) {
    return To(converted<typename To::value_type>(value));
  } else if constexpr (std::is_same_v<From, Float16>) {
    return converted<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Float16>) {
    return Float16(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // What is out of range has no value in C++; any will do, but the program must go on.
    constexpr auto kLow = static_cast<From>(std::numeric_limits<std::int64_t>::min());
    if (value >= kLow && value < -kLow) {
      return static_cast<To>(static_cast<std::int64_t>(value));
    }
    if (std::is_same_v<To, std::uint64_t> && value >= 0 && value < -kLow * 2) {
      return static_cast<To>(static_cast<std::uint64_t>(value));
    }
    return std::numeric_limits<To>::min();
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace pewter::backend
