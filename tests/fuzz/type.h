#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pewter::fuzz {

enum class Scalar : std::uint8_t {
  Bool,
  Char,
  UChar,
  Short,
  UShort,
  Int,
  UInt,
  Long,
  ULong,
  Half,
  BFloat,
  Float,
};

/// A scalar of MSL, or a vector of two to four of them.
struct Type {
  Scalar scalar = Scalar::UInt;
  unsigned count = 1;

  bool operator==(const Type&) const = default;

  bool is_vector() const { return count > 1; }
  bool is_bool() const { return scalar == Scalar::Bool; }
  bool is_float() const { return scalar >= Scalar::Half; }
  bool is_integer() const { return !is_bool() && !is_float(); }
  bool is_signed() const {
    return scalar == Scalar::Char || scalar == Scalar::Short || scalar == Scalar::Int ||
           scalar == Scalar::Long || is_float();
  }
  /// Of one component.
  unsigned bits() const;
  /// As MSL spells it: "uchar4".
  std::string name() const;
  /// The scalar type of a component.
  Type component() const { return {scalar, 1}; }
};

/// Every scalar type that memory can hold, bool excepted.
const std::vector<Scalar>& memory_scalars();

/// Bytes that one value of a scalar type takes in a buffer.
std::size_t byte_size(Scalar scalar);

}  // namespace pewter::fuzz
