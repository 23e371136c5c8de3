#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace pewter {

/// A C++ number, as exact as it was given.
using Scalar = std::variant<bool, std::int64_t, std::uint64_t, double, std::complex<float>>;

/// A C++ type of numbers that can stand beside an array.
template <typename T>
concept Number = std::integral<T> || std::floating_point<T> || std::same_as<T, std::complex<float>>;

template <Number T>
Scalar scalar_of(T value) {
  if constexpr (std::same_as<T, bool> || std::same_as<T, std::complex<float>>) {
    return value;
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

}  // namespace pewter
