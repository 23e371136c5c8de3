#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace pewter::compiler::codegen {

/// Spells maxima and minima of floating-point numbers out.
///
/// Before: maxnum and minnum. After: comparisons and selections of the same value, the other one
/// where one is NaN. LLVM 19 takes the maximum of a number and of a value without a sign for one
/// without a sign, although the value may be NaN (`clamp(fabs(x), -4, 4)`), and drops the branches
/// that a negative result would take.
class SpellOutExtrema : public llvm::PassInfoMixin<SpellOutExtrema> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace pewter::compiler::codegen
