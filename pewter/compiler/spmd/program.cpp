#include "pewter/compiler/spmd/program.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

#include "pewter/compiler/spmd/load_merging.h"
#include "pewter/compiler/spmd/lone_lanes.h"
#include "pewter/compiler/spmd/preparation.h"
#include "pewter/compiler/spmd/private_filling.h"
#include "pewter/compiler/spmd/private_memory.h"
#include "pewter/compiler/spmd/private_search.h"
#include "pewter/compiler/spmd/row_sums.h"
#include "pewter/compiler/spmd/unrolling.h"
#include "pewter/compiler/spmd/versioning.h"
#include "pewter/compiler/spmd/waiting.h"

namespace pewter::compiler::spmd {
namespace {

llvm::Function* new_program(llvm::Function& thread,
                            const char* name,
                            bool is_partial,
                            unsigned per_chunk) {
  llvm::LLVMContext& context = thread.getContext();
  llvm::SmallVector<llvm::Type*, 4> parameters(thread.getFunctionType()->params());
  if (is_partial) {
    parameters.push_back(llvm::Type::getInt32Ty(context));
  }
  auto* program = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), parameters, false),
      llvm::GlobalValue::InternalLinkage, name, thread.getParent());
  program->copyAttributesFrom(&thread);
  program->setLinkage(llvm::GlobalValue::InternalLinkage);
  program->addFnAttr("prefer-vector-width", std::to_string(per_chunk * 32));
  if (is_partial) {
    // At most one in a group.
    program->addFnAttr(llvm::Attribute::Cold);
    program->addFnAttr(llvm::Attribute::NoInline);
  }
  return program;
}

/// Whether threads meet at barriers or use each other's values.
bool needs_others(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    const DeviceCall call = device_call(instruction);
    return call.kind == DeviceCall::Kind::GroupBarrier || call.is_cross_lane();
  });
}

bool has_barriers(llvm::Function& function) {
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (device_call(instruction).kind == DeviceCall::Kind::GroupBarrier) {
      return true;
    }
  }
  return false;
}

/// Refuses what single threads do faster in memory of their own.
Result<void> check_private_work(llvm::Function& thread,
                                llvm::FunctionAnalysisManager& analyses,
                                Lanes lanes) {
  const bool has_memory = llvm::any_of(llvm::instructions(thread), [](const auto& instruction) {
    return llvm::isa<llvm::AllocaInst>(instruction);
  });
  if (!has_memory || needs_others(thread)) {
    return {};
  }
  const llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(thread);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(thread);
  if (const llvm::Instruction* search = find_private_search(loops, evolution)) {
    return failure(
        refusal("a search through private memory whose way is each thread's own", *search));
  }
  if (const llvm::Instruction* access = find_private_filling(thread, loops, evolution, lanes)) {
    return failure(refusal(
        "little but accesses to private memory at places that are each thread's own", *access));
  }
  return {};
}

}  // namespace

Result<Programs> vectorise(llvm::Function& thread,
                           llvm::FunctionAnalysisManager& analyses,
                           Lanes lanes,
                           bool with_partial) {
  analyses.invalidate(thread, llvm::PreservedAnalyses::none());
  if (auto worthwhile = check_private_work(thread, analyses, lanes); !worthwhile) {
    return worthwhile.error();
  }
  split_values(thread, analyses);
  unroll_walks(thread, analyses, lanes.width);
  Programs programs;
  programs.has_row_sums = extract_row_sums(thread, analyses, lanes.width);
  merge_loads(thread, analyses, lanes.width);
  widen_private_memory(thread, lanes.width);
  analyses.invalidate(thread, llvm::PreservedAnalyses::none());
  llvm::FunctionPassManager tidy;
  tidy.addPass(llvm::InstCombinePass());
  tidy.addPass(llvm::EarlyCSEPass());
  tidy.run(thread, analyses);
  split_values(thread, analyses);
  if (const llvm::Instruction* lock = find_lock_released_behind_loop(thread, lanes.width)) {
    return failure(refusal("a lock that is released behind its loop", *lock));
  }
  programs.released_switches = release_parting_lanes(thread, lanes.width);
  lower_switches(thread, analyses);
  version_early_returns(thread, lanes.width);
  simplify_loops(thread, analyses);
  const std::vector<VersionedLoop> versions = version_loops(thread, lanes.width);
  structure_control_flow(thread, analyses);
  programs.released_loops = release_lone_lanes(thread, lanes, versions);
  structure_control_flow(thread, analyses);

  order_products(thread);

  programs.has_barriers = lanes.others_wait && has_barriers(thread);
  programs.full = new_program(thread, "pewter.program", false, lanes.per_chunk);
  if (with_partial) {
    programs.partial = new_program(thread, "pewter.partial_program", true, lanes.per_chunk);
  }
  analyses.invalidate(thread, llvm::PreservedAnalyses::none());
  const Analyses found(thread, lanes, analyses.getResult<llvm::ScalarEvolutionAnalysis>(thread));
  for (llvm::Function* program : {programs.full, programs.partial}) {
    if (program == nullptr) {
      continue;
    }
    llvm::Value* lane_count = program == programs.partial ? program->getArg(4) : nullptr;
    auto tally = Emitter(thread, *program, found, lane_count).run();
    if (!tally) {
      return std::move(tally).error();
    }
    if (lane_count == nullptr) {
      programs.tally = *tally;
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (llvm::verifyFunction(*program, &stream)) {
      return failure("internal error: " + stream.str());
    }
    llvm::FunctionPassManager promote;
    promote.addPass(llvm::PromotePass());
    promote.run(*program, analyses);
  }
  analyses.clear(thread, thread.getName());
  thread.eraseFromParent();
  return programs;
}

}  // namespace pewter::compiler::spmd
