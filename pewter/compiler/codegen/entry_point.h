#pragma once

#include "llvm/IR/Module.h"

#include "pewter/base/result.h"
#include "pewter/compiler/codegen/kernel_plan.h"

namespace pewter::compiler::codegen {

/// Symbol of the function that runs one thread, and of the abi::EntryPoint around it.
inline constexpr const char* kThreadFunction = "pewter.thread";
inline constexpr const char* kEntryFunction = "pewter_entry";

/// Builds `void pewter.thread(launch, group, index, row group)`, which computes built-in inputs,
/// reads bindings and calls the kernel. The group is `row group` places behind `group` along x.
///
/// Bindings are calls of `pewter.buffer(n)` until bind_arguments, so that those which fold away are
/// known, and what tells threads apart is calls as well: see thread_values.h.
Result<void> build_thread_function(llvm::Module& module, const KernelPlan& plan);

/// Replaces binding calls and `pewter.threadgroup_base` in the thread function by loads, and notes
/// in `code` what the kernel reads. Runs after optimisation.
void bind_arguments(llvm::Module& module, KernelCode& code);

/// An abi::EntryPoint without a body.
llvm::Function* declare_entry_point(llvm::Module& module, const KernelPlan& plan);

/// Builds the abi::EntryPoint: a loop over threads, or a single thread when they run on fibers.
void build_entry_point(llvm::Module& module, const KernelPlan& plan, bool on_fibers);

}  // namespace pewter::compiler::codegen
