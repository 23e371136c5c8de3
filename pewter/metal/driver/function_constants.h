#pragma once

#include <Metal/MTLFunctionConstantValues.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "pewter/base/result.h"
#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// The body of MTL::FunctionConstantValues.
class FunctionConstantValues final : public Object {
 public:
  using Public = MTL::FunctionConstantValues;
  static constexpr ClassInfo kClass{"MTL::FunctionConstantValues", &Object::kClass};

  struct Value {
    MTL::DataType type = MTL::DataTypeNone;
    compiler::ConstantBytes bytes;
  };

  FunctionConstantValues() : Object(kClass) {}

  Object* copy() const override { return make<FunctionConstantValues>(*this); }

  /// Values by the library's indices; those that the library does not have are left out. Fails when
  /// a type is not the constant's.
  Result<std::map<std::uint32_t, compiler::ConstantBytes>> resolve(
      const compiler::LibraryInfo& library) const;

  std::map<NS::UInteger, Value> by_index;
  std::map<std::string, Value> by_name;
};

}  // namespace pewter::driver
