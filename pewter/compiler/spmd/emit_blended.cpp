// Masked stores for processors that have none worth the name: whole vectors, with what was there
// before in the lanes that store nothing.

#include "llvm/Analysis/ValueTracking.h"

#include "pewter/compiler/spmd/emitter.h"

namespace pewter::compiler::spmd {
namespace {

// Blocks before a store that are searched for the load of the same place.
constexpr unsigned kMaxBlocks = 4;
// Narrower elements are stored one by one under a mask.
constexpr std::uint64_t kLeastMaskedBytes = 4;

/// Whether threads may learn from each other at an instruction, so that what was read before may
/// have been written since.
bool may_synchronise(const llvm::Instruction& instruction) {
  return instruction.isAtomic() || instruction.isVolatile() ||
         (llvm::isa<llvm::CallBase>(instruction) && instruction.mayWriteToMemory());
}

/// The load by which a thread has read the very place that a store writes, with nothing between the
/// two at which threads synchronise; null when there is none.
const llvm::LoadInst* read_before(const llvm::StoreInst& store, const llvm::LoopInfo& loops) {
  const llvm::BasicBlock* block = store.getParent();
  const llvm::Instruction* at = store.getPrevNode();
  for (unsigned i = 0; i < kMaxBlocks; ++i) {
    for (; at != nullptr; at = at->getPrevNode()) {
      if (may_synchronise(*at)) {
        return nullptr;
      }
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(at);
      if (load != nullptr && load->getPointerOperand() == store.getPointerOperand() &&
          load->getType() == store.getValueOperand()->getType()) {
        return load;
      }
    }
    const llvm::BasicBlock* before = block->getSinglePredecessor();
    if (before == nullptr || loops.getLoopFor(before) != loops.getLoopFor(block)) {
      return nullptr;
    }
    block = before;
    at = block->getTerminator();
  }
  return nullptr;
}

}  // namespace

/// Whether every place of an object that the kernel writes is a thread's own, or its partner's.
///
/// Threads that also write to places which they find in the data may rely on what the language
/// does not promise: that a write is not undone by a thread that has only read there.
bool Emitter::has_plain_owners(const llvm::Value* object) const {
  for (const llvm::BasicBlock& block : source_) {
    for (const llvm::Instruction& instruction : block) {
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (store == nullptr) {
        for (const llvm::Value* operand : instruction.operands()) {
          if (instruction.mayWriteToMemory() && operand->getType()->isPointerTy() &&
              llvm::getUnderlyingObject(operand, 0) == object) {
            return false;
          }
        }
        continue;
      }
      const llvm::Value* pointer = store->getPointerOperand();
      if (llvm::getUnderlyingObject(pointer, 0) != object) {
        continue;
      }
      const std::uint64_t size = layout_.getTypeStoreSize(store->getValueOperand()->getType());
      for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
        const Pattern how = pattern(pointer, chunk, size);
        if (how != Pattern::Consecutive && how != Pattern::Reverse &&
            !find_exchange(pointer, size)) {
          return false;
        }
      }
    }
  }
  return true;
}

/// Lanes that have read what a store writes, so that they may write it back: a thread that wrote
/// there meanwhile would race with them.
std::optional<Emitter::Readers> Emitter::readers(const llvm::StoreInst& store) {
  const llvm::Value* pointer = store.getPointerOperand();
  const std::uint64_t size = layout_.getTypeStoreSize(store.getValueOperand()->getType());
  if (lanes_.has_masked_stores && size >= kLeastMaskedBytes) {
    return std::nullopt;
  }
  const llvm::LoadInst* load = read_before(store, analyses_.control_flow.loops());
  if (load == nullptr || !has_plain_owners(llvm::getUnderlyingObject(pointer, 0))) {
    return std::nullopt;
  }
  Readers result;
  result.lanes = block_masks_.at(load->getParent());
  // Of two loads beside each other, `x[i]` and `x[i ^ distance]`, one has read what the other has
  // not.
  for (const llvm::Instruction& other : *load->getParent()) {
    const auto* beside = llvm::dyn_cast<llvm::LoadInst>(&other);
    if (beside == nullptr || beside->getType() != load->getType()) {
      continue;
    }
    for (const auto& [own, partner] : {std::pair(load, beside), std::pair(beside, load)}) {
      auto exchange = find_exchange(partner->getPointerOperand(), size);
      if (exchange && exchange->reorders && is_partner(*own->getPointerOperand(), *exchange)) {
        result.exchange = exchange;
      }
    }
  }
  return result;
}

/// Whether the partner of what is at an address is what an exchange accesses.
bool Emitter::is_partner(const llvm::Value& pointer, const Exchange& exchange) {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&pointer);
  if (address == nullptr || address->getNumIndices() != 1 ||
      address->getPointerOperand() != exchange.address->getPointerOperand() ||
      address->getSourceElementType() != exchange.address->getSourceElementType()) {
    return false;
  }
  const llvm::Value* index = address->getOperand(1);
  if (llvm::isa<llvm::ZExtInst>(index) || llvm::isa<llvm::SExtInst>(index)) {
    if (llvm::isa<llvm::SExtInst>(index) != exchange.is_signed) {
      return false;
    }
    index = llvm::cast<llvm::CastInst>(index)->getOperand(0);
  }
  return index == exchange.index;
}

/// Whether some lane has read each place of a chunk.
llvm::Value* Emitter::all_read(const Readers& readers, unsigned chunk) {
  if (readers.lanes.empty()) {
    return builder_.getTrue();
  }
  llvm::Value* lanes = readers.lanes[chunk];
  if (readers.exchange) {
    const PartnerOrder partner = partner_order(*readers.exchange);
    llvm::Value* in_chunk = builder_.CreateAnd(exchanges_chunks(*readers.exchange),
                                               builder_.CreateIsNull(partner.distance));
    lanes =
        builder_.CreateOr(lanes, builder_.CreateSelect(in_chunk, reorder(lanes, partner.order),
                                                       llvm::Constant::getNullValue(mask_type())));
  }
  return all_of({lanes});
}

void Emitter::store_blended(llvm::StoreInst& store,
                            llvm::Value* address,
                            llvm::Value* value,
                            llvm::Value* active_lanes) {
  llvm::Value* before = builder_.CreateAlignedLoad(value->getType(), address, store.getAlign());
  builder_.CreateAlignedStore(builder_.CreateSelect(active_lanes, value, before), address,
                              store.getAlign());
}

}  // namespace pewter::compiler::spmd
