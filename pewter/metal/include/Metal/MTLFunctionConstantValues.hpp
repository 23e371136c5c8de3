#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLArgument.hpp"
#include "MTLDefines.hpp"

namespace MTL {

/// Values of `[[function_constant(n)]]` variables, by index or by name. The bytes are copied.
class _MTL_EXPORT FunctionConstantValues : public NS::Copying<FunctionConstantValues> {
 public:
  static FunctionConstantValues* alloc();
  FunctionConstantValues* init();

  void setConstantValue(const void* value, MTL::DataType type, NS::UInteger index);
  void setConstantValues(const void* values, MTL::DataType type, NS::Range range);
  void setConstantValue(const void* value, MTL::DataType type, const NS::String* name);

  void reset();
};

}  // namespace MTL
