#pragma once

#include "llvm/IR/Function.h"

namespace pewter::compiler::spmd {

/// Whether an instruction is a product and the sum that it is added to in one.
bool is_fused_product(const llvm::Value* value);

/// Makes one operation of a product and the sum that it is added to, where both allow it
/// (`contract`) and nothing else of the same block needs the product.
///
/// The code generator would choose the same pairs, but after vectorisation, when what stands in one
/// block depends on the mode, the width and the shape of threadgroups; results would differ in
/// their last bits between them.
void fuse_products(llvm::Function& function);

/// Takes fused products apart again that belong to sums whose order is free (`reassoc`), so that
/// whole sums are seen; `fuse_products` then restores those that are left.
void split_products(llvm::Function& function);

/// Removes every freedom that operations on floating-point numbers have left: what is computed
/// stays as it stands, whatever is done to the code from here on.
void drop_freedoms(llvm::Function& function);

}  // namespace pewter::compiler::spmd
