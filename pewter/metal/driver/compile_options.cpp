#include "pewter/metal/driver/compile_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "pewter/metal/foundation/number.h"

namespace pewter::driver {
namespace {

compiler::MathMode math_mode_of(MTL::MathMode mode) {
  switch (mode) {
    case MTL::MathModeSafe:
      return compiler::MathMode::Safe;
    case MTL::MathModeRelaxed:
      return compiler::MathMode::Relaxed;
    default:
      return compiler::MathMode::Fast;
  }
}

bool is_identifier(const std::string& text) {
  const auto word = [](char letter) {
    return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z');
  };
  return !text.empty() && !(text[0] >= '0' && text[0] <= '9') &&
         std::all_of(text.begin(), text.end(), word);
}

}  // namespace

Result<compiler::LibraryOptions> CompileOptions::library_options() const {
  if (library_type != MTL::LibraryTypeExecutable) {
    return failure("dynamic libraries are not supported yet");
  }
  if (libraries && !libraries->items.empty()) {
    return failure(fmt::format("linking against {} dynamic libraries is not supported yet",
                               libraries->items.size()));
  }
  compiler::LibraryOptions options;
  options.language_version = static_cast<std::uint32_t>(language_version);
  constexpr std::uint32_t kOldestVersion = MTL::LanguageVersion1_0;
  constexpr std::uint32_t kNewestVersion = MTL::LanguageVersion4_0;
  if (options.language_version != 0 &&
      (options.language_version < kOldestVersion || options.language_version > kNewestVersion)) {
    return failure(fmt::format("language version {}.{} is not supported: versions 1.0 to 4.0 are",
                               options.language_version >> 16, options.language_version & 0xffff));
  }
  options.math_mode = math_mode_of(math_mode);
  options.math_functions = math_functions == MTL::MathFloatingPointFunctionsPrecise
                               ? compiler::MathFunctions::Precise
                               : compiler::MathFunctions::Fast;
  options.enable_logging = enable_logging;
  if (macros) {
    for (const auto& [key, value] : macros->items) {
      const std::string name = key->description();
      if (!is_identifier(name)) {
        return failure(fmt::format("preprocessor macro '{}' is not an identifier", name));
      }
      if (!value->is(String::kClass) && !value->is(foundation::Number::kClass)) {
        return failure(fmt::format(
            "preprocessor macro '{}' has a {} for a value; a string or a number is needed", name,
            value->class_info().name));
      }
      options.macros.emplace_back(name, value->description());
    }
    // The dictionary has no order, but equal options must be equal to the caches.
    std::sort(options.macros.begin(), options.macros.end());
  }
  return options;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::CompileOptions;
using driver::get;
using driver::set;

MTL::CompileOptions* MTL::CompileOptions::alloc() {
  return driver::handle(driver::make<Body>());
}

MTL::CompileOptions* MTL::CompileOptions::init() {
  return this;
}

bool MTL::CompileOptions::fastMathEnabled() const {
  return mathMode() == MathModeFast;
}

void MTL::CompileOptions::setFastMathEnabled(bool fastMathEnabled) {
  setMathMode(fastMathEnabled ? MathModeFast : MathModeSafe);
  setMathFloatingPointFunctions(fastMathEnabled ? MathFloatingPointFunctionsFast
                                                : MathFloatingPointFunctionsPrecise);
}

NS::Dictionary* MTL::CompileOptions::preprocessorMacros() const {
  return get(this, &Body::macros);
}

void MTL::CompileOptions::setPreprocessorMacros(const NS::Dictionary* preprocessorMacros) {
  driver::set_copy(this, &Body::macros, preprocessorMacros);
}

MTL::MathMode MTL::CompileOptions::mathMode() const {
  return get(this, &Body::math_mode);
}

void MTL::CompileOptions::setMathMode(MTL::MathMode mathMode) {
  driver::set(this, &Body::math_mode, mathMode);
}

MTL::MathFloatingPointFunctions MTL::CompileOptions::mathFloatingPointFunctions() const {
  return get(this, &Body::math_functions);
}

void MTL::CompileOptions::setMathFloatingPointFunctions(
    MTL::MathFloatingPointFunctions mathFloatingPointFunctions) {
  driver::set(this, &Body::math_functions, mathFloatingPointFunctions);
}

MTL::LanguageVersion MTL::CompileOptions::languageVersion() const {
  return get(this, &Body::language_version);
}

void MTL::CompileOptions::setLanguageVersion(MTL::LanguageVersion languageVersion) {
  driver::set(this, &Body::language_version, languageVersion);
}

MTL::LibraryType MTL::CompileOptions::libraryType() const {
  return get(this, &Body::library_type);
}

void MTL::CompileOptions::setLibraryType(MTL::LibraryType libraryType) {
  driver::set(this, &Body::library_type, libraryType);
}

NS::String* MTL::CompileOptions::installName() const {
  return get(this, &Body::install_name);
}

void MTL::CompileOptions::setInstallName(const NS::String* installName) {
  driver::set(this, &Body::install_name, installName);
}

NS::Array* MTL::CompileOptions::libraries() const {
  return get(this, &Body::libraries);
}

void MTL::CompileOptions::setLibraries(const NS::Array* libraries) {
  driver::set(this, &Body::libraries, libraries);
}

bool MTL::CompileOptions::preserveInvariance() const {
  return get(this, &Body::preserve_invariance);
}

void MTL::CompileOptions::setPreserveInvariance(bool preserveInvariance) {
  driver::set(this, &Body::preserve_invariance, preserveInvariance);
}

MTL::LibraryOptimizationLevel MTL::CompileOptions::optimizationLevel() const {
  return get(this, &Body::optimization_level);
}

void MTL::CompileOptions::setOptimizationLevel(MTL::LibraryOptimizationLevel optimizationLevel) {
  driver::set(this, &Body::optimization_level, optimizationLevel);
}

MTL::CompileSymbolVisibility MTL::CompileOptions::compileSymbolVisibility() const {
  return get(this, &Body::symbol_visibility);
}

void MTL::CompileOptions::setCompileSymbolVisibility(
    MTL::CompileSymbolVisibility compileSymbolVisibility) {
  driver::set(this, &Body::symbol_visibility, compileSymbolVisibility);
}

bool MTL::CompileOptions::allowReferencingUndefinedSymbols() const {
  return get(this, &Body::allow_undefined_symbols);
}

void MTL::CompileOptions::setAllowReferencingUndefinedSymbols(
    bool allowReferencingUndefinedSymbols) {
  driver::set(this, &Body::allow_undefined_symbols, allowReferencingUndefinedSymbols);
}

NS::UInteger MTL::CompileOptions::maxTotalThreadsPerThreadgroup() const {
  return get(this, &Body::max_total_threads);
}

void MTL::CompileOptions::setMaxTotalThreadsPerThreadgroup(
    NS::UInteger maxTotalThreadsPerThreadgroup) {
  driver::set(this, &Body::max_total_threads, maxTotalThreadsPerThreadgroup);
}

bool MTL::CompileOptions::enableLogging() const {
  return get(this, &Body::enable_logging);
}

void MTL::CompileOptions::setEnableLogging(bool enableLogging) {
  driver::set(this, &Body::enable_logging, enableLogging);
}
