#include "pewter/compiler/spmd/row_prefetch.h"

#include <set>
#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

namespace pewter::compiler::spmd {
namespace {

using Builder = llvm::IRBuilder<>;

// Threads between a group and those that are asked for: 8 KiB of floats. Half of it and twice as
// much gain less.
constexpr unsigned kThreadsAhead = 2048;
constexpr unsigned kLineBytes = 64;
constexpr unsigned kLeastBytes = 32;
// More loads than that in a group keep memory busy by themselves.
constexpr std::size_t kMaxLoads = 64;
// Where results are nearly as large as what they are made from, writing them keeps memory busy:
// `y[i] += a * x[i]` loses by it.
constexpr std::size_t kLoadsPerStore = 4;

/// The loop over groups: it tells each time at which of them it is.
llvm::Loop* row_loop(llvm::Function& entry, const llvm::LoopInfo& loops) {
  for (llvm::Instruction& instruction : llvm::instructions(entry)) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store != nullptr && store->isVolatile()) {
      return loops.getLoopFor(store->getParent());
    }
  }
  return nullptr;
}

/// Makes addresses of this group into those of a group behind it.
class Shifter {
 public:
  Shifter(llvm::Loop& loop, llvm::Value* groups) : loop_(loop), groups_(groups) {}

  /// The value that `value` will have; null when it cannot be known, `value` when it will be the
  /// same.
  llvm::Value* shifted(llvm::Value* value, llvm::Instruction& before) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr || !loop_.contains(instruction)) {
      return value;
    }
    const auto known = shifted_.find(instruction);
    if (known != shifted_.end()) {
      return known->second;
    }
    llvm::Value* result = make(*instruction, before);
    shifted_[instruction] = result;
    return result;
  }

 private:
  llvm::Value* make(llvm::Instruction& instruction, llvm::Instruction& before) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      return phi->getParent() == loop_.getHeader() ? later(*phi, before)
             // The number of a program within its group.
             : phi->getType()->isIntegerTy() ? phi
                                             : nullptr;
    }
    if (instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load)) {
      return shifted(instruction.getOperand(0), before) == instruction.getOperand(0) ? &instruction
                                                                                     : nullptr;
    }
    const bool is_arithmetic = llvm::isa<llvm::BinaryOperator>(instruction) ||
                               llvm::isa<llvm::CastInst>(instruction) ||
                               llvm::isa<llvm::GetElementPtrInst>(instruction);
    if (!is_arithmetic || instruction.getType()->isVectorTy() || instruction.isIntDivRem()) {
      return nullptr;
    }
    std::vector<llvm::Value*> operands;
    bool differs = false;
    for (llvm::Value* operand : instruction.operands()) {
      llvm::Value* other = shifted(operand, before);
      if (other == nullptr) {
        return nullptr;
      }
      differs = differs || other != operand;
      operands.push_back(other);
    }
    if (!differs) {
      return &instruction;
    }
    llvm::Instruction* copy = instruction.clone();
    for (unsigned i = 0; i < operands.size(); ++i) {
      copy->setOperand(i, operands[i]);
    }
    // What was promised holds for groups that there are.
    copy->dropPoisonGeneratingFlags();
    copy->insertBefore(&before);
    return copy;
  }

  /// A number that goes up by the same with each group.
  llvm::Value* later(llvm::PHINode& phi, llvm::Instruction& before) {
    const int back = phi.getBasicBlockIndex(loop_.getLoopLatch());
    const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValue(back));
    if (next == nullptr || next->getOpcode() != llvm::Instruction::Add ||
        next->getOperand(0) != &phi || !loop_.isLoopInvariant(next->getOperand(1))) {
      return nullptr;
    }
    Builder builder(&before);
    llvm::Value* groups = builder.CreateZExtOrTrunc(groups_, phi.getType());
    return builder.CreateAdd(&phi, builder.CreateMul(groups, next->getOperand(1)));
  }

  llvm::Loop& loop_;
  llvm::Value* groups_;
  llvm::DenseMap<llvm::Instruction*, llvm::Value*> shifted_;
};

/// What a group does with whole vectors in memory.
struct Traffic {
  std::vector<llvm::LoadInst*> loads;
  std::size_t store_count = 0;
};

Traffic traffic_of(const llvm::Loop& loop, const llvm::DataLayout& layout) {
  Traffic traffic;
  const auto is_whole = [&](llvm::Type* type) {
    return type->isVectorTy() && layout.getTypeStoreSize(type).getFixedValue() >= kLeastBytes;
  };
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (load != nullptr && load->isSimple() && is_whole(load->getType())) {
        traffic.loads.push_back(load);
      } else if (store != nullptr && is_whole(store->getValueOperand()->getType())) {
        ++traffic.store_count;
      }
    }
  }
  return traffic;
}

}  // namespace

void prefetch_rows(llvm::Function& entry) {
  const llvm::DominatorTree dominators(entry);
  const llvm::LoopInfo loops(dominators);
  llvm::Loop* loop = row_loop(entry, loops);
  if (loop == nullptr || loop->getLoopPreheader() == nullptr || loop->getLoopLatch() == nullptr) {
    return;
  }
  const llvm::DataLayout& layout = entry.getParent()->getDataLayout();
  const Traffic traffic = traffic_of(*loop, layout);
  if (traffic.loads.size() > kMaxLoads ||
      traffic.loads.size() < kLoadsPerStore * (traffic.store_count + 1)) {
    return;
  }

  Builder builder(loop->getLoopPreheader()->getTerminator());
  llvm::Value* threads =
      builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, entry.getArg(3), builder.getInt32(1));
  llvm::Value* groups = builder.CreateBinaryIntrinsic(
      llvm::Intrinsic::umax, builder.CreateUDiv(builder.getInt32(kThreadsAhead), threads),
      builder.getInt32(1));

  std::set<std::pair<const llvm::Value*, std::int64_t>> lines;
  for (llvm::LoadInst* load : traffic.loads) {
    llvm::APInt offset(64, 0);
    const llvm::Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(
        layout, offset, /*AllowNonInbounds=*/true);
    if (!lines.emplace(base, offset.getSExtValue() / kLineBytes).second) {
      continue;
    }
    // Nothing is shared between blocks, which need not come before each other.
    Shifter shifter(*loop, groups);
    llvm::Value* address = shifter.shifted(load->getPointerOperand(), *load);
    if (address == nullptr || address == load->getPointerOperand()) {
      continue;
    }
    Builder at(load);
    at.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                       {address, at.getInt32(0), at.getInt32(3), at.getInt32(1)});
  }
}

}  // namespace pewter::compiler::spmd
