#include "pewter/compiler/spmd/unrolling.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/uniformity.h"

namespace pewter::compiler::spmd {
namespace {

constexpr unsigned kMaxIterations = 32;
constexpr std::size_t kMaxInstructions = 800;
constexpr std::int64_t kMaxStep = 16;
// Of a whole nest of loops over private arrays.
constexpr std::size_t kMaxPrivateInstructions = 4'000;

bool walks(const llvm::Loop& loop, llvm::ScalarEvolution& evolution, const Uniformity& uniformity) {
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load == nullptr || uniformity.is_uniform(load->getPointerOperand())) {
        continue;
      }
      const auto* address = llvm::dyn_cast<llvm::SCEVAddRecExpr>(
          evolution.getSCEV(const_cast<llvm::Value*>(load->getPointerOperand())));
      if (address == nullptr || address->getLoop() != &loop || !address->isAffine()) {
        continue;
      }
      const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(address->getStepRecurrence(evolution));
      if (step != nullptr && step->getAPInt().sgt(0) && step->getAPInt().sle(kMaxStep)) {
        return true;
      }
    }
  }
  return false;
}

/// Whether a private array is accessed at places that depend on the iteration.
bool walks_private_memory(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      if (address != nullptr && is_private_memory(address) &&
          !evolution.isLoopInvariant(
              evolution.getSCEV(const_cast<llvm::GetElementPtrInst*>(address)), &loop)) {
        return true;
      }
    }
  }
  return false;
}

/// Instructions of a loop when it and those inside are unrolled.
std::size_t unrolled_size(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  std::size_t size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    size += block->size();
  }
  for (const llvm::Loop* inner : loop.getSubLoops()) {
    size += unrolled_size(*inner, evolution);
  }
  return size * std::max(1U, evolution.getSmallConstantTripCount(&loop));
}

}  // namespace

void mark_private_walks(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const auto loops = analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder();
  if (loops.empty()) {
    return;
  }
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : loops) {
    const unsigned count = evolution.getSmallConstantTripCount(loop);
    if (count > 1 && count <= kMaxIterations &&
        unrolled_size(*loop, evolution) <= kMaxPrivateInstructions &&
        walks_private_memory(*loop, evolution)) {
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
    }
  }
}

void unroll_walks(llvm::Function& function,
                  llvm::FunctionAnalysisManager& analyses,
                  unsigned width) {
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  const auto loops = analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder();
  if (loops.empty()) {
    return;
  }
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const Uniformity uniformity(function, width);
  bool any = false;
  for (llvm::Loop* loop : loops) {
    const unsigned count = evolution.getSmallConstantTripCount(loop);
    std::size_t size = 0;
    for (const llvm::BasicBlock* block : loop->blocks()) {
      size += block->size();
    }
    if (loop->isInnermost() && count > 1 && count <= kMaxIterations &&
        size * count <= kMaxInstructions && walks(*loop, evolution, uniformity)) {
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
      any = true;
    }
  }
  if (!any) {
    return;
  }
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass(2, true)));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.run(function, analyses);
}

}  // namespace pewter::compiler::spmd
