#pragma once

#include <Metal/MTLFunctionDescriptor.hpp>
#include <Metal/MTLLinkedFunctions.hpp>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/function_constants.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {

/// The body of MTL::FunctionDescriptor.
class FunctionDescriptor final : public Object {
 public:
  using Public = MTL::FunctionDescriptor;
  static constexpr ClassInfo kClass{"MTL::FunctionDescriptor", &Object::kClass};

  FunctionDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<FunctionDescriptor>(*this); }

  Ref<String> name;
  Ref<String> specialized_name;
  Ref<FunctionConstantValues> constant_values;
  MTL::FunctionOptions options = MTL::FunctionOptionNone;
  Ref<foundation::Array> binary_archives;
};

/// The body of MTL::LinkedFunctions.
class LinkedFunctions final : public Object {
 public:
  using Public = MTL::LinkedFunctions;
  static constexpr ClassInfo kClass{"MTL::LinkedFunctions", &Object::kClass};

  LinkedFunctions() : Object(kClass) {}

  Object* copy() const override { return make<LinkedFunctions>(*this); }

  bool is_empty() const;

  Ref<foundation::Array> functions;
  Ref<foundation::Array> binary_functions;
  Ref<foundation::Dictionary> groups;
  Ref<foundation::Array> private_functions;
};

}  // namespace pewter::driver
