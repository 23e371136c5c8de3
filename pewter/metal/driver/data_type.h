#pragma once

#include <Metal/MTLArgument.hpp>
#include <cstdint>
#include <string>

#include "pewter/compiler/compiler.h"

namespace pewter::driver {

/// Metal's name for a type of the compiler's; DataTypeStruct for what is neither scalar, vector nor
/// matrix.
MTL::DataType data_type(const compiler::ValueType& type);

/// The compiler's type for one of Metal's; `ScalarType::None` when it is not a scalar, vector or
/// matrix.
compiler::ValueType value_type(MTL::DataType type);

/// Bytes in memory, as MSL lays the type out; 0 when it is not a scalar, vector or matrix.
std::uint64_t size_of(const compiler::ValueType& type);
std::uint64_t alignment_of(const compiler::ValueType& type);

/// As MSL spells it, for instance "half3x4".
std::string spelling(const compiler::ValueType& type);

}  // namespace pewter::driver
