// Accesses of lanes to their partners, `x[i ^ distance]`: sorting networks, butterflies. The
// partners of a chunk that is aligned are a chunk too, in another order when the distance is less
// than one.

#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/TargetParser/Triple.h"

#include "pewter/compiler/spmd/emitter.h"

namespace pewter::compiler::spmd {
namespace {

constexpr const char* kPartners = "consecutive: places of the threads' partners";

}  // namespace

std::optional<Emitter::Exchange> Emitter::find_exchange(const llvm::Value* pointer,
                                                        std::uint64_t size) const {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (address == nullptr || address->getNumIndices() != 1 ||
      !analyses_.shapes.is_uniform(address->getPointerOperand()) ||
      layout_.getTypeAllocSize(address->getSourceElementType()) != size) {
    return std::nullopt;
  }
  Exchange exchange;
  exchange.address = address;
  const llvm::Value* index = address->getOperand(1);
  if (llvm::isa<llvm::ZExtInst>(index) || llvm::isa<llvm::SExtInst>(index)) {
    exchange.is_signed = llvm::isa<llvm::SExtInst>(index);
    index = llvm::cast<llvm::CastInst>(index)->getOperand(0);
  }
  const auto* partner = llvm::dyn_cast<llvm::BinaryOperator>(index);
  if (partner == nullptr || partner->getOpcode() != llvm::Instruction::Xor) {
    return std::nullopt;
  }
  const bool distance_first = analyses_.shapes.is_uniform(partner->getOperand(0));
  exchange.distance = partner->getOperand(distance_first ? 0 : 1);
  exchange.index = partner->getOperand(distance_first ? 1 : 0);
  const Shape& shape = analyses_.shapes.of(exchange.index);
  if (!analyses_.shapes.is_uniform(exchange.distance) || shape.kind != Shape::Kind::Affine ||
      shape.accuracy != Shape::Accuracy::Exact || shape.terms.size() != 1 || shape.has_factors()) {
    return std::nullopt;
  }
  const std::vector<std::int64_t>& lanes = shape.terms[0].lanes;
  for (unsigned lane = 0; lane < lanes_.width; ++lane) {
    const unsigned in_chunk = lane % lanes_.per_chunk;
    const std::int64_t first = lanes[lane - in_chunk];
    if (lanes[lane] != first + in_chunk || first % lanes_.per_chunk != 0) {
      return std::nullopt;
    }
  }
  const bool is_x86 =
      llvm::Triple(source_.getParent()->getTargetTriple()).getArch() == llvm::Triple::x86_64;
  exchange.reorders = is_x86 && size == 4;
  return exchange;
}

// A chunk of words, its lanes in an order that only the running kernel knows.
llvm::Value* Emitter::reorder(llvm::Value* words, llvm::Value* order) {
  const llvm::Intrinsic::ID id = lanes_.per_chunk == 8 ? llvm::Intrinsic::x86_avx2_permd
                                                       : llvm::Intrinsic::x86_avx512_permvar_si_512;
  llvm::Value* moved =
      builder_.CreateIntrinsic(id, {}, {builder_.CreateBitCast(words, mask_type()), order});
  return builder_.CreateBitCast(moved, words->getType());
}

// Whether the partners of each chunk are a chunk.
llvm::Value* Emitter::exchanges_chunks(const Exchange& exchange) {
  llvm::Value* numbers = scalar_at(exchange.index, 0);
  if (!exchange.reorders) {
    numbers = builder_.CreateOr(numbers, scalar(exchange.distance));
  }
  llvm::Value* inside =
      builder_.CreateAnd(numbers, llvm::ConstantInt::get(numbers->getType(), lanes_.per_chunk - 1));
  return builder_.CreateICmpEQ(inside, llvm::ConstantInt::get(numbers->getType(), 0));
}

Emitter::PartnerOrder Emitter::partner_order(const Exchange& exchange) {
  llvm::Value* distance = scalar(exchange.distance);
  llvm::Value* inside = builder_.CreateAnd(
      distance, llvm::ConstantInt::get(distance->getType(), lanes_.per_chunk - 1));
  return {
      .order = builder_.CreateXor(lane_numbers(0, builder_.getInt32Ty()),
                                  splat(builder_.CreateZExtOrTrunc(inside, builder_.getInt32Ty()))),
      .distance = builder_.CreateXor(distance, inside)};
}

Emitter::PartnerChunk Emitter::partner_chunk(const Exchange& exchange, unsigned chunk) {
  PartnerChunk partner;
  llvm::Value* distance = scalar(exchange.distance);
  partner.active_lanes = mask_.empty() ? nullptr : active(chunk);
  if (exchange.reorders) {
    const PartnerOrder inside = partner_order(exchange);
    partner.order = inside.order;
    distance = inside.distance;
    if (partner.active_lanes != nullptr) {
      llvm::Value* mask = builder_.CreateSExt(partner.active_lanes, mask_type());
      partner.active_lanes = lane_bits(reorder(mask, partner.order));
    }
  }
  llvm::Value* index =
      builder_.CreateXor(scalar_at(exchange.index, chunk * lanes_.per_chunk), distance);
  index = exchange.is_signed ? builder_.CreateSExtOrTrunc(index, builder_.getInt64Ty())
                             : builder_.CreateZExtOrTrunc(index, builder_.getInt64Ty());
  partner.address = builder_.CreateGEP(exchange.address->getSourceElementType(),
                                       scalar(exchange.address->getPointerOperand()), index);
  return partner;
}

// Made where it is needed, so that nothing of it weighs on chunks.
llvm::Value* Emitter::partner_pointers(const Exchange& exchange, unsigned chunk) {
  llvm::Value* index =
      builder_.CreateXor(vector(exchange.index)[chunk], splat(scalar(exchange.distance)));
  llvm::Type* wide = chunk_type(builder_.getInt64Ty());
  index = exchange.is_signed ? builder_.CreateSExtOrTrunc(index, wide)
                             : builder_.CreateZExtOrTrunc(index, wide);
  return builder_.CreateGEP(exchange.address->getSourceElementType(),
                            scalar(exchange.address->getPointerOperand()), index);
}

// An access of every chunk: `whole` where the partners of chunks are chunks, `by_lanes` elsewhere.
// Returns what the two have made, if anything.
Chunks Emitter::on_both_sides(const Exchange& exchange,
                              const llvm::Value* pointer,
                              llvm::function_ref<llvm::Value*(unsigned)> whole,
                              llvm::function_ref<llvm::Value*(unsigned)> by_lanes) {
  llvm::BasicBlock* sides[2] = {new_block("exchange.chunks"), new_block("exchange.lanes")};
  llvm::BasicBlock* done = new_block("exchange.done");
  builder_.CreateCondBr(exchanges_chunks(exchange), sides[0], sides[1]);
  Chunks made[2];
  for (const unsigned side : {0U, 1U}) {
    builder_.SetInsertPoint(sides[side]);
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      set_accessor(pointer, chunk);
      made[side].push_back(side == 0 ? whole(chunk) : by_lanes(chunk));
      clear_accessor();
    }
    sides[side] = builder_.GetInsertBlock();
    builder_.CreateBr(done);
  }
  builder_.SetInsertPoint(done);
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks() && made[0][chunk] != nullptr; ++chunk) {
    llvm::PHINode* joined = builder_.CreatePHI(made[0][chunk]->getType(), 2);
    joined->addIncoming(made[0][chunk], sides[0]);
    joined->addIncoming(made[1][chunk], sides[1]);
    result.push_back(joined);
  }
  return result;
}

bool Emitter::emit_exchanged_load(llvm::LoadInst& load) {
  const llvm::Value* pointer = load.getPointerOperand();
  const auto exchange = find_exchange(pointer, layout_.getTypeStoreSize(load.getType()));
  if (!exchange || load.isAtomic() || load.isVolatile()) {
    return false;
  }
  const auto whole = [&](unsigned chunk) {
    const PartnerChunk partner = partner_chunk(*exchange, chunk);
    llvm::Value* there =
        load_consecutive(load.getType(), partner.address, load.getAlign(), partner.active_lanes);
    return partner.order != nullptr ? reorder(there, partner.order) : there;
  };
  const auto by_lanes = [&](unsigned chunk) {
    return gather(load, partner_pointers(*exchange, chunk), chunk);
  };
  count(Form::ConsecutiveAccess, &load, kPartners);
  define_vector(&load, on_both_sides(*exchange, pointer, whole, by_lanes));
  return true;
}

bool Emitter::emit_exchanged_store(llvm::StoreInst& store) {
  const llvm::Value* pointer = store.getPointerOperand();
  const llvm::Value* value = store.getValueOperand();
  const auto exchange = find_exchange(pointer, layout_.getTypeStoreSize(value->getType()));
  if (!exchange || store.isAtomic() || store.isVolatile()) {
    return false;
  }
  const Chunks values = vector(value);
  const auto whole = [&](unsigned chunk) -> llvm::Value* {
    const PartnerChunk partner = partner_chunk(*exchange, chunk);
    llvm::Value* stored =
        partner.order != nullptr ? reorder(values[chunk], partner.order) : values[chunk];
    if (partner.active_lanes == nullptr) {
      builder_.CreateAlignedStore(stored, partner.address, store.getAlign());
    } else {
      store_masked(store, chunk, partner.address, stored, partner.active_lanes);
    }
    return nullptr;
  };
  const auto by_lanes = [&](unsigned chunk) -> llvm::Value* {
    scatter(store, partner_pointers(*exchange, chunk), values[chunk], chunk);
    return nullptr;
  };
  count(Form::ConsecutiveAccess, &store, kPartners);
  on_both_sides(*exchange, pointer, whole, by_lanes);
  return true;
}

}  // namespace pewter::compiler::spmd
