#include "pewter/compiler/codegen/optimiser.h"

#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/BDCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/TailRecursionElimination.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#include "pewter/compiler/codegen/entry_point.h"
#include "pewter/compiler/codegen/extrema.h"
#include "pewter/compiler/codegen/settled_arithmetic.h"

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

/// Whether a coroutine computes a value again after a barrier instead of keeping it: addresses and
/// numbers of one thread, but not sums of all lanes, for which all that was added would be kept.
bool is_cheaper_than_keeping(const llvm::Instruction& instruction) {
  return (llvm::isa<llvm::CastInst>(instruction) ||
          llvm::isa<llvm::GetElementPtrInst>(instruction) ||
          llvm::isa<llvm::BinaryOperator>(instruction) || llvm::isa<llvm::CmpInst>(instruction) ||
          llvm::isa<llvm::SelectInst>(instruction)) &&
         !instruction.getType()->isVectorTy() && !instruction.getType()->isFloatingPointTy();
}

}  // namespace

Optimiser::Optimiser(llvm::TargetMachine& machine) : builder_(&machine, tuning()) {
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

void Optimiser::inline_marked(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass());
  passes.addPass(
      llvm::createModuleToFunctionPassAdaptor(llvm::SROAPass(llvm::SROAOptions::PreserveCFG)));
  run(passes, module);
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
  // Before anything that reasons about values.
  cleanup.addPass(SpellOutExtrema());
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

void Optimiser::settle_arithmetic(llvm::Module& module) {
  llvm::FunctionPassManager passes;
  // Values that only go round loops look as if somebody needed them.
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::InstCombinePass());
  // Divisions by what a loop does not change become one reciprocal.
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::ReassociatePass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(SettleArithmetic());
  for (llvm::Function& function : module) {
    if (has_freedoms(function)) {
      passes.run(function, functions_);
    }
  }
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

void Optimiser::fold_programs(llvm::Module& module) {
  // The thread function has been through LLVM's own pipeline, so only what lanes brought is left to
  // do: values and masks of several chunks that are the same, addresses that loops share, code that
  // the loop around the programs shows to be dead.
  llvm::ModulePassManager passes;
  passes.addPass(llvm::CoroEarlyPass());
  passes.addPass(llvm::AlwaysInlinerPass());
  llvm::FunctionPassManager first;
  first.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  first.addPass(llvm::EarlyCSEPass(true));
  // Branches of programs are taken in two steps; threaded before anything makes selects of them.
  first.addPass(llvm::JumpThreadingPass());
  first.addPass(llvm::SimplifyCFGPass());
  // Not InstCombine yet: it would move work behind barriers, across which coroutines keep what the
  // work takes.
  first.addPass(llvm::InstSimplifyPass());
  first.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(first)));
  run(passes, module);
}

void Optimiser::optimise_programs(llvm::Module& module) {
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(
      llvm::CoroSplitPass(is_cheaper_than_keeping, true)));
  passes.addPass(llvm::CoroCleanupPass());
  passes.addPass(llvm::GlobalDCEPass());
  llvm::FunctionPassManager second;
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass(true));
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  second.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), true));
  second.addPass(llvm::SimplifyCFGPass());
  second.addPass(llvm::InstCombinePass());
  second.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  // Loops that were marked for it, and no others: lanes already give each enough independent work.
  second.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2, true, false)));
  second.addPass(llvm::EarlyCSEPass(true));
  second.addPass(llvm::GVNPass());
  second.addPass(llvm::BDCEPass());
  second.addPass(llvm::DSEPass());
  second.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  second.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions()
                                           .convertSwitchRangeToICmp(true)
                                           .hoistCommonInsts(true)
                                           .sinkCommonInsts(true)));
  second.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(second)));
  run(passes, module);
}

void Optimiser::run(llvm::ModulePassManager& passes, llvm::Module& module) {
  passes.run(module, modules_);
  modules_.clear();
}

}  // namespace pewter::compiler::codegen
