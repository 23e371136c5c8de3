#pragma once

#include <Metal/MTLLibrary.hpp>
#include <cstdint>
#include <map>
#include <memory>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"

namespace pewter::driver {

/// The body of MTL::FunctionConstant.
class FunctionConstant final : public Object {
 public:
  using Public = MTL::FunctionConstant;
  static constexpr ClassInfo kClass{"MTL::FunctionConstant", &Object::kClass};

  FunctionConstant() : Object(kClass) {}
  explicit FunctionConstant(const compiler::FunctionConstant& constant);

  Ref<String> name;
  MTL::DataType type = MTL::DataTypeNone;
  NS::UInteger index = 0;
  bool required = false;
};

/// The body of MTL::Function: a kernel of a library and values for its constants.
class Function final : public Object {
 public:
  using Public = MTL::Function;
  static constexpr ClassInfo kClass{"MTL::Function", &Object::kClass};

  /// `kernel` is one of the library's.
  Function(std::shared_ptr<compiler::Library> library,
           const compiler::KernelInfo& kernel,
           std::string_view name,
           std::map<std::uint32_t, compiler::ConstantBytes> constants);

  /// The kernel parameter bound to `[[buffer(index)]]`; null when there is none.
  const compiler::Parameter* buffer_parameter(std::uint32_t index) const;

  const std::shared_ptr<compiler::Library> library;
  const compiler::KernelInfo& kernel;
  const std::map<std::uint32_t, compiler::ConstantBytes> constants;
  const Ref<String> name;
  Ref<String> label;
  MTL::FunctionOptions options = MTL::FunctionOptionNone;
  /// From the compile options of the library; 0 when they do not say.
  std::uint32_t max_total_threads = 0;
};

}  // namespace pewter::driver
