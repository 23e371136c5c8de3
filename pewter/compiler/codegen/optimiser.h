#pragma once

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace pewter::compiler::codegen {

/// LLVM's analysis managers, wired together once for all the pipelines of one kernel.
class Optimiser {
 public:
  explicit Optimiser(llvm::TargetMachine& machine);

  /// Makes loops of functions whose last act is to call themselves, so that they can be inlined.
  void end_tail_recursion(llvm::Module& module);

  /// Inlines what the standard library marks for it, and nothing else.
  void inline_marked(llvm::Module& module);

  /// Inlines everything and folds what that shows, enough to see which constants and bindings are
  /// used.
  void expand(llvm::Module& module);

  /// Evaluates initialisers of `constant` variables that depend on function constants.
  void evaluate_initialisers(llvm::Module& module);

  /// Uses up the freedoms of fast and relaxed math, for all modes alike.
  void settle_arithmetic(llvm::Module& module);

  /// Scalar mode, the thread function: everything but vectors.
  void optimise(llvm::Module& module);

  /// Scalar mode, at the end: joins the thread function with the loop around it.
  void finish(llvm::Module& module);

  /// Programs, before lanes: a thread function that is simple, and not yet unrolled for speed.
  void simplify(llvm::Module& module);

  /// Programs, once they are emitted: inlines them and folds their masks.
  void fold_programs(llvm::Module& module);

  /// Programs, at the end.
  void optimise_programs(llvm::Module& module);

  /// The analyses of functions, for passes of our own.
  llvm::FunctionAnalysisManager& functions() { return functions_; }

 private:
  void run(llvm::ModulePassManager& passes, llvm::Module& module);

  llvm::PassBuilder builder_;
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
};

}  // namespace pewter::compiler::codegen
