#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// Metadata on accesses to memory: the chunk of lanes that they belong to, or that they are to
/// threadgroup memory.
inline constexpr const char* kChunkOfAccess = "pewter.chunk";
inline constexpr unsigned kThreadgroupAccess = ~0U;

/// Attribute of programs that are written in a good order already.
inline constexpr const char* kOrdered = "pewter.ordered";

/// Orders the instructions of a program for a processor with so many vector registers.
///
/// Programs are written one operation after the other, each for all chunks, so that as many values
/// live at once as there are chunks. Here a chunk, or a few in step when that leaves fewer values
/// on the stack, goes through as many operations as possible before the next one begins. Accesses
/// of different chunks may change places up to the next barrier: threads that do not meet have no
/// order.
void order_instructions(llvm::Function& program, unsigned registers);

}  // namespace pewter::compiler::spmd
