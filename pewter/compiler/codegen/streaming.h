#pragma once

#include <cstdint>

#include "llvm/IR/Module.h"

/// Stores of `__builtin_nontemporal_store`, by which a text says that what it writes is not read
/// again soon.
namespace pewter::compiler::codegen {

/// The buffers that a thread function, whose arguments are bound, writes with streaming stores: a
/// bit for each. Stores to anything else become plain ones.
std::uint32_t find_streamed_buffers(llvm::Function& thread);

/// Makes plain stores of them all: one thread at a time writes less than what streams at once.
void drop_streaming(llvm::Module& module);

}  // namespace pewter::compiler::codegen
