#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/instruction_order.h"

namespace pewter::compiler::spmd {
namespace {

constexpr std::uint64_t kLineBytes = 64;
// The narrowest vector that can be streamed.
constexpr std::uint64_t kLeastStreamBytes = 16;

}  // namespace

/// Whether the processor can load and store such elements under a mask.
bool Emitter::has_masked_access(llvm::Type* element) const {
  const std::uint64_t size = layout_.getTypeStoreSize(element);
  return size == 4 || size == 8;
}

// Hidden from the optimiser, which would make branches of the choice between it and other memory.
llvm::Value* Emitter::spare_memory() {
  if (spare_memory_ == nullptr) {
    llvm::AllocaInst* slot = new_slot(llvm::ArrayType::get(builder_.getInt64Ty(), 8), "spare");
    slot->setAlignment(llvm::Align(64));
    llvm::AllocaInst* address = new_slot(builder_.getPtrTy(), "spare.address");
    llvm::IRBuilder<> entry(allocas_);
    entry.CreateStore(slot, address, true);
    spare_memory_ = entry.CreateLoad(builder_.getPtrTy(), address, true);
  }
  return spare_memory_;
}

void Emitter::set_accessor(const llvm::Value* pointer, unsigned chunk) {
  llvm::Type* type = builder_.getInt32Ty();
  accessor_ =
      llvm::MDNode::get(source_.getContext(),
                        llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
                            type, is_threadgroup_memory(pointer) ? kThreadgroupAccess : chunk)));
}

llvm::Value* Emitter::reverse(llvm::Value* value) {
  return builder_.CreateVectorReverse(value);
}

/// How the lanes of a chunk are placed relative to its first one.
Emitter::Pattern Emitter::pattern(const llvm::Value* pointer,
                                  unsigned chunk,
                                  std::uint64_t size) const {
  const Shape& shape = analyses_.shapes.of(pointer);
  if (shape.kind != Shape::Kind::Affine) {
    return Pattern::Any;
  }
  const unsigned first = chunk * lanes_.per_chunk;
  const Term* numbers = nullptr;
  for (const Term& term : shape.terms) {
    if (term.factor == nullptr) {
      numbers = &term;
      continue;
    }
    for (unsigned i = 1; i < lanes_.per_chunk; ++i) {
      if (term.lanes[first + i] != term.lanes[first]) {
        return Pattern::Any;
      }
    }
  }
  bool same = true;
  bool consecutive = true;
  bool reversed = true;
  for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
    const std::int64_t distance =
        numbers != nullptr ? numbers->lanes[first + i] - numbers->lanes[first] : 0;
    const auto step = static_cast<std::int64_t>(i * size);
    same = same && distance == 0;
    consecutive = consecutive && distance == step;
    reversed = reversed && distance == -step;
  }
  return same          ? Pattern::Same
         : consecutive ? Pattern::Consecutive
         : reversed    ? Pattern::Reverse
                       : Pattern::Strided;
}

/// A vector with the address of each lane of a chunk.
llvm::Value* Emitter::lane_pointers(const llvm::Value* pointer, unsigned chunk, Pattern how) {
  if (how == Pattern::Any) {
    return vector(pointer)[chunk];
  }
  const Shape& shape = analyses_.shapes.of(pointer);
  const unsigned first = chunk * lanes_.per_chunk;
  llvm::SmallVector<llvm::Constant*, 16> offsets(lanes_.per_chunk, builder_.getInt64(0));
  for (const Term& term : shape.terms) {
    for (unsigned i = 0; term.factor == nullptr && i < lanes_.per_chunk; ++i) {
      offsets[i] = llvm::ConstantInt::get(
          builder_.getInt64Ty(),
          static_cast<std::uint64_t>(term.lanes[first + i] - term.lanes[first]), true);
    }
  }
  return builder_.CreateGEP(builder_.getInt8Ty(), scalar_at(pointer, first),
                            llvm::ConstantVector::get(offsets));
}

void Emitter::emit_load(llvm::LoadInst& load) {
  const llvm::Value* pointer = load.getPointerOperand();
  if (load.getType()->isVectorTy() || load.getType()->isAggregateType()) {
    give_up("a load of several values at once", load);
    return;
  }
  if (analyses_.shapes.is_uniform(pointer)) {
    count(Form::UniformAccess, &load);
    llvm::Instruction* copy = load.clone();
    copy->setOperand(0, scalar(pointer));
    builder_.Insert(copy);
    define_scalar(&load, copy);
    if (!analyses_.shapes.is_uniform(&load)) {
      define_vector(&load, Chunks(lanes_.chunks(), splat(copy)));
    }
    return;
  }
  if (const MatrixPairs::Half* half = matrix_half(&load); half != nullptr) {
    if (vectors_.count(&load) == 0) {
      emit_row_loads(load, *half);
    }
    return;
  }
  if (vectors_.count(&load) != 0 || emit_interleaved_load(load) || emit_transposed_load(load) ||
      emit_exchanged_load(load)) {
    return;
  }
  const Shape& shape = analyses_.shapes.of(pointer);
  Chunks result;
  std::map<std::vector<std::int64_t>, llvm::Value*> made;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    // Chunks that read the same places share one load.
    std::vector<std::int64_t> places;
    for (const Term& term : shape.terms) {
      const auto first = term.lanes.begin() + chunk * lanes_.per_chunk;
      places.insert(places.end(), first, first + lanes_.per_chunk);
    }
    const bool can_share = shape.kind == Shape::Kind::Affine && mask_.empty() && !load.isAtomic();
    if (const auto same = made.find(places); can_share && same != made.end()) {
      result.push_back(same->second);
      continue;
    }
    set_accessor(pointer, chunk);
    result.push_back(load_chunk(load, chunk));
    clear_accessor();
    made[places] = result.back();
  }
  define_vector(&load, std::move(result));
}

llvm::Value* Emitter::load_chunk(llvm::LoadInst& load, unsigned chunk) {
  const llvm::Value* pointer = load.getPointerOperand();
  llvm::Type* type = load.getType();
  const std::uint64_t size = layout_.getTypeStoreSize(type);
  const unsigned first = chunk * lanes_.per_chunk;
  const Pattern how = load.isAtomic() ? Pattern::Any : pattern(pointer, chunk, size);
  switch (how) {
    case Pattern::Same: {
      count(Form::UniformAccess, &load, "uniform: one address for neighbouring threads");
      llvm::Value* address = scalar_at(pointer, first);
      if (!mask_.empty()) {
        llvm::Type* bits = builder_.getIntNTy(lanes_.per_chunk);
        llvm::Value* wanted = builder_.CreateICmpNE(builder_.CreateBitCast(active(chunk), bits),
                                                    llvm::ConstantInt::get(bits, 0));
        address = builder_.CreateSelect(wanted, address, spare_memory());
      }
      return splat(builder_.CreateAlignedLoad(type, address, load.getAlign()));
    }
    case Pattern::Consecutive:
      count(Form::ConsecutiveAccess, &load);
      return load_consecutive(type, scalar_at(pointer, first), load.getAlign(),
                              mask_.empty() ? nullptr : active(chunk));
    case Pattern::Reverse: {
      count(Form::ConsecutiveAccess, &load, "consecutive, backwards");
      llvm::Value* lanes = mask_.empty() ? nullptr : reverse(active(chunk));
      return reverse(load_consecutive(type, scalar_at(pointer, first + lanes_.per_chunk - 1),
                                      load.getAlign(), lanes));
    }
    case Pattern::Strided:
      count(Form::StridedAccess, &load);
      break;
    case Pattern::Any:
      count(Form::Gather, &load);
      break;
  }
  return gather(load, lane_pointers(pointer, chunk, load.isAtomic() ? Pattern::Any : how), chunk);
}

llvm::Value* Emitter::load_consecutive(llvm::Type* element,
                                       llvm::Value* address,
                                       llvm::Align align,
                                       llvm::Value* active_lanes) {
  llvm::FixedVectorType* type = chunk_type(element);
  if (active_lanes == nullptr) {
    return builder_.CreateAlignedLoad(type, address, align);
  }
  llvm::Constant* nothing = llvm::Constant::getNullValue(type);
  if (has_masked_access(element)) {
    return builder_.CreateMaskedLoad(type, address, align, active_lanes, nothing);
  }
  // Narrow elements: all at once when every lane is active, else one by one.
  llvm::Type* bits = builder_.getIntNTy(lanes_.per_chunk);
  llvm::BasicBlock* whole = new_block("load.whole");
  llvm::BasicBlock* parts = new_block("load.parts");
  llvm::BasicBlock* done = new_block("load.done");
  builder_.CreateCondBr(builder_.CreateICmpEQ(builder_.CreateBitCast(active_lanes, bits),
                                              llvm::Constant::getAllOnesValue(bits)),
                        whole, parts);
  builder_.SetInsertPoint(whole);
  llvm::Value* all = builder_.CreateAlignedLoad(type, address, align);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(parts);
  llvm::Value* joined = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
    llvm::Value* own =
        builder_.CreateSelect(builder_.CreateExtractElement(active_lanes, lane),
                              builder_.CreateConstGEP1_32(element, address, lane), spare_memory());
    joined =
        builder_.CreateInsertElement(joined, builder_.CreateAlignedLoad(element, own, align), lane);
  }
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
  llvm::PHINode* result = builder_.CreatePHI(type, 2);
  result->addIncoming(all, whole);
  result->addIncoming(joined, parts);
  return result;
}

// Atomic loads are done lane by lane at once; others stay one instruction for the optimiser.
llvm::Value* Emitter::gather(llvm::LoadInst& load, llvm::Value* pointers, unsigned chunk) {
  llvm::FixedVectorType* type = chunk_type(load.getType());
  if (!load.isAtomic() && !load.isVolatile()) {
    return builder_.CreateMaskedGather(type, pointers, load.getAlign(), active(chunk),
                                       llvm::PoisonValue::get(type));
  }
  if (!mask_.empty()) {
    pointers = builder_.CreateSelect(active(chunk), pointers, splat(spare_memory()));
  }
  llvm::Value* joined = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
    llvm::LoadInst* own = builder_.CreateAlignedLoad(
        load.getType(), builder_.CreateExtractElement(pointers, lane), load.getAlign());
    own->setOrdering(load.getOrdering());
    own->setVolatile(load.isVolatile());
    joined = builder_.CreateInsertElement(joined, own, lane);
  }
  return joined;
}

void Emitter::emit_store(llvm::StoreInst& store) {
  const llvm::Value* pointer = store.getPointerOperand();
  const llvm::Value* value = store.getValueOperand();
  if (value->getType()->isVectorTy() || value->getType()->isAggregateType()) {
    give_up("a store of several values at once", store);
    return;
  }
  if (analyses_.shapes.is_uniform(pointer)) {
    count(Form::UniformAccess, &store);
    store_to_one_place(store);
    return;
  }
  if (emit_interleaved_store(store) || emit_transposed_store(store) ||
      emit_exchanged_store(store)) {
    return;
  }
  const Chunks values = vector(value);
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    set_accessor(pointer, chunk);
    store_chunk(store, chunk, values[chunk]);
    clear_accessor();
  }
}

// Every active lane stores to one address: the last one stays.
void Emitter::store_to_one_place(llvm::StoreInst& store) {
  const llvm::Value* value = store.getValueOperand();
  llvm::Value* stored = nullptr;
  if (analyses_.shapes.is_uniform(value)) {
    stored = scalar(value);
  } else if (mask_.empty()) {
    stored = !analyses_.shapes.of(value).needs_vector()
                 ? scalar_at(value, lanes_.width - 1)
                 : builder_.CreateExtractElement(vector(value).back(), lanes_.per_chunk - 1);
  } else {
    const Chunks values = vector(value);
    llvm::Value* memory = in_memory(values, "last");
    llvm::Type* bits = builder_.getIntNTy(lanes_.width);
    llvm::Value* lanes = llvm::ConstantInt::get(bits, 0);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      llvm::Value* own = builder_.CreateZExt(
          builder_.CreateBitCast(active(chunk), builder_.getIntNTy(lanes_.per_chunk)), bits);
      lanes = builder_.CreateOr(lanes,
                                builder_.CreateShl(own, std::uint64_t(chunk) * lanes_.per_chunk));
    }
    llvm::Value* zeros =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, lanes, builder_.getFalse());
    llvm::Value* last = builder_.CreateSub(llvm::ConstantInt::get(bits, lanes_.width - 1), zeros);
    last = builder_.CreateAnd(last, llvm::ConstantInt::get(bits, lanes_.width - 1));
    llvm::Type* memory_type = values[0]->getType()->getScalarType()->isIntegerTy(1)
                                  ? builder_.getInt8Ty()
                                  : values[0]->getType()->getScalarType();
    stored = builder_.CreateLoad(
        memory_type, builder_.CreateGEP(memory_type, memory,
                                        builder_.CreateZExtOrTrunc(last, builder_.getInt64Ty())));
    stored = builder_.CreateTruncOrBitCast(stored, value->getType());
  }
  auto* copy = llvm::cast<llvm::StoreInst>(store.clone());
  copy->setOperand(0, stored);
  copy->setOperand(1, scalar(store.getPointerOperand()));
  copy->setMetadata(llvm::LLVMContext::MD_nontemporal, nullptr);
  builder_.Insert(copy);
}

void Emitter::store_chunk(llvm::StoreInst& store, unsigned chunk, llvm::Value* value) {
  const llvm::Value* pointer = store.getPointerOperand();
  const std::uint64_t size = layout_.getTypeStoreSize(store.getValueOperand()->getType());
  const unsigned first = chunk * lanes_.per_chunk;
  const Pattern how = store.isAtomic() ? Pattern::Any : pattern(pointer, chunk, size);
  if (how == Pattern::Consecutive || how == Pattern::Reverse) {
    const bool reversed = how == Pattern::Reverse;
    count(Form::ConsecutiveAccess, &store, reversed ? "consecutive, backwards" : nullptr);
    llvm::Value* address = scalar_at(pointer, reversed ? first + lanes_.per_chunk - 1 : first);
    llvm::Value* stored = reversed ? reverse(value) : value;
    if (mask_.empty()) {
      store_whole(store, address, stored);
    } else {
      llvm::Value* lanes = active(chunk);
      store_masked(store, chunk, address, stored, reversed ? reverse(lanes) : lanes);
    }
    return;
  }
  count(how == Pattern::Any ? Form::Gather : Form::StridedAccess, &store);
  const Pattern addressing = how == Pattern::Same ? Pattern::Strided : how;
  scatter(store, lane_pointers(pointer, chunk, store.isAtomic() ? Pattern::Any : addressing), value,
          chunk);
}

/// Whether this dispatch writes so much that streaming stores pay.
llvm::Value* Emitter::streams() {
  if (streams_ == nullptr) {
    llvm::IRBuilder<> entry(allocas_);
    llvm::LoadInst* flag =
        entry.CreateLoad(builder_.getInt32Ty(),
                         entry.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), target_.getArg(0),
                                                          offsetof(abi::Launch, streams)));
    flag->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(flag->getContext(), {}));
    streams_ = entry.CreateICmpNE(flag, builder_.getInt32(0));
  }
  return streams_;
}

// A streaming store must fill its cache lines, so it needs an address that is a multiple of it.
void Emitter::store_whole(llvm::StoreInst& store, llvm::Value* address, llvm::Value* value) {
  const std::uint64_t size = layout_.getTypeStoreSize(value->getType());
  if (!store.hasMetadata(llvm::LLVMContext::MD_nontemporal) || size < kLeastStreamBytes ||
      !llvm::isPowerOf2_64(size)) {
    builder_.CreateAlignedStore(value, address, store.getAlign());
    return;
  }
  const std::uint64_t align = std::min(size, kLineBytes);
  llvm::Value* place = builder_.CreatePtrToInt(address, builder_.getInt64Ty());
  llvm::Value* is_aligned = builder_.CreateICmpEQ(
      builder_.CreateAnd(place, builder_.getInt64(align - 1)), builder_.getInt64(0));
  llvm::BasicBlock* past_caches = new_block("store.stream");
  llvm::BasicBlock* plain = new_block("store.plain");
  llvm::BasicBlock* done = new_block("store.stored");
  builder_.CreateCondBr(builder_.CreateAnd(streams(), is_aligned), past_caches, plain);
  builder_.SetInsertPoint(past_caches);
  llvm::StoreInst* streamed = builder_.CreateAlignedStore(value, address, llvm::Align(align));
  streamed->setMetadata(llvm::LLVMContext::MD_nontemporal,
                        store.getMetadata(llvm::LLVMContext::MD_nontemporal));
  builder_.CreateBr(done);
  builder_.SetInsertPoint(plain);
  builder_.CreateAlignedStore(value, address, store.getAlign());
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

// Masked stores are slow on many processors. Where every lane has read what it may store to, whole
// vectors are stored.
void Emitter::store_masked(llvm::StoreInst& store,
                           unsigned chunk,
                           llvm::Value* address,
                           llvm::Value* value,
                           llvm::Value* active_lanes) {
  const auto own = readers(store);
  if (!own) {
    store_some(store, address, value, active_lanes);
    return;
  }
  llvm::BasicBlock* all = new_block("store.blended");
  llvm::BasicBlock* some = new_block("store.some");
  llvm::BasicBlock* done = new_block("store.stored");
  builder_.CreateCondBr(all_read(*own, chunk), all, some);
  builder_.SetInsertPoint(all);
  store_blended(store, address, value, active_lanes);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(some);
  store_some(store, address, value, active_lanes);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

// The common case of a full mask gets a plain store, and memory that no other thread can write
// meanwhile is blended.
void Emitter::store_some(llvm::StoreInst& store,
                         llvm::Value* address,
                         llvm::Value* value,
                         llvm::Value* active_lanes) {
  const llvm::Value* pointer = store.getPointerOperand();
  llvm::Type* bits = builder_.getIntNTy(lanes_.per_chunk);
  llvm::Value* lanes = builder_.CreateBitCast(active_lanes, bits);
  llvm::BasicBlock* whole = new_block("store.whole");
  llvm::BasicBlock* check = new_block("store.check");
  llvm::BasicBlock* parts = new_block("store.parts");
  llvm::BasicBlock* done = new_block("store.done");
  builder_.CreateCondBr(builder_.CreateICmpEQ(lanes, llvm::Constant::getAllOnesValue(bits)), whole,
                        check);
  builder_.SetInsertPoint(whole);
  store_whole(store, address, value);
  builder_.CreateBr(done);
  builder_.SetInsertPoint(check);
  builder_.CreateCondBr(builder_.CreateICmpNE(lanes, llvm::ConstantInt::get(bits, 0)), parts, done);
  builder_.SetInsertPoint(parts);
  llvm::Type* element = store.getValueOperand()->getType();
  if (is_private_memory(pointer)) {
    store_blended(store, address, value, active_lanes);
  } else if (has_masked_access(element)) {
    builder_.CreateMaskedStore(value, address, store.getAlign(), active_lanes);
  } else {
    for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
      llvm::Value* own = builder_.CreateSelect(builder_.CreateExtractElement(active_lanes, lane),
                                               builder_.CreateConstGEP1_32(element, address, lane),
                                               spare_memory());
      builder_.CreateAlignedStore(builder_.CreateExtractElement(value, lane), own,
                                  store.getAlign());
    }
  }
  builder_.CreateBr(done);
  builder_.SetInsertPoint(done);
}

void Emitter::scatter(llvm::StoreInst& store,
                      llvm::Value* pointers,
                      llvm::Value* value,
                      unsigned chunk) {
  if (!store.isAtomic() && !store.isVolatile()) {
    builder_.CreateMaskedScatter(value, pointers, store.getAlign(), active(chunk));
    return;
  }
  if (!mask_.empty()) {
    pointers = builder_.CreateSelect(active(chunk), pointers, splat(spare_memory()));
  }
  for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
    llvm::StoreInst* own = builder_.CreateAlignedStore(
        builder_.CreateExtractElement(value, lane), builder_.CreateExtractElement(pointers, lane),
        store.getAlign());
    own->setOrdering(store.getOrdering());
    own->setVolatile(store.isVolatile());
  }
}

}  // namespace pewter::compiler::spmd
