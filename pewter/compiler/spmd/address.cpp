#include "pewter/compiler/spmd/address.h"

#include "llvm/Analysis/ScalarEvolutionExpressions.h"

namespace pewter::compiler::spmd {
namespace {

std::int64_t constant_part(const llvm::SCEV* expression) {
  if (const auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(expression)) {
    return constant_part(walk->getStart());
  }
  const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(expression);
  const auto* number =
      sum != nullptr ? llvm::dyn_cast<llvm::SCEVConstant>(sum->getOperand(0)) : nullptr;
  return number != nullptr ? number->getAPInt().getSExtValue() : 0;
}

}  // namespace

Address split_address(llvm::ScalarEvolution& evolution, const llvm::Value* pointer) {
  const llvm::SCEV* expression = evolution.getSCEV(const_cast<llvm::Value*>(pointer));
  const std::int64_t offset = constant_part(expression);
  if (offset != 0) {
    const llvm::SCEV* back =
        evolution.getConstant(evolution.getEffectiveSCEVType(pointer->getType()),
                              static_cast<std::uint64_t>(-offset), true);
    expression = evolution.getAddExpr(expression, back);
  }
  return {expression, offset};
}

}  // namespace pewter::compiler::spmd
