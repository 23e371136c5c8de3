#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pewter::tools {

enum class Element : std::uint8_t {
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

/// A scalar or vector type of the Metal Shading Language, in the layout that it has in a buffer.
struct ValueType {
  Element element = Element::Float;
  std::uint32_t lanes = 1;

  bool operator==(const ValueType&) const = default;

  /// Bytes of one scalar.
  std::size_t element_bytes() const;
  /// Scalars that one value takes: a vector of three is as large as one of four.
  std::uint32_t stored_lanes() const { return lanes == 3 ? 4 : lanes; }
  std::size_t byte_count() const { return element_bytes() * stored_lanes(); }
  bool is_floating() const;
  /// As MSL spells it: "float4".
  std::string name() const;
  MTL::DataType data_type() const;
};

/// Reads f32, u8, bf16, ... or float, uchar, bfloat, ..., with 2, 3 or 4 appended to the latter for
/// vectors. Throws UsageError for anything else.
ValueType parse_type(std::string_view text);

/// The scalar or vector type with that MTL::DataType; false when it is a structure or another kind.
bool type_of_data_type(MTL::DataType data_type, ValueType& type);

/// How NumPy writes the element type: "<f4". Empty for bfloat, which NumPy does not have.
std::string numpy_name(Element element);
/// The element type that NumPy writes so; false when Metal has none.
bool element_of_numpy_name(std::string_view name, Element& element);

/// The scalar at `bytes` as a double. Whole numbers beyond 2^53 are rounded.
double load_number(Element element, const std::byte* bytes);
/// Stores the nearest value that the type has; integers saturate, and NaN is 0.
void store_number(Element element, double number, std::byte* bytes);
/// The scalar at `bytes` in decimal, exact for integers and to six digits for the others.
std::string format_number(Element element, const std::byte* bytes);

/// Parses one scalar; throws UsageError when the text is no number or out of the type's range.
void parse_number(Element element, std::string_view text, std::byte* bytes);

/// Parses `TYPE:VALUE[,VALUE...]` with one number for each lane, or one number for all of them.
struct TypedValue {
  ValueType type;
  std::vector<std::byte> bytes;
};
TypedValue parse_typed_value(std::string_view text, std::string_view flag);

}  // namespace pewter::tools
