#pragma once

#include <Metal/MTLLibrary.hpp>

#include "pewter/base/result.h"
#include "pewter/compiler/compiler.h"
#include "pewter/metal/driver/body.h"
#include "pewter/metal/foundation/collections.h"

namespace pewter::driver {

/// The body of MTL::CompileOptions.
class CompileOptions final : public Object {
 public:
  using Public = MTL::CompileOptions;
  static constexpr ClassInfo kClass{"MTL::CompileOptions", &Object::kClass};

  CompileOptions() : Object(kClass) {}

  Object* copy() const override { return make<CompileOptions>(*this); }

  /// What the compiler takes; fails on options that it does not know.
  Result<compiler::LibraryOptions> library_options() const;

  Ref<foundation::Dictionary> macros;
  MTL::MathMode math_mode = MTL::MathModeFast;
  MTL::MathFloatingPointFunctions math_functions = MTL::MathFloatingPointFunctionsFast;
  /// The compiler takes the newest that it knows.
  MTL::LanguageVersion language_version = MTL::LanguageVersion3_2;
  MTL::LibraryType library_type = MTL::LibraryTypeExecutable;
  Ref<String> install_name;
  Ref<foundation::Array> libraries;
  bool preserve_invariance = false;
  MTL::LibraryOptimizationLevel optimization_level = MTL::LibraryOptimizationLevelDefault;
  MTL::CompileSymbolVisibility symbol_visibility = MTL::CompileSymbolVisibilityDefault;
  bool allow_undefined_symbols = false;
  NS::UInteger max_total_threads = 0;
  bool enable_logging = false;
};

}  // namespace pewter::driver
