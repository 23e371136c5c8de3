#include "pewter/compiler/codegen/optimiser.h"

#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/TailRecursionElimination.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#include "pewter/compiler/codegen/entry_point.h"

namespace pewter::compiler::codegen {
namespace {

// Scalar mode is the reference, one thread at a time, and programs have their lanes already:
// nothing is widened behind their backs.
llvm::PipelineTuningOptions tuning() {
  llvm::PipelineTuningOptions options;
  options.LoopVectorization = false;
  options.SLPVectorization = false;
  return options;
}

}  // namespace

Optimiser::Optimiser(llvm::TargetMachine& machine)
    : machine_(machine), builder_(&machine, tuning()) {
  builder_.registerModuleAnalyses(modules_);
  builder_.registerCGSCCAnalyses(components_);
  builder_.registerFunctionAnalyses(functions_);
  builder_.registerLoopAnalyses(loops_);
  builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
}

void Optimiser::end_tail_recursion(llvm::Module& module) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::TailCallElimPass());
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& function : module) {
    const bool calls_itself = llvm::any_of(function.users(), [&](const llvm::User* user) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      return call != nullptr && call->getFunction() == &function;
    });
    if (calls_itself && !function.isDeclaration()) {
      passes.run(function, functions_);
    }
  }
}

void Optimiser::expand(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::InternalizePass([](const llvm::GlobalValue& value) {
    return value.getName() == kThreadFunction || value.getName() == kEntryFunction;
  }));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::AlwaysInlinerPass());
  llvm::FunctionPassManager cleanup;
  cleanup.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  cleanup.addPass(llvm::EarlyCSEPass());
  cleanup.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(cleanup)));
  run(passes, module);
}

void Optimiser::evaluate_initialisers(llvm::Module& module) {
  llvm::ModulePassManager passes;
  llvm::FunctionPassManager cleanup;
  cleanup.addPass(llvm::InstCombinePass());
  cleanup.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(cleanup)));
  passes.addPass(llvm::GlobalOptPass());
  passes.addPass(llvm::GlobalDCEPass());
  run(passes, module);
}

void Optimiser::optimise(llvm::Module& module) {
  llvm::ModulePassManager passes =
      builder_.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  passes.addPass(llvm::GlobalDCEPass());
  // One back edge for each loop, where threads can meet.
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::LoopSimplifyPass()));
  run(passes, module);
}

void Optimiser::finish(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(builder_.buildFunctionSimplificationPipeline(
          llvm::OptimizationLevel::O1, llvm::ThinOrFullLTOPhase::None)));
  passes.addPass(llvm::GlobalDCEPass());
  run(passes, module);
}

void Optimiser::simplify(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(builder_.buildFunctionSimplificationPipeline(
          llvm::OptimizationLevel::O2, llvm::ThinOrFullLTOPhase::None)));
  passes.addPass(llvm::GlobalDCEPass());
  run(passes, module);
}

void Optimiser::optimise_programs(llvm::Module& module) {
  // Lanes already give each loop enough independent work.
  llvm::PipelineTuningOptions options = tuning();
  options.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine_, options);
  llvm::ModulePassManager passes =
      builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  passes.addPass(llvm::GlobalDCEPass());
  run(passes, module);
}

void Optimiser::run(llvm::ModulePassManager& passes, llvm::Module& module) {
  passes.run(module, modules_);
  modules_.clear();
}

}  // namespace pewter::compiler::codegen
