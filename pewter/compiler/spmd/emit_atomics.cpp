#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/lane_addresses.h"

namespace pewter::compiler::spmd {
namespace {

// Without loops around them up to this many lanes, with and without results.
constexpr unsigned kUnrolledLanes = 32;
constexpr unsigned kUnrolledSilentLanes = 256;

/// What the operation stores, for memory that no other thread can touch meanwhile.
llvm::Value* apply(llvm::IRBuilderBase& builder,
                   llvm::AtomicRMWInst::BinOp operation,
                   llvm::Value* old,
                   llvm::Value* value) {
  switch (operation) {
    case llvm::AtomicRMWInst::Xchg:
      return value;
    case llvm::AtomicRMWInst::Add:
      return builder.CreateAdd(old, value);
    case llvm::AtomicRMWInst::Sub:
      return builder.CreateSub(old, value);
    case llvm::AtomicRMWInst::And:
      return builder.CreateAnd(old, value);
    case llvm::AtomicRMWInst::Or:
      return builder.CreateOr(old, value);
    case llvm::AtomicRMWInst::Xor:
      return builder.CreateXor(old, value);
    case llvm::AtomicRMWInst::Max:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, old, value);
    case llvm::AtomicRMWInst::Min:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, old, value);
    case llvm::AtomicRMWInst::UMax:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, old, value);
    case llvm::AtomicRMWInst::UMin:
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, old, value);
    case llvm::AtomicRMWInst::FAdd:
      return builder.CreateFAdd(old, value);
    case llvm::AtomicRMWInst::FSub:
      return builder.CreateFSub(old, value);
    default:
      return nullptr;
  }
}

/// The function of lanes that comes to the same as the operation done by each; none for operations
/// whose order matters.
llvm::StringRef combining(llvm::AtomicRMWInst::BinOp operation) {
  switch (operation) {
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::Sub:
    case llvm::AtomicRMWInst::FAdd:
    case llvm::AtomicRMWInst::FSub:
      return "sum";
    case llvm::AtomicRMWInst::And:
      return "and";
    case llvm::AtomicRMWInst::Or:
      return "or";
    case llvm::AtomicRMWInst::Xor:
      return "xor";
    case llvm::AtomicRMWInst::Max:
    case llvm::AtomicRMWInst::UMax:
      return "max";
    case llvm::AtomicRMWInst::Min:
    case llvm::AtomicRMWInst::UMin:
      return "min";
    default:
      return "";
  }
}

}  // namespace

// All lanes on one address: their values are combined first, and memory is touched once.
bool Emitter::emit_combined_atomic(llvm::AtomicRMWInst& atomic) {
  DeviceCall device;
  device.kind = DeviceCall::Kind::Reduce;
  device.operation = combining(atomic.getOperation());
  device.group = lanes_.width;
  device.is_signed = atomic.getOperation() == llvm::AtomicRMWInst::Max ||
                     atomic.getOperation() == llvm::AtomicRMWInst::Min;
  if (device.operation.empty() || !analyses_.shapes.is_uniform(atomic.getPointerOperand())) {
    return false;
  }
  const Chunks values = masked_operand(atomic.getValOperand(), identity(device, atomic.getType()));
  if (!atomic.use_empty()) {
    return emit_counting_atomic(atomic, device, values);
  }
  llvm::Value* all = reduce_chunks(values, device);
  emit_lane_atomic(atomic, {scalar(atomic.getPointerOperand()), all});
  return true;
}

// What was there before each lane's turn follows from what was there before the first: lanes that
// draw numbers from a counter touch it once. Of integers only, whose sums can be taken apart again.
bool Emitter::emit_counting_atomic(llvm::AtomicRMWInst& atomic,
                                   const DeviceCall& device,
                                   const Chunks& values) {
  const bool adds = atomic.getOperation() == llvm::AtomicRMWInst::Add;
  if (!adds && atomic.getOperation() != llvm::AtomicRMWInst::Sub) {
    return false;
  }
  const Chunks sums = scan_chunks(values, device);
  llvm::Value* all = builder_.CreateExtractElement(sums.back(), lanes_.per_chunk - 1);
  llvm::Value* old = splat(emit_lane_atomic(atomic, {scalar(atomic.getPointerOperand()), all})[0]);
  Chunks results;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::Value* before = builder_.CreateSub(sums[chunk], values[chunk]);
    results.push_back(adds ? builder_.CreateAdd(old, before) : builder_.CreateSub(old, before));
  }
  define_vector(&atomic, std::move(results));
  return true;
}

llvm::SmallVector<llvm::Value*, 2> Emitter::emit_lane_atomic(
    llvm::Instruction& instruction, llvm::ArrayRef<llvm::Value*> operands) {
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    llvm::AtomicCmpXchgInst* made = builder_.CreateAtomicCmpXchg(
        operands[0], operands[1], operands[2], exchange->getAlign(), exchange->getSuccessOrdering(),
        exchange->getFailureOrdering());
    return {builder_.CreateExtractValue(made, 0), builder_.CreateExtractValue(made, 1)};
  }
  auto& atomic = llvm::cast<llvm::AtomicRMWInst>(instruction);
  if (is_threadgroup_memory(atomic.getPointerOperand())) {
    // A group's threads all run on one thread of the host.
    llvm::Value* old = builder_.CreateAlignedLoad(atomic.getType(), operands[0], atomic.getAlign());
    if (llvm::Value* stored = apply(builder_, atomic.getOperation(), old, operands[1])) {
      builder_.CreateAlignedStore(stored, operands[0], atomic.getAlign());
      return {old};
    }
  }
  return {builder_.CreateAtomicRMW(atomic.getOperation(), operands[0], operands[1],
                                   atomic.getAlign(), atomic.getOrdering())};
}

void Emitter::emit_atomic(llvm::Instruction& instruction) {
  auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  const bool is_combined = atomic != nullptr && emit_combined_atomic(*atomic);
  count(is_combined ? Form::CombinedAtomic : Form::LaneAtomic, &instruction);
  if (is_combined) {
    return;
  }
  llvm::SmallVector<Chunks, 3> operands;
  for (const llvm::Value* operand : instruction.operands()) {
    operands.push_back(vector(operand));
  }
  llvm::SmallVector<llvm::Type*, 2> types;
  if (atomic != nullptr) {
    types = {atomic->getType()};
  } else {
    types = {instruction.getType()->getStructElementType(0), builder_.getInt1Ty()};
  }
  llvm::SmallVector<Chunks, 2> results(types.size());
  const unsigned unrolled = instruction.use_empty() ? kUnrolledSilentLanes : kUnrolledLanes;
  if (mask_.empty() && lanes_.width <= unrolled) {
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      LaneAddresses addresses(builder_, operands[0][chunk]);
      llvm::SmallVector<llvm::Value*, 2> joined;
      for (llvm::Type* type : types) {
        joined.push_back(llvm::PoisonValue::get(chunk_type(type)));
      }
      for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
        llvm::SmallVector<llvm::Value*, 3> own{addresses.at(lane)};
        for (const Chunks& operand : llvm::drop_begin(operands)) {
          own.push_back(builder_.CreateExtractElement(operand[chunk], lane));
        }
        const auto old = emit_lane_atomic(instruction, own);
        for (unsigned i = 0; i < types.size(); ++i) {
          joined[i] = builder_.CreateInsertElement(joined[i], old[i], lane);
        }
      }
      for (unsigned i = 0; i < types.size(); ++i) {
        results[i].push_back(joined[i]);
      }
    }
  } else {
    // One active lane after the other.
    llvm::SmallVector<llvm::Value*, 3> memory;
    for (const Chunks& operand : operands) {
      memory.push_back(in_memory(operand, "operand"));
    }
    llvm::SmallVector<llvm::AllocaInst*, 2> outputs;
    for (llvm::Type* type : types) {
      llvm::Type* stored = type->isIntegerTy(1) ? builder_.getInt8Ty() : type;
      outputs.push_back(new_slot(llvm::ArrayType::get(stored, lanes_.width), "result"));
      outputs.back()->setAlignment(llvm::Align(64));
    }
    Chunks active_lanes;
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      active_lanes.push_back(active(chunk));
    }
    llvm::Value* flags = in_memory(active_lanes, "active");
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock* top = new_block("lane");
    llvm::BasicBlock* body = new_block("lane.active");
    llvm::BasicBlock* next = new_block("lane.next");
    llvm::BasicBlock* done = new_block("lanes.done");
    builder_.CreateBr(top);
    builder_.SetInsertPoint(top);
    llvm::PHINode* lane = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    lane->addIncoming(builder_.getInt64(0), before);
    llvm::Value* flag = builder_.CreateLoad(builder_.getInt8Ty(),
                                            builder_.CreateGEP(builder_.getInt8Ty(), flags, lane));
    builder_.CreateCondBr(builder_.CreateICmpNE(flag, builder_.getInt8(0)), body, next);
    builder_.SetInsertPoint(body);
    llvm::SmallVector<llvm::Value*, 3> own;
    for (unsigned i = 0; i < operands.size(); ++i) {
      llvm::Type* type = operands[i][0]->getType()->getScalarType();
      own.push_back(builder_.CreateLoad(type, builder_.CreateGEP(type, memory[i], lane)));
    }
    const auto old = emit_lane_atomic(instruction, own);
    for (unsigned i = 0; i < types.size(); ++i) {
      llvm::Value* stored =
          types[i]->isIntegerTy(1) ? builder_.CreateZExt(old[i], builder_.getInt8Ty()) : old[i];
      builder_.CreateStore(stored, builder_.CreateGEP(stored->getType(), outputs[i], lane));
    }
    builder_.CreateBr(next);
    builder_.SetInsertPoint(next);
    llvm::Value* following = builder_.CreateAdd(lane, builder_.getInt64(1));
    lane->addIncoming(following, next);
    builder_.CreateCondBr(builder_.CreateICmpULT(following, builder_.getInt64(lanes_.width)), top,
                          done);
    builder_.SetInsertPoint(done);
    for (unsigned i = 0; i < types.size(); ++i) {
      llvm::Type* stored = types[i]->isIntegerTy(1) ? builder_.getInt8Ty() : types[i];
      for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
        llvm::Value* value = builder_.CreateAlignedLoad(
            chunk_type(stored),
            builder_.CreateConstGEP1_32(stored, outputs[i], chunk * lanes_.per_chunk),
            llvm::Align(1));
        results[i].push_back(
            types[i]->isIntegerTy(1) ? builder_.CreateTrunc(value, chunk_type(types[i])) : value);
      }
    }
  }
  if (atomic != nullptr) {
    define_vector(atomic, results[0]);
  } else {
    components_[&instruction] = std::move(results);
  }
}

}  // namespace pewter::compiler::spmd
