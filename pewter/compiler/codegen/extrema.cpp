#include "pewter/compiler/codegen/extrema.h"

#include <utility>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

namespace pewter::compiler::codegen {
namespace {

void spell_out(llvm::IntrinsicInst& extremum) {
  llvm::IRBuilder<> builder(&extremum);
  llvm::Value* first = extremum.getArgOperand(0);
  llvm::Value* second = extremum.getArgOperand(1);
  // Processors' maxima take the second when they cannot compare; a constant need not be looked at.
  if (llvm::isa<llvm::Constant>(first)) {
    std::swap(first, second);
  }
  const auto order = extremum.getIntrinsicID() == llvm::Intrinsic::maxnum
                         ? llvm::FCmpInst::FCMP_OGT
                         : llvm::FCmpInst::FCMP_OLT;
  llvm::Value* chosen =
      builder.CreateSelect(builder.CreateFCmp(order, first, second), first, second);
  if (!llvm::PatternMatch::match(second, llvm::PatternMatch::m_NonNaN())) {
    // When what was chosen is NaN, the second is.
    chosen = builder.CreateSelect(builder.CreateFCmpUNO(chosen, chosen), first, chosen);
  }
  extremum.replaceAllUsesWith(chosen);
  extremum.eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses SpellOutExtrema::run(llvm::Function& function,
                                             llvm::FunctionAnalysisManager& /*analyses*/) {
  bool is_changed = false;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call != nullptr && (call->getIntrinsicID() == llvm::Intrinsic::maxnum ||
                            call->getIntrinsicID() == llvm::Intrinsic::minnum)) {
      spell_out(*call);
      is_changed = true;
    }
  }
  if (!is_changed) {
    return llvm::PreservedAnalyses::all();
  }
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace pewter::compiler::codegen
