#pragma once

#include <Metal/MTLFunctionHandle.hpp>
#include <Metal/MTLVisibleFunctionTable.hpp>
#include <cstdint>
#include <vector>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/resource.h"

namespace pewter::driver {

/// The body of MTL::FunctionHandle.
class FunctionHandle final : public Object {
 public:
  using Public = MTL::FunctionHandle;
  static constexpr ClassInfo kClass{"MTL::FunctionHandle", &Object::kClass};

  FunctionHandle(compiler::LinkedFunction linked, std::uint64_t its_number)
      : Object(kClass),
        function(std::move(linked)),
        number(its_number),
        name(make_string(function.name)) {}

  const compiler::LinkedFunction function;
  /// What tables hold.
  const std::uint64_t number;
  const Ref<String> name;
};

/// The body of MTL::VisibleFunctionTableDescriptor.
class VisibleFunctionTableDescriptor final : public Object {
 public:
  using Public = MTL::VisibleFunctionTableDescriptor;
  static constexpr ClassInfo kClass{"MTL::VisibleFunctionTableDescriptor", &Object::kClass};

  VisibleFunctionTableDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<VisibleFunctionTableDescriptor>(*this); }

  NS::UInteger function_count = 0;
};

/// The body of MTL::VisibleFunctionTable.
class VisibleFunctionTable final : public Resource {
 public:
  using Public = MTL::VisibleFunctionTable;
  static constexpr ClassInfo kClass{"MTL::VisibleFunctionTable", &Resource::kClass};

  /// For the functions that a pipeline is linked with.
  VisibleFunctionTable(std::uint64_t count, std::vector<compiler::LinkedFunction> functions);

  /// Null takes the function away. Says in the log what does not fit.
  void set(const FunctionHandle* function, std::uint64_t index);

  /// Whether a pipeline with these functions knows all that may be in the table.
  bool fits(const std::vector<compiler::LinkedFunction>& linked) const;

  /// An abi::FunctionTable.
  const void* data() const { return words_.data(); }
  std::uint64_t count() const { return words_.size() - 1; }

  std::uint64_t allocated_size() const override { return words_.size() * sizeof(std::uint64_t); }
  void discard() override;

 private:
  std::vector<std::uint64_t> words_;
  const std::vector<compiler::LinkedFunction> linked_;
};

}  // namespace pewter::driver
