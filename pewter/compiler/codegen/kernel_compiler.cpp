#include "pewter/compiler/codegen/kernel_compiler.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/GlobalOpt.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/base/log.h"
#include "pewter/compiler/codegen/clang_output.h"
#include "pewter/compiler/codegen/convergence.h"
#include "pewter/compiler/codegen/entry_point.h"
#include "pewter/compiler/codegen/function_constants.h"
#include "pewter/compiler/codegen/object_code.h"
#include "pewter/compiler/codegen/threadgroup_memory.h"

namespace pewter::compiler::codegen {
namespace {

/// LLVM's analysis managers, wired together once for all the pipelines of one kernel.
class Optimiser {
 public:
  explicit Optimiser(llvm::TargetMachine& machine) : builder_(&machine, tuning()) {
    builder_.registerModuleAnalyses(modules_);
    builder_.registerCGSCCAnalyses(components_);
    builder_.registerFunctionAnalyses(functions_);
    builder_.registerLoopAnalyses(loops_);
    builder_.crossRegisterProxies(loops_, functions_, components_, modules_);
  }

  /// Inlines everything and folds what that shows, enough to see which constants and bindings are
  /// used.
  void expand(llvm::Module& module) {
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

  /// Evaluates initialisers of `constant` variables that depend on function constants.
  void evaluate_initialisers(llvm::Module& module) {
    llvm::ModulePassManager passes;
    llvm::FunctionPassManager cleanup;
    cleanup.addPass(llvm::InstCombinePass());
    cleanup.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(cleanup)));
    passes.addPass(llvm::GlobalOptPass());
    passes.addPass(llvm::GlobalDCEPass());
    run(passes, module);
  }

  void optimise(llvm::Module& module) {
    llvm::ModulePassManager passes =
        builder_.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
    passes.addPass(llvm::GlobalDCEPass());
    // One back edge for each loop, where threads can meet.
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::LoopSimplifyPass()));
    run(passes, module);
  }

  /// Joins the thread function with the loop around it.
  void finish(llvm::Module& module) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::AlwaysInlinerPass());
    passes.addPass(
        llvm::createModuleToFunctionPassAdaptor(builder_.buildFunctionSimplificationPipeline(
            llvm::OptimizationLevel::O1, llvm::ThinOrFullLTOPhase::None)));
    passes.addPass(llvm::GlobalDCEPass());
    run(passes, module);
  }

 private:
  // Scalar mode is the reference: one thread at a time, nothing widened behind its back.
  static llvm::PipelineTuningOptions tuning() {
    llvm::PipelineTuningOptions options;
    options.LoopVectorization = false;
    options.SLPVectorization = false;
    return options;
  }

  void run(llvm::ModulePassManager& passes, llvm::Module& module) {
    passes.run(module, modules_);
    modules_.clear();
  }

  llvm::PassBuilder builder_;
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
};

Result<void> verify(llvm::Module& module, const char* step) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream)) {
    return failure(fmt::format("internal error after {}: {}", step, stream.str()));
  }
  return {};
}

bool has_pending_initialisers(const llvm::Module& module) {
  const llvm::GlobalVariable* constructors = module.getNamedGlobal("llvm.global_ctors");
  if (constructors == nullptr || !constructors->hasInitializer()) {
    return false;
  }
  const auto* list = llvm::dyn_cast<llvm::ConstantArray>(constructors->getInitializer());
  return list != nullptr && list->getNumOperands() > 0;
}

bool uses_atomics(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    for (const llvm::BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block) {
        if (instruction.isAtomic()) {
          return true;
        }
      }
    }
  }
  return false;
}

void show(const llvm::Module& module, const char* step) {
  if (log::wanted("ir")) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    log::write(log::Level::Detail, "ir", fmt::format("after {}\n{}", step, stream.str()));
  }
}

}  // namespace

Result<KernelCode> compile_kernel(llvm::Module& module, const KernelPlan& plan) {
  auto machine = make_target_machine(plan);
  if (!machine) {
    return std::move(machine).error();
  }
  module.setTargetTriple((*machine)->getTargetTriple().str());
  module.setDataLayout((*machine)->createDataLayout());
  Optimiser optimiser(**machine);

  show(module, "clang");
  normalise(module, plan);
  bind_constants(module, plan);
  if (auto built = build_thread_function(module, plan); !built) {
    return built.error();
  }
  if (auto sound = verify(module, "the front end"); !sound) {
    return sound.error();
  }
  optimiser.expand(module);
  answer_definedness(module, plan);
  optimiser.evaluate_initialisers(module);
  if (has_pending_initialisers(module)) {
    return failure(
        "a 'constant' variable at file scope is initialised by something that is not "
        "known when the pipeline is made");
  }
  KernelCode code;
  code.threadgroup_bytes = lower_threadgroup_variables(module, ".pewter.threadgroup");
  if (code.threadgroup_bytes > abi::kMaxThreadgroupMemory) {
    return failure(
        fmt::format("kernel '{}' declares {} bytes of threadgroup memory, the limit is {}",
                    plan.name, code.threadgroup_bytes, abi::kMaxThreadgroupMemory));
  }
  optimiser.optimise(module);
  show(module, "optimisation");
  if (const auto missing = undefined_constants(module, plan); !missing.empty()) {
    return failure(fmt::format("kernel '{}' needs a value for function constant{} {}", plan.name,
                               missing.size() > 1 ? "s" : "", fmt::join(missing, ", ")));
  }

  code.required_buffers = bind_arguments(module);
  const Convergence convergence = find_convergence(module);
  code.uses_barriers = convergence.barriers;
  code.uses_simdgroup = convergence.simdgroup;
  code.needs_fibers = convergence.barriers || convergence.simdgroup;
  code.uses_atomics = uses_atomics(module);
  build_entry_point(module, plan, code.needs_fibers);
  if (code.needs_fibers) {
    for (llvm::Function& function : module) {
      if (!function.isDeclaration()) {
        number_convergence_sites(function);
      }
    }
  } else {
    optimiser.finish(module);
  }
  if (auto sound = verify(module, "code generation"); !sound) {
    return sound.error();
  }
  show(module, "code generation");
  auto object = emit_object(module, **machine);
  if (!object) {
    return std::move(object).error();
  }
  code.object = std::move(object->bytes);
  code.stack_bytes = object->stack_bytes;
  code.entry = kEntryFunction;
  return code;
}

}  // namespace pewter::compiler::codegen
