#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace pewter::compiler::spmd {

/// Loads neighbouring bytes and halves of a thread as words, from which it takes them apart: a word
/// costs a lane no more than a byte.
void merge_loads(llvm::Function& function, llvm::FunctionAnalysisManager& analyses, unsigned width);

}  // namespace pewter::compiler::spmd
