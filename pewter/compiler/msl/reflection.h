#pragma once

#include <map>
#include <string>
#include <vector>

#include "clang/AST/Decl.h"

#include "pewter/base/result.h"
#include "pewter/compiler/compiler.h"
#include "pewter/compiler/msl/translation_unit.h"

namespace pewter::compiler::msl {

/// One parameter of a kernel as the code generator sees it, in the order of declaration.
struct KernelParameter {
  Parameter parameter;
  /// The constant that switches it on; null when it is always there.
  const clang::VarDecl* enabled_by = nullptr;
};

/// A kernel and where it is declared.
struct Kernel {
  clang::FunctionDecl* declaration = nullptr;
  std::vector<KernelParameter> parameters;
};

/// What the host can know of a parsed text, and the way back from names to declarations.
struct Reflection {
  LibraryInfo info;
  /// In the order of `info.kernels`.
  std::vector<Kernel> kernels;
  /// In the order of `info.constants`.
  std::vector<const clang::VarDecl*> constants;
};

/// Reads kernels, parameters and function constants off the syntax tree; bodies need not be
/// instantiated.
///
/// Fails, with all errors, when a signature is not one that MSL allows.
Result<Reflection, CompileFailure> reflect(TranslationUnit& unit);

}  // namespace pewter::compiler::msl
