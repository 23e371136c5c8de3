#pragma once

#include <cstdint>

#include "llvm/IR/Module.h"

namespace pewter::compiler::codegen {

/// Turns threadgroup variables into offsets from `pewter.threadgroup_base()` and returns how many
/// bytes they take.
///
/// Runs after unused functions are gone, so that variables of other kernels cost nothing.
/// Initialisers are dropped: threadgroup memory starts undefined.
std::uint32_t lower_threadgroup_variables(llvm::Module& module, llvm::StringRef section);

/// The built-in that gives the current group's memory.
inline constexpr const char* kThreadgroupBase = "pewter.threadgroup_base";

}  // namespace pewter::compiler::codegen
