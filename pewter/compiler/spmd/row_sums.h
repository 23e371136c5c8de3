#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace pewter::compiler::spmd {

/// Metadata on the vector that a row function adds up.
inline constexpr const char* kSummedRow = "pewter.row";

/// Whether a call is of a function that `extract_row_sums` has made.
bool is_row_sum(const llvm::CallInst& call);

/// Moves sums over neighbouring elements that each thread reads for itself, as in the product of
/// a thread's row of weights with a vector, into functions of one block.
///
/// Before: short loops are unrolled, bytes are loaded one by one. After: such a sum is a call whose
/// function loads 8 or 16 elements as one vector, computes with them at once and adds the elements
/// up by halves. The program then runs it lane by lane on whole rows: to bring the rows' elements
/// into the lanes' places costs more than to add up the results. Only sums that may be reassociated
/// are taken, and only where lanes are so far apart that their rows do not overlap. After: nothing
/// else may be reassociated any more. Returns whether there is such a sum.
bool extract_row_sums(llvm::Function& thread,
                      llvm::FunctionAnalysisManager& analyses,
                      unsigned width);

}  // namespace pewter::compiler::spmd
