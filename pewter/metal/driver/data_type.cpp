#include "pewter/metal/driver/data_type.h"

#include <fmt/format.h>

namespace pewter::driver {
namespace {

using compiler::ScalarType;
using compiler::ValueType;

/// A scalar type, the Metal type of its scalar (the vectors follow it), and of its first matrix
/// when it has any.
struct Row {
  ScalarType scalar;
  const char* name;
  std::uint64_t size;
  MTL::DataType first;
  MTL::DataType first_matrix;
};

constexpr Row kRows[] = {
    {ScalarType::Bool, "bool", 1, MTL::DataTypeBool, MTL::DataTypeNone},
    {ScalarType::Char, "char", 1, MTL::DataTypeChar, MTL::DataTypeNone},
    {ScalarType::UChar, "uchar", 1, MTL::DataTypeUChar, MTL::DataTypeNone},
    {ScalarType::Short, "short", 2, MTL::DataTypeShort, MTL::DataTypeNone},
    {ScalarType::UShort, "ushort", 2, MTL::DataTypeUShort, MTL::DataTypeNone},
    {ScalarType::Int, "int", 4, MTL::DataTypeInt, MTL::DataTypeNone},
    {ScalarType::UInt, "uint", 4, MTL::DataTypeUInt, MTL::DataTypeNone},
    {ScalarType::Long, "long", 8, MTL::DataTypeLong, MTL::DataTypeNone},
    {ScalarType::ULong, "ulong", 8, MTL::DataTypeULong, MTL::DataTypeNone},
    {ScalarType::Half, "half", 2, MTL::DataTypeHalf, MTL::DataTypeHalf2x2},
    {ScalarType::BFloat, "bfloat", 2, MTL::DataTypeBFloat, MTL::DataTypeNone},
    {ScalarType::Float, "float", 4, MTL::DataTypeFloat, MTL::DataTypeFloat2x2},
};

const Row* row_of(ScalarType scalar) {
  for (const Row& row : kRows) {
    if (row.scalar == scalar) {
      return &row;
    }
  }
  return nullptr;
}

/// A vector of three takes the room of four.
std::uint64_t padded(std::uint64_t rows) {
  return rows == 3 ? 4 : rows;
}

}  // namespace

MTL::DataType data_type(const ValueType& type) {
  const Row* row = row_of(type.scalar);
  if (row == nullptr || type.rows < 1 || type.rows > 4 || type.columns < 1 || type.columns > 4) {
    return MTL::DataTypeStruct;
  }
  if (type.columns == 1) {
    return static_cast<MTL::DataType>(row->first + type.rows - 1U);
  }
  if (row->first_matrix == MTL::DataTypeNone || type.rows < 2) {
    return MTL::DataTypeStruct;
  }
  return static_cast<MTL::DataType>(row->first_matrix + (type.columns - 2U) * 3 + type.rows - 2U);
}

ValueType value_type(MTL::DataType type) {
  for (const Row& row : kRows) {
    if (type >= row.first && type < row.first + 4) {
      return {row.scalar, 1, static_cast<std::uint8_t>(type - row.first + 1)};
    }
    if (row.first_matrix != MTL::DataTypeNone && type >= row.first_matrix &&
        type < row.first_matrix + 9) {
      const auto number = static_cast<unsigned>(type - row.first_matrix);
      return {row.scalar, static_cast<std::uint8_t>(number / 3 + 2),
              static_cast<std::uint8_t>(number % 3 + 2)};
    }
  }
  return {};
}

std::uint64_t size_of(const ValueType& type) {
  const Row* row = row_of(type.scalar);
  return row != nullptr ? row->size * padded(type.rows) * type.columns : 0;
}

std::uint64_t alignment_of(const ValueType& type) {
  const Row* row = row_of(type.scalar);
  return row != nullptr ? row->size * padded(type.rows) : 1;
}

std::string spelling(const ValueType& type) {
  const Row* row = row_of(type.scalar);
  if (row == nullptr) {
    return "structure";
  }
  if (type.columns > 1) {
    return fmt::format("{}{}x{}", row->name, type.columns, type.rows);
  }
  return type.rows > 1 ? fmt::format("{}{}", row->name, type.rows) : row->name;
}

}  // namespace pewter::driver
