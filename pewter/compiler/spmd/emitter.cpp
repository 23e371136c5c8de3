#include "pewter/compiler/spmd/emitter.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/raw_ostream.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/fused_products.h"
#include "pewter/compiler/spmd/instruction_order.h"

namespace pewter::compiler::spmd {
namespace {

// A block of so few instructions is not worth a branch around it.
constexpr unsigned kFreeInstructions = 4;

}  // namespace

Emitter::Emitter(llvm::Function& source,
                 llvm::Function& target,
                 const Analyses& analyses,
                 llvm::Value* lane_count)
    : source_(source),
      target_(target),
      analyses_(analyses),
      lanes_(analyses.lanes),
      lane_count_(lane_count),
      layout_(source.getDataLayout()),
      builder_(source.getContext(),
               llvm::ConstantFolder(),
               llvm::IRBuilderCallbackInserter([this](llvm::Instruction* made) {
                 if (accessor_ != nullptr && made->mayReadOrWriteMemory()) {
                   made->setMetadata(kChunkOfAccess, accessor_);
                 }
               })),
      keeps_rows_(lane_count == nullptr && analyses.lanes.per_chunk == 8 &&
                  analyses.lanes.width % abi::kSimdWidth == 0),
      mask_slots_(analyses.masks.vector_count()) {}

Result<Tally> Emitter::run() {
  allocas_ = new_block("entry");
  llvm::BasicBlock* start = new_block("start");
  for (unsigned i = 0; i < source_.arg_size(); ++i) {
    scalars_[source_.getArg(i)] = target_.getArg(i);
  }
  builder_.SetInsertPoint(start);
  if (lane_count_ != nullptr) {
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      llvm::Value* inside =
          builder_.CreateICmpULT(lane_numbers(chunk, builder_.getInt32Ty()), splat(lane_count_));
      program_mask_.push_back(builder_.CreateSExt(inside, mask_type()));
    }
  }
  emit_region(nullptr);
  builder_.CreateRetVoid();
  llvm::IRBuilder<>(allocas_).CreateBr(start);
  if (!reason_.empty()) {
    return failure(reason_);
  }
  return tally_;
}

void Emitter::give_up(const std::string& reason, const llvm::Instruction& instruction) {
  if (reason_.empty()) {
    reason_ = refusal(reason, instruction);
  }
}

llvm::AllocaInst* Emitter::new_slot(llvm::Type* type, const llvm::Twine& name) {
  return llvm::IRBuilder<>(allocas_).CreateAlloca(type, nullptr, name);
}

Emitter::Slots& Emitter::vector_slots(const llvm::PHINode* phi) {
  Slots& slots = vector_slots_[phi];
  if (slots.empty()) {
    llvm::Type* type = phi->getType()->isIntegerTy(1) ? mask_type() : chunk_type(phi->getType());
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      slots.push_back(new_slot(type, phi->getName()));
    }
  }
  return slots;
}

llvm::AllocaInst*& Emitter::scalar_slot(const llvm::PHINode* phi) {
  llvm::AllocaInst*& slot = scalar_slots_[phi];
  if (slot == nullptr) {
    slot = new_slot(phi->getType(), phi->getName());
  }
  return slot;
}

Emitter::Slots& Emitter::mask_slots(unsigned number) {
  Slots& slots = mask_slots_[number];
  if (slots.empty()) {
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      slots.push_back(new_slot(mask_type(), "mask"));
    }
  }
  return slots;
}

llvm::AllocaInst*& Emitter::guard_slot(const llvm::BasicBlock* block) {
  llvm::AllocaInst*& slot = guard_slots_[block];
  if (slot == nullptr) {
    slot = new_slot(builder_.getInt1Ty(), "guard");
  }
  return slot;
}

void Emitter::forget_since(std::size_t scope) {
  while (made_here_.size() > scope) {
    vectors_.erase(made_here_.back());
    made_here_.pop_back();
  }
}

void Emitter::emit_region(const llvm::Loop* region) {
  llvm::BasicBlock* first =
      region != nullptr ? region->getHeader() : analyses_.control_flow.blocks().front();
  for (llvm::BasicBlock* node : analyses_.control_flow.nodes(region)) {
    if (node == first) {
      continue;
    }
    children_[analyses_.control_flow.parent(region, node)].push_back(node);
    if (analyses_.control_flow.loop_at(region, node) != nullptr) {
      continue;
    }
    const BlockMask& mask = analyses_.masks.of(node);
    if (mask.owns_guard) {
      builder_.CreateStore(builder_.getFalse(), guard_slot(node));
    }
    if (mask.owns_vector) {
      for (llvm::AllocaInst* slot : mask_slots(mask.vector)) {
        builder_.CreateStore(llvm::Constant::getNullValue(mask_type()), slot);
      }
    }
    // Whatever an earlier iteration has left is of no interest, and LLVM should know.
    for (llvm::PHINode& phi : node->phis()) {
      if (!analyses_.shapes.is_uniform(&phi)) {
        for (llvm::AllocaInst* slot : vector_slots(&phi)) {
          builder_.CreateStore(llvm::PoisonValue::get(slot->getAllocatedType()), slot);
        }
      }
    }
  }
  emit_node(region, first);
}

bool Emitter::needs_check(const llvm::Loop* region, llvm::BasicBlock* node) const {
  if (analyses_.control_flow.loop_at(region, node) != nullptr ||
      (region != nullptr && region->getHeader() == node)) {
    return false;
  }
  const BlockMask& mask = analyses_.masks.of(node);
  return mask.owns_guard || (mask.owns_vector && !is_cheap_to_run(node));
}

// Whether a block may run with no lane active: nothing happens that its lanes would not want, and
// what it hands on is masked.
bool Emitter::is_cheap_to_run(const llvm::BasicBlock* block) const {
  unsigned count = 0;
  for (const llvm::Instruction& instruction : *block) {
    if (llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator()) {
      continue;
    }
    const bool is_call = llvm::isa<llvm::CallBase>(instruction) && !is_fused_product(&instruction);
    if (instruction.mayReadOrWriteMemory() || is_call || instruction.isIntDivRem() ||
        ++count > kFreeInstructions) {
      return false;
    }
  }
  // Everything that only runs when this block does must be as harmless, and told by masks.
  const auto children = children_.find(block);
  if (children != children_.end() && !children->second.empty()) {
    return false;
  }
  for (const llvm::BasicBlock* next : llvm::successors(block)) {
    const BlockMask& mask = analyses_.masks.of(next);
    const llvm::Loop* next_loop = analyses_.control_flow.loops().getLoopFor(next);
    const bool is_header = next_loop != nullptr && next_loop->getHeader() == next;
    if (is_header || mask.owns_guard) {
      return false;
    }
    for (const llvm::PHINode& phi : next->phis()) {
      if (analyses_.shapes.has_scalar(&phi)) {
        return false;
      }
    }
  }
  return true;
}

llvm::Value* Emitter::runs(llvm::BasicBlock* node) {
  const BlockMask& mask = analyses_.masks.of(node);
  if (mask.owns_guard) {
    return builder_.CreateLoad(builder_.getInt1Ty(), guard_slot(node));
  }
  Chunks lanes;
  for (llvm::AllocaInst* slot : mask_slots(mask.vector)) {
    lanes.push_back(builder_.CreateLoad(mask_type(), slot));
  }
  return any_of(lanes);
}

void Emitter::emit_node(const llvm::Loop* region, llvm::BasicBlock* node) {
  const std::size_t scope = made_here_.size();
  llvm::BasicBlock* next = nullptr;
  if (needs_check(region, node)) {
    llvm::BasicBlock* body = new_block(node->getName());
    next = new_block(node->getName() + ".next");
    builder_.CreateCondBr(runs(node), body, next);
    builder_.SetInsertPoint(body);
  }
  if (llvm::Loop* loop = analyses_.control_flow.loop_at(region, node)) {
    emit_loop(loop);
  } else {
    emit_block(node);
  }
  // By number: emitting may add nodes of inner regions to the table.
  for (std::size_t i = 0; i < children_[node].size(); ++i) {
    llvm::BasicBlock* child = children_[node][i];
    if (analyses_.control_flow.node(region, child) == child &&
        (region == nullptr || region->contains(child))) {
      emit_node(region, child);
    }
  }
  if (next != nullptr) {
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
    forget_since(scope);
  }
}

void Emitter::emit_loop(llvm::Loop* loop) {
  llvm::BasicBlock* header = loop->getHeader();
  const bool divergent = analyses_.control_flow.is_divergent(loop);
  Slots& continues = continue_slots_[loop];
  if (divergent) {
    const unsigned before = analyses_.masks.of(loop->getLoopPreheader()).vector;
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      continues.push_back(new_slot(mask_type(), "continue"));
      llvm::Value* entering = llvm::Constant::getAllOnesValue(mask_type());
      if (before != 0) {
        entering = builder_.CreateLoad(mask_type(), mask_slots(before)[chunk]);
      } else if (!program_mask_.empty()) {
        entering = program_mask_[chunk];
      }
      builder_.CreateStore(entering, mask_slots(analyses_.masks.of(header).vector)[chunk]);
    }
  } else {
    continues.push_back(new_slot(builder_.getInt1Ty(), "continue"));
  }
  llvm::BasicBlock* top = new_block(header->getName() + ".loop");
  llvm::BasicBlock* done = new_block(header->getName() + ".done");
  loop_ends_[loop] = done;
  builder_.CreateBr(top);
  builder_.SetInsertPoint(top);
  const std::size_t scope = made_here_.size();
  for (llvm::AllocaInst* slot : continues) {
    builder_.CreateStore(llvm::Constant::getNullValue(slot->getAllocatedType()), slot);
  }
  emit_region(loop);
  llvm::Value* goes_on = nullptr;
  if (divergent) {
    Chunks remaining;
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      remaining.push_back(builder_.CreateLoad(mask_type(), continues[chunk]));
      builder_.CreateStore(remaining.back(), mask_slots(analyses_.masks.of(header).vector)[chunk]);
    }
    goes_on = any_of(remaining);
  } else {
    goes_on = builder_.CreateLoad(builder_.getInt1Ty(), continues[0]);
  }
  builder_.CreateCondBr(goes_on, top, done);
  builder_.SetInsertPoint(done);
  forget_since(scope);
}

void Emitter::emit_block(llvm::BasicBlock* block) {
  if (!reason_.empty()) {
    return;
  }
  mask_.clear();
  if (const unsigned number = analyses_.masks.of(block).vector; number != 0) {
    for (llvm::AllocaInst* slot : mask_slots(number)) {
      mask_.push_back(builder_.CreateLoad(mask_type(), slot));
    }
  } else {
    mask_ = program_mask_;
  }
  block_masks_[block] = mask_;
  for (llvm::Instruction& instruction : *block) {
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      if (phi->getType()->isVectorTy() || phi->getType()->isAggregateType()) {
        give_up("a phi of several values", *phi);
        return;
      }
      const Shape& shape = analyses_.shapes.of(phi);
      if (analyses_.shapes.has_scalar(phi)) {
        define_scalar(phi, builder_.CreateLoad(phi->getType(), scalar_slot(phi)));
      }
      if (shape.needs_vector()) {
        Chunks values;
        for (llvm::AllocaInst* slot : vector_slots(phi)) {
          llvm::Value* value = builder_.CreateLoad(slot->getAllocatedType(), slot);
          values.push_back(phi->getType()->isIntegerTy(1) ? lane_bits(value) : value);
        }
        define_vector(phi, std::move(values));
      }
    } else if (!instruction.isTerminator()) {
      emit_instruction(instruction);
    }
    if (!reason_.empty()) {
      // What comes behind may need what was not made.
      return;
    }
  }
  emit_branch(block);
}

void Emitter::emit_branch(llvm::BasicBlock* block) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (branch == nullptr) {
    if (!llvm::isa<llvm::ReturnInst>(block->getTerminator()) &&
        !llvm::isa<llvm::UnreachableInst>(block->getTerminator())) {
      give_up("a kind of branch", *block->getTerminator());
    }
    return;
  }
  const Chunks lanes = mask_;
  if (branch->isUnconditional()) {
    take_edge(block, branch->getSuccessor(0), lanes, false);
    return;
  }
  if (analyses_.uniformity.branches_diverge(*block)) {
    count(Form::DivergentBranch, branch);
    for (const unsigned side : {0U, 1U}) {
      take_edge(block, branch->getSuccessor(side),
                masked_condition(lanes, branch->getCondition(), side == 1), true);
    }
    return;
  }
  count(Form::UniformBranch, branch);
  llvm::BasicBlock* sides[2] = {new_block("then"), new_block("else")};
  llvm::BasicBlock* next = new_block("branched");
  builder_.CreateCondBr(scalar(branch->getCondition()), sides[0], sides[1]);
  for (const unsigned side : {0U, 1U}) {
    const std::size_t scope = made_here_.size();
    builder_.SetInsertPoint(sides[side]);
    take_edge(block, branch->getSuccessor(side), lanes, false);
    llvm::BasicBlock* end = end_of_loop(block, branch->getSuccessor(side));
    builder_.CreateBr(end != nullptr ? end : next);
    forget_since(scope);
  }
  builder_.SetInsertPoint(next);
}

/// Where a loop ends that all lanes still in it leave by an edge, which saves the rest of the
/// iteration and everything that would be kept through it for the sake of that edge; otherwise
/// null.
llvm::BasicBlock* Emitter::end_of_loop(const llvm::BasicBlock* from,
                                       const llvm::BasicBlock* to) const {
  const llvm::Loop* loop = analyses_.control_flow.loops().getLoopFor(from);
  if (loop == nullptr || loop->contains(to) ||
      analyses_.masks.of(from).vector != analyses_.masks.of(loop->getHeader()).vector) {
    return nullptr;
  }
  return loop_ends_.at(loop);
}

void Emitter::take_edge(llvm::BasicBlock* from,
                        llvm::BasicBlock* to,
                        const Chunks& lanes,
                        bool diverges) {
  const llvm::Loop* loop = analyses_.control_flow.loops().getLoopFor(to);
  if (loop != nullptr && loop->getHeader() == to) {
    if (loop->contains(from)) {
      Slots& continues = continue_slots_[loop];
      for (unsigned i = 0; i < continues.size(); ++i) {
        llvm::Value* value = llvm::Constant::getAllOnesValue(continues[i]->getAllocatedType());
        if (analyses_.control_flow.is_divergent(loop) && !lanes.empty()) {
          value = lanes[i];
        }
        builder_.CreateStore(value, continues[i]);
      }
    }
    store_phis(from, to, nullptr);
    return;
  }
  const BlockMask& mask = analyses_.masks.of(to);
  if (mask.owns_guard) {
    builder_.CreateStore(builder_.getTrue(), guard_slot(to));
  }
  if (mask.owns_vector) {
    Slots& slots = mask_slots(mask.vector);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      llvm::Value* value = llvm::Constant::getAllOnesValue(mask_type());
      if (!lanes.empty()) {
        value = builder_.CreateOr(builder_.CreateLoad(mask_type(), slots[chunk]), lanes[chunk]);
      }
      builder_.CreateStore(value, slots[chunk]);
    }
  }
  const bool all_come_this_way = !diverges &&
                                 !analyses_.control_flow.leaves_divergent_loop(from, to) &&
                                 mask.vector == analyses_.masks.of(from).vector;
  store_phis(from, to, all_come_this_way || lanes.empty() ? nullptr : &lanes);
}

void Emitter::store_phis(llvm::BasicBlock* from, llvm::BasicBlock* to, const Chunks* blend) {
  struct Update {
    const llvm::PHINode* phi;
    llvm::Value* scalar;
    Chunks vector;
  };
  // All are read before any is written: one may be the input of another.
  std::vector<Update> updates;
  for (llvm::PHINode& phi : to->phis()) {
    const llvm::Value* incoming = phi.getIncomingValueForBlock(from);
    if (llvm::isa<llvm::UndefValue>(incoming)) {
      continue;
    }
    Update update{&phi, nullptr, {}};
    if (analyses_.shapes.has_scalar(&phi)) {
      update.scalar = scalar(incoming);
    }
    const Shape& shape = analyses_.shapes.of(&phi);
    if (shape.needs_vector()) {
      if (const MatrixPairs::Half* half = matrix_half(&phi)) {
        const auto* other = llvm::cast<llvm::PHINode>(half->other)->getIncomingValueForBlock(from);
        const bool is_first = half->component == 0;
        update.vector =
            rows_of(is_first ? incoming : other, is_first ? other : incoming)[half->component];
      } else {
        update.vector = vector(incoming);
      }
    }
    updates.push_back(std::move(update));
  }
  for (const Update& update : updates) {
    if (update.scalar != nullptr) {
      builder_.CreateStore(update.scalar, scalar_slot(update.phi));
    }
    if (update.vector.empty()) {
      continue;
    }
    const bool is_condition = update.phi->getType()->isIntegerTy(1);
    Slots& slots = vector_slots(update.phi);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      llvm::Value* value = is_condition ? builder_.CreateSExt(update.vector[chunk], mask_type())
                                        : update.vector[chunk];
      if (blend != nullptr) {
        llvm::Value* before = builder_.CreateLoad(slots[chunk]->getAllocatedType(), slots[chunk]);
        value = builder_.CreateSelect(lane_bits((*blend)[chunk]), value, before);
      }
      builder_.CreateStore(value, slots[chunk]);
    }
  }
}

}  // namespace pewter::compiler::spmd
