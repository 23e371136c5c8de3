#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace pewter::compiler::codegen {

/// Whether a function has operations on floating-point numbers that may be computed otherwise than
/// they stand.
bool has_freedoms(const llvm::Function& function);

/// Decides once, for all modes and widths, what the freedoms of fast and relaxed math are used for.
///
/// Before: everything is inlined and simplified, and operations say what may be done with them.
/// After: products are fused with sums, divisions by one number share its reciprocal, and nothing
/// is left to choose but the order of sums over a thread's own rows (`reassoc`), for
/// `spmd::extract_row_sums`. It stands before the modes part, so that a kernel has the same bits in
/// each of them; what LLVM would choose later depends on how the code is cut into blocks by then.
class SettleArithmetic : public llvm::PassInfoMixin<SettleArithmetic> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace pewter::compiler::codegen
