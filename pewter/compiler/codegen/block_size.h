#pragma once

#include "llvm/IR/Module.h"

namespace pewter::compiler::codegen {

/// Divides blocks of very many instructions. What the code generator does with one block, to choose
/// instructions and to order them, takes time with the square of its size.
void divide_large_blocks(llvm::Module& module);

}  // namespace pewter::compiler::codegen
