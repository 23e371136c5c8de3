#pragma once

#include <pewter/export.h>
#include <pewter/half.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pewter {

/// What the elements of an array are.
enum class Dtype : std::uint8_t {
  Bool,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Int8,
  Int16,
  Int32,
  Int64,
  Float16,
  BFloat16,
  Float32,
  Complex64,
};

/// Bytes of one element.
PEWTER_EXPORT std::size_t size_of(Dtype dtype);
/// For instance "float32".
PEWTER_EXPORT std::string_view name_of(Dtype dtype);
/// The type's name in the Metal Shading Language, for instance "bfloat".
PEWTER_EXPORT std::string_view msl_name_of(Dtype dtype);
/// The type with that name, as name_of() gives it.
PEWTER_EXPORT std::optional<Dtype> dtype_named(std::string_view name);

/// The Dtype of a C++ type; only types that an array can hold have one.
template <typename T>
struct DtypeOf;

template <>
struct DtypeOf<bool> {
  static constexpr Dtype kValue = Dtype::Bool;
};
template <>
struct DtypeOf<std::uint8_t> {
  static constexpr Dtype kValue = Dtype::UInt8;
};
template <>
struct DtypeOf<std::uint16_t> {
  static constexpr Dtype kValue = Dtype::UInt16;
};
template <>
struct DtypeOf<std::uint32_t> {
  static constexpr Dtype kValue = Dtype::UInt32;
};
template <>
struct DtypeOf<std::uint64_t> {
  static constexpr Dtype kValue = Dtype::UInt64;
};
template <>
struct DtypeOf<std::int8_t> {
  static constexpr Dtype kValue = Dtype::Int8;
};
template <>
struct DtypeOf<std::int16_t> {
  static constexpr Dtype kValue = Dtype::Int16;
};
template <>
struct DtypeOf<std::int32_t> {
  static constexpr Dtype kValue = Dtype::Int32;
};
template <>
struct DtypeOf<std::int64_t> {
  static constexpr Dtype kValue = Dtype::Int64;
};
template <>
struct DtypeOf<Float16> {
  static constexpr Dtype kValue = Dtype::Float16;
};
template <>
struct DtypeOf<BFloat16> {
  static constexpr Dtype kValue = Dtype::BFloat16;
};
template <>
struct DtypeOf<float> {
  static constexpr Dtype kValue = Dtype::Float32;
};
template <>
struct DtypeOf<std::complex<float>> {
  static constexpr Dtype kValue = Dtype::Complex64;
};

/// A C++ type that an array can hold.
template <typename T>
concept Element = requires { DtypeOf<T>::kValue; };

template <Element T>
inline constexpr Dtype kDtypeOf = DtypeOf<T>::kValue;

}  // namespace pewter
