#pragma once

#include <map>
#include <set>

#include "clang/AST/Decl.h"

namespace pewter::compiler::msl {

/// Finds which `[[function_constant]]` variables a function can reach through calls and
/// initialisers.
///
/// Works on template patterns, so that nothing has to be instantiated; a call that depends on
/// template arguments counts for every function it may mean. Answers are remembered, because
/// kernels share their helpers.
class ConstantUse {
 public:
  using Variables = std::set<const clang::VarDecl*>;

  const Variables& of(const clang::FunctionDecl* function);

 private:
  std::map<const clang::Decl*, Variables> known_;
};

}  // namespace pewter::compiler::msl
