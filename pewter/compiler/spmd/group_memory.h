#pragma once

#include <cstdint>

#include "llvm/IR/PassManager.h"

namespace pewter::compiler::spmd {

/// Keeps threadgroup memory in registers where a program is its whole group: nobody else sees what
/// it stores there, so a tree of sums need not go through memory at each of its steps.
///
/// `entry` runs one group, with the program inlined and its masks folded; `bytes` is what the
/// variables take. Changes nothing unless every access is to a place that is known. Variables then
/// start as zeros, which costs nothing, rather than as whatever the optimiser likes to assume.
void keep_group_memory(llvm::Function& entry,
                       std::uint32_t bytes,
                       llvm::FunctionAnalysisManager& analyses);

}  // namespace pewter::compiler::spmd
