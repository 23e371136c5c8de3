#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// In an entry point that takes rows of groups: asks for what the groups behind this one will load,
/// a few kilobytes ahead.
///
/// A brief group loads little and then adds it up, stores it and ends; the processor is not far
/// enough ahead of that to keep memory busy. Only whole vectors are asked for whose addresses
/// follow from the number of the group. Runs last, because nothing may change places with a
/// prefetch.
void prefetch_rows(llvm::Function& entry);

}  // namespace pewter::compiler::spmd
