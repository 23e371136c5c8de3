#pragma once

#include <span>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"

#include "pewter/base/result.h"
#include "pewter/compiler/compiler.h"

namespace pewter::compiler::codegen {

/// Adds the bodies of linked functions to a kernel's module, each under a name of its own that
/// lower_function_pointers knows, and lets declarations of the same symbol mean them.
///
/// Runs on Clang's IR. Fails when a body is not what the compiler wrote.
Result<void> link_functions(llvm::Module& module, std::span<const FunctionBody> linked);

/// Makes pointers to functions numbers, and calls through them a choice between all functions of
/// that type whose address is taken or that are linked.
///
/// A linked function's number is its position, counted from 1, which is what function tables hold;
/// null is 0. A call of a number that is no such function ends in a fault. Runs after the calling
/// conventions are set and before anything is inlined: afterwards every call names its function, so
/// that all of them can be inlined and run on lanes.
void lower_function_pointers(llvm::Module& module);

/// Names of functions that the module calls and that neither it nor the device has: declared by the
/// program, and not linked. Runs when everything is inlined.
std::vector<std::string> undefined_functions(const llvm::Module& module);

}  // namespace pewter::compiler::codegen
