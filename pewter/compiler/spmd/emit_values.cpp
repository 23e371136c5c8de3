#include <algorithm>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IntrinsicInst.h"

#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/row_sums.h"

namespace pewter::compiler::spmd {

using Kind = DeviceCall::Kind;

namespace {

/// Whether a divisor is constant, without a zero or -1: nothing that is divided by it traps.
bool divides_anything(const llvm::Value* divisor) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(divisor);
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(divisor->getType());
  if (constant == nullptr || type == nullptr) {
    return false;
  }
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    const auto* element =
        llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(i));
    if (element == nullptr || element->isZero() || element->isMinusOne()) {
      return false;
    }
  }
  return true;
}

/// Whether an `or` is known to be a sum.
bool is_sum_of_bits(const llvm::Instruction& instruction) {
  const auto* bits = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  return bits != nullptr && bits->isDisjoint();
}

}  // namespace

llvm::Constant* Emitter::lane_numbers(unsigned chunk, llvm::Type* type, unsigned modulo) const {
  llvm::SmallVector<llvm::Constant*, 16> numbers;
  for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
    const unsigned lane = chunk * lanes_.per_chunk + i;
    numbers.push_back(llvm::ConstantInt::get(type, modulo != 0 ? lane % modulo : lane));
  }
  return llvm::ConstantVector::get(numbers);
}

llvm::Value* Emitter::lane_bits(llvm::Value* mask) {
  return builder_.CreateICmpSLT(mask, llvm::Constant::getNullValue(mask->getType()));
}

llvm::Value* Emitter::active(unsigned chunk) {
  if (mask_.empty()) {
    return llvm::Constant::getAllOnesValue(chunk_type(builder_.getInt1Ty()));
  }
  return lane_bits(mask_[chunk]);
}

llvm::Value* Emitter::any_of(const Chunks& mask) {
  if (mask.empty()) {
    return builder_.getTrue();
  }
  llvm::Value* joined = mask[0];
  for (unsigned chunk = 1; chunk < mask.size(); ++chunk) {
    joined = builder_.CreateOr(joined, mask[chunk]);
  }
  llvm::Type* bits = builder_.getIntNTy(lanes_.per_chunk);
  return builder_.CreateICmpNE(builder_.CreateBitCast(lane_bits(joined), bits),
                               llvm::ConstantInt::get(bits, 0));
}

llvm::Value* Emitter::all_of(const Chunks& mask) {
  if (mask.empty()) {
    return builder_.getTrue();
  }
  llvm::Value* joined = mask[0];
  for (unsigned chunk = 1; chunk < mask.size(); ++chunk) {
    joined = builder_.CreateAnd(joined, mask[chunk]);
  }
  llvm::Type* bits = builder_.getIntNTy(lanes_.per_chunk);
  return builder_.CreateICmpEQ(builder_.CreateBitCast(lane_bits(joined), bits),
                               llvm::Constant::getAllOnesValue(bits));
}

// The condition may be poison in lanes that are not active: a select keeps it out, an `and` would
// not.
Chunks Emitter::masked_condition(const Chunks& lanes, const llvm::Value* condition, bool negate) {
  Chunks result;
  const Chunks conditions = vector(condition);
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::Value* holds = negate ? builder_.CreateNot(conditions[chunk]) : conditions[chunk];
    llvm::Value* mask = builder_.CreateSExt(holds, mask_type());
    if (!lanes.empty()) {
      mask = builder_.CreateSelect(lane_bits(lanes[chunk]), mask,
                                   llvm::Constant::getNullValue(mask_type()));
    }
    result.push_back(mask);
  }
  return result;
}

void Emitter::define_scalar(const llvm::Value* value, llvm::Value* result) {
  scalars_[value] = result;
}

void Emitter::define_vector(const llvm::Value* value, Chunks result) {
  vectors_[value] = std::move(result);
}

llvm::Value* Emitter::scalar(const llvm::Value* value) {
  if (llvm::isa<llvm::Constant>(value)) {
    return const_cast<llvm::Value*>(value);
  }
  const auto found = scalars_.find(value);
  if (found != scalars_.end()) {
    return found->second;
  }
  if (reason_.empty()) {
    give_up("a value that was not computed", llvm::cast<llvm::Instruction>(*value));
  }
  return llvm::PoisonValue::get(value->getType());
}

llvm::Value* Emitter::term_at(const Term& term, unsigned lane, llvm::Type* type) {
  llvm::Value* number =
      llvm::ConstantInt::get(type, static_cast<std::uint64_t>(term.lanes[lane]), true);
  if (term.factor == nullptr || term.lanes[lane] == 0) {
    return number;
  }
  llvm::Value* factor = scalar(term.factor);
  factor = term.sign_extend ? builder_.CreateSExtOrTrunc(factor, type)
                            : builder_.CreateZExtOrTrunc(factor, type);
  return builder_.CreateMul(factor, number);
}

llvm::Value* Emitter::offset_address(llvm::Value* base,
                                     const Shape& shape,
                                     unsigned from,
                                     unsigned to) {
  llvm::Type* type = base->getType()->isPointerTy() ? builder_.getInt64Ty() : base->getType();
  llvm::Value* offset = llvm::ConstantInt::get(type, 0);
  for (const Term& term : shape.terms) {
    if (term.lanes[from] != term.lanes[to]) {
      Term moved = term;
      moved.lanes[to] -= term.lanes[from];
      offset = builder_.CreateAdd(offset, term_at(moved, to, type));
    }
  }
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(offset);
      number != nullptr && number->isZero()) {
    return base;
  }
  return base->getType()->isPointerTy() ? builder_.CreateGEP(builder_.getInt8Ty(), base, offset)
                                        : builder_.CreateAdd(base, offset);
}

llvm::Value* Emitter::scalar_at(const llvm::Value* value, unsigned lane) {
  if (analyses_.shapes.is_uniform(value)) {
    return scalar(value);
  }
  const Shape& shape = analyses_.shapes.of(value);
  if (!shape.known.empty()) {
    return llvm::ConstantInt::get(value->getType(), static_cast<std::uint64_t>(shape.known[lane]),
                                  true);
  }
  if (shape.accuracy != Shape::Accuracy::LaneZero) {
    return offset_address(scalar(value), shape, 0, lane);
  }
  // Computed once more, for this lane.
  const auto* instruction = llvm::cast<llvm::Instruction>(value);
  if (instruction->getOpcode() == llvm::Instruction::ZExt) {
    return widened_at(*instruction, lane);
  }
  llvm::SmallVector<llvm::Value*, 4> operands;
  for (const llvm::Value* operand : instruction->operands()) {
    operands.push_back(scalar_at(operand, lane));
  }
  if (is_sum_of_bits(*instruction)) {
    return builder_.CreateAdd(operands[0], operands[1]);
  }
  llvm::Instruction* copy = instruction->clone();
  for (unsigned i = 0; i < operands.size(); ++i) {
    copy->setOperand(i, operands[i]);
  }
  copy->dropPoisonGeneratingFlags();
  copy->dropUnknownNonDebugMetadata();
  return builder_.Insert(copy);
}

// In line with the lanes of its chunk whose index has not wrapped, even where that of `lane` has:
// right in the one of them with the greatest offset, as in emit_scalar.
llvm::Value* Emitter::widened_at(const llvm::Instruction& widening, unsigned lane) {
  const llvm::Value* operand = widening.getOperand(0);
  const auto& terms = analyses_.shapes.of(operand).terms;
  const unsigned first = lane / lanes_.per_chunk * lanes_.per_chunk;
  unsigned greatest = lane;
  std::int64_t distance = 0;
  for (unsigned other = first; other < first + lanes_.per_chunk; ++other) {
    std::int64_t offset = 0;
    bool in_line = true;
    for (const Term& term : terms) {
      if (term.factor == nullptr) {
        offset = term.lanes[other] - term.lanes[lane];
      } else {
        in_line = in_line && term.lanes[other] == term.lanes[lane];
      }
    }
    if (in_line && offset > distance) {
      greatest = other;
      distance = offset;
    }
  }
  llvm::Value* wide = builder_.CreateZExt(scalar_at(operand, greatest), widening.getType());
  return builder_.CreateSub(
      wide, llvm::ConstantInt::get(wide->getType(), static_cast<std::uint64_t>(distance)));
}

Chunks Emitter::affine_vector(const llvm::Value* value) {
  const Shape& shape = analyses_.shapes.of(value);
  llvm::Type* type = value->getType();
  llvm::Value* base = scalar(value);
  const bool is_pointer = type->isPointerTy();
  llvm::Type* number = is_pointer ? builder_.getInt64Ty() : type;
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::Value* offsets = llvm::Constant::getNullValue(chunk_type(number));
    for (const Term& term : shape.terms) {
      llvm::SmallVector<llvm::Constant*, 16> lanes;
      for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
        lanes.push_back(llvm::ConstantInt::get(
            number, static_cast<std::uint64_t>(term.lanes[chunk * lanes_.per_chunk + i]), true));
      }
      llvm::Value* part = llvm::ConstantVector::get(lanes);
      if (term.factor != nullptr) {
        llvm::Value* factor = scalar(term.factor);
        factor = term.sign_extend ? builder_.CreateSExtOrTrunc(factor, number)
                                  : builder_.CreateZExtOrTrunc(factor, number);
        part = builder_.CreateMul(splat(factor), part);
      }
      offsets = builder_.CreateAdd(offsets, part);
    }
    result.push_back(is_pointer ? builder_.CreateGEP(builder_.getInt8Ty(), base, offsets)
                                : builder_.CreateAdd(splat(base), offsets));
  }
  return result;
}

const Chunks& Emitter::vector(const llvm::Value* value) {
  if (const MatrixPairs::Half* half = matrix_half(value)) {
    return lanes_of_half(value, *half);
  }
  const auto found = vectors_.find(value);
  if (found != vectors_.end()) {
    return found->second;
  }
  Chunks result;
  const Shape& shape = analyses_.shapes.of(value);
  if (!shape.known.empty()) {
    for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
      llvm::SmallVector<llvm::Constant*, 16> lanes;
      for (unsigned i = 0; i < lanes_.per_chunk; ++i) {
        lanes.push_back(llvm::ConstantInt::get(
            value->getType(), static_cast<std::uint64_t>(shape.known[chunk * lanes_.per_chunk + i]),
            true));
      }
      result.push_back(llvm::ConstantVector::get(lanes));
    }
  } else if (shape.kind == Shape::Kind::Affine && shape.accuracy == Shape::Accuracy::Exact) {
    result = affine_vector(value);
  } else {
    // Uniform; scalar() complains about anything else.
    result.assign(lanes_.chunks(), splat(scalar(value)));
  }
  made_here_.push_back(value);
  return vectors_[value] = std::move(result);
}

void Emitter::emit_instruction(llvm::Instruction& instruction) {
  if (!reason_.empty()) {
    return;
  }
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Load:
      emit_load(llvm::cast<llvm::LoadInst>(instruction));
      return;
    case llvm::Instruction::Store:
      emit_store(llvm::cast<llvm::StoreInst>(instruction));
      return;
    case llvm::Instruction::AtomicRMW:
    case llvm::Instruction::AtomicCmpXchg:
      emit_atomic(instruction);
      return;
    case llvm::Instruction::Fence:
      builder_.Insert(instruction.clone());
      return;
    case llvm::Instruction::Call:
      emit_call(llvm::cast<llvm::CallInst>(instruction));
      return;
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
      emit_component(instruction);
      return;
    case llvm::Instruction::Alloca: {
      if (!llvm::cast<llvm::AllocaInst>(instruction).isStaticAlloca()) {
        give_up("private memory of a size that is not known", instruction);
        return;
      }
      llvm::Instruction* copy = instruction.clone();
      copy->insertInto(allocas_, allocas_->begin());
      define_scalar(&instruction, copy);
      return;
    }
    default:
      break;
  }
  if (instruction.getType()->isVectorTy()) {
    give_up("a vector operation", instruction);
    return;
  }
  const Shape& shape = analyses_.shapes.of(&instruction);
  if (shape.kind == Shape::Kind::Uniform || shape.kind == Shape::Kind::Affine) {
    emit_scalar(instruction);
  }
  if (shape.needs_vector()) {
    emit_lanewise(instruction);
  }
}

void Emitter::emit_scalar(llvm::Instruction& instruction) {
  const Shape& shape = analyses_.shapes.of(&instruction);
  if (!shape.known.empty() && shape.kind == Shape::Kind::Affine) {
    define_scalar(&instruction,
                  llvm::ConstantInt::get(instruction.getType(),
                                         static_cast<std::uint64_t>(shape.known[0]), true));
    return;
  }
  if (shape.kind == Shape::Kind::Affine && instruction.getOpcode() == llvm::Instruction::ZExt) {
    // Right in the lane with the greatest offset, so that one below zero does not move the others.
    std::int64_t greatest = 0;
    for (const Term& term : shape.terms) {
      if (term.factor == nullptr) {
        greatest = std::max(greatest, *std::max_element(term.lanes.begin(), term.lanes.end()));
      }
    }
    llvm::Value* operand = scalar(instruction.getOperand(0));
    llvm::Value* last = builder_.CreateAdd(
        operand,
        llvm::ConstantInt::get(operand->getType(), static_cast<std::uint64_t>(greatest), true));
    define_scalar(
        &instruction,
        builder_.CreateSub(builder_.CreateZExt(last, instruction.getType()),
                           llvm::ConstantInt::get(instruction.getType(),
                                                  static_cast<std::uint64_t>(greatest), true)));
    return;
  }
  if (shape.kind == Shape::Kind::Affine && is_sum_of_bits(instruction)) {
    // The bits of a lane that is not active need not be apart: a sum keeps the others in line.
    define_scalar(&instruction, builder_.CreateAdd(scalar(instruction.getOperand(0)),
                                                   scalar(instruction.getOperand(1))));
    return;
  }
  llvm::Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands()) {
    operand.set(scalar(operand.get()));
  }
  if (shape.kind == Shape::Kind::Affine) {
    // Lane 0 may not be active, and then promises about it do not hold.
    copy->dropPoisonGeneratingFlags();
  }
  define_scalar(&instruction, builder_.Insert(copy));
}

void Emitter::emit_lanewise(llvm::Instruction& instruction) {
  llvm::SmallVector<Chunks, 4> operands;
  const bool is_address = llvm::isa<llvm::GetElementPtrInst>(instruction);
  const bool is_matrix = matrix_half(&instruction) != nullptr;
  for (const llvm::Value* operand : instruction.operands()) {
    if (is_address && analyses_.shapes.is_uniform(operand)) {
      operands.push_back(Chunks(lanes_.chunks(), scalar(operand)));
    } else {
      operands.push_back(is_matrix ? row_operand(operand) : vector(operand));
    }
  }
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::SmallVector<llvm::Value*, 4> own;
    for (const Chunks& operand : operands) {
      own.push_back(operand[chunk]);
    }
    llvm::Value* value = emit_chunk(instruction, own, chunk);
    if (value == nullptr) {
      give_up("an operation", instruction);
      return;
    }
    result.push_back(value);
  }
  define_vector(&instruction, std::move(result));
}

// Lanes that are not active must neither divide by zero nor overflow, whatever poison they hold.
// The intrinsics keep the mask apart from the operands until code is generated: of a divisor that
// is selected by a mask, LLVM takes a zero in any lane for a proof that no lane is active. And what
// was promised of the divisor where lanes divide, that a shift loses no bits for instance, LLVM
// would take for a proof that it is never zero, and divide in all lanes.
llvm::Value* Emitter::emit_masked_division(llvm::Instruction::BinaryOps opcode,
                                           llvm::Value* left,
                                           llvm::Value* right,
                                           unsigned chunk) {
  if (divides_anything(right)) {
    return builder_.CreateBinOp(opcode, left, right);
  }
  const llvm::Intrinsic::ID division = llvm::VPIntrinsic::getForOpcode(opcode);
  llvm::Value* mask = active(chunk);
  left = builder_.CreateSelect(mask, left, llvm::Constant::getNullValue(left->getType()));
  right = builder_.CreateFreeze(right);
  return builder_.CreateIntrinsic(division, {left->getType()},
                                  {left, right, mask, builder_.getInt32(lanes_.per_chunk)});
}

llvm::Value* Emitter::emit_chunk(llvm::Instruction& instruction,
                                 llvm::ArrayRef<llvm::Value*> operands,
                                 unsigned chunk) {
  llvm::Type* type = instruction.getType();
  llvm::Value* value = nullptr;
  if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    value = operation->isIntDivRem() && !mask_.empty()
                ? emit_masked_division(operation->getOpcode(), operands[0], operands[1], chunk)
                : builder_.CreateBinOp(operation->getOpcode(), operands[0], operands[1]);
  } else if (const auto* unary = llvm::dyn_cast<llvm::UnaryOperator>(&instruction)) {
    value = builder_.CreateUnOp(unary->getOpcode(), operands[0]);
  } else if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    value = builder_.CreateCmp(compare->getPredicate(), operands[0], operands[1]);
  } else if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    value = builder_.CreateCast(cast->getOpcode(), operands[0], chunk_type(type));
  } else if (llvm::isa<llvm::SelectInst>(instruction)) {
    value = builder_.CreateSelect(operands[0], operands[1], operands[2]);
  } else if (llvm::isa<llvm::FreezeInst>(instruction)) {
    value = builder_.CreateFreeze(operands[0]);
  } else if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    return builder_.CreateGEP(address->getSourceElementType(), operands[0], operands.drop_front());
  } else {
    return nullptr;
  }
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(value)) {
    made->copyIRFlags(&instruction);
  }
  return value;
}

void Emitter::emit_intrinsic(llvm::IntrinsicInst& intrinsic) {
  const llvm::Intrinsic::ID id = intrinsic.getIntrinsicID();
  if (llvm::isa<llvm::DbgInfoIntrinsic>(intrinsic) || intrinsic.isAssumeLikeIntrinsic()) {
    return;
  }
  if (analyses_.shapes.is_uniform(&intrinsic) && !intrinsic.mayHaveSideEffects()) {
    emit_scalar(intrinsic);
    return;
  }
  if (!llvm::isTriviallyVectorizable(id)) {
    give_up("a function", intrinsic);
    return;
  }
  const bool is_matrix = matrix_half(&intrinsic) != nullptr;
  llvm::SmallVector<Chunks, 4> operands;
  llvm::SmallVector<llvm::Type*, 2> overloads;
  if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) {
    overloads.push_back(chunk_type(intrinsic.getType()));
  }
  for (unsigned i = 0; i < intrinsic.arg_size(); ++i) {
    const llvm::Value* operand = intrinsic.getArgOperand(i);
    if (llvm::isVectorIntrinsicWithScalarOpAtArg(id, i)) {
      if (!analyses_.shapes.is_uniform(operand)) {
        give_up("a function with an operand that differs", intrinsic);
        return;
      }
      operands.push_back(Chunks(lanes_.chunks(), scalar(operand)));
    } else {
      operands.push_back(is_matrix ? row_operand(operand) : vector(operand));
    }
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i))) {
      overloads.push_back(operands.back()[0]->getType());
    }
  }
  llvm::Function* function = llvm::Intrinsic::getDeclaration(target_.getParent(), id, overloads);
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::SmallVector<llvm::Value*, 4> own;
    for (const Chunks& operand : operands) {
      own.push_back(operand[chunk]);
    }
    llvm::CallInst* made = builder_.CreateCall(function, own);
    made->copyIRFlags(&intrinsic);
    result.push_back(made);
  }
  define_vector(&intrinsic, std::move(result));
}

// Functions without a vector form are called for one active lane after the other.
void Emitter::emit_call(llvm::CallInst& call) {
  const DeviceCall device = device_call(call);
  if (device.kind != DeviceCall::Kind::None) {
    emit_cross_lane(call, device);
    return;
  }
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
    emit_intrinsic(*intrinsic);
    return;
  }
  if (is_row_sum(call)) {
    emit_row_sum(call);
    return;
  }
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) {
    give_up("a call that is not inlined", call);
    return;
  }
  const bool is_pure = callee->doesNotAccessMemory();
  if (!is_pure || call.getType()->isVoidTy() || call.getType()->isVectorTy() ||
      call.getType()->isAggregateType()) {
    give_up("a function with side effects", call);
    return;
  }
  if (analyses_.shapes.is_uniform(&call)) {
    emit_scalar(call);
    return;
  }
  llvm::SmallVector<Chunks, 4> operands;
  for (const llvm::Value* operand : call.args()) {
    operands.push_back(vector(operand));
  }
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    llvm::Value* joined = llvm::PoisonValue::get(chunk_type(call.getType()));
    for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
      llvm::SmallVector<llvm::Value*, 4> own;
      for (const Chunks& operand : operands) {
        // Lanes that are not active hold anything, which a function may not be given.
        own.push_back(builder_.CreateFreeze(builder_.CreateExtractElement(operand[chunk], lane)));
      }
      llvm::CallInst* made =
          builder_.CreateCall(call.getFunctionType(), call.getCalledOperand(), own);
      joined = builder_.CreateInsertElement(joined, made, lane);
    }
    result.push_back(joined);
  }
  define_vector(&call, std::move(result));
}

llvm::SmallVector<Chunks, 2> Emitter::components(const llvm::Value* value) {
  const auto found = components_.find(value);
  if (found != components_.end()) {
    return found->second;
  }
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  const auto* structure = llvm::dyn_cast<llvm::StructType>(value->getType());
  const unsigned count = type != nullptr        ? type->getNumElements()
                         : structure != nullptr ? structure->getNumElements()
                                                : 0;
  llvm::SmallVector<Chunks, 2> result;
  for (unsigned i = 0; i < count; ++i) {
    llvm::Value* part = nullptr;
    if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
      part = constant->getAggregateElement(i);
    } else if (scalars_.count(value) != 0) {
      part = type != nullptr ? builder_.CreateExtractElement(scalar(value), i)
                             : builder_.CreateExtractValue(scalar(value), i);
    }
    if (part == nullptr) {
      return {};
    }
    result.push_back(Chunks(lanes_.chunks(), splat(part)));
  }
  return result;
}

void Emitter::emit_component(llvm::Instruction& instruction) {
  const bool is_matrix =
      keeps_rows_ && device_call(*instruction.getOperand(0)).kind == Kind::MatrixMultiply;
  if (keeps_rows_ && llvm::isa<llvm::InsertElementInst>(instruction) &&
      llvm::all_of(instruction.users(), [](const llvm::User* user) {
        return llvm::isa<llvm::InsertElementInst>(user) ||
               device_call(*user).kind == Kind::MatrixMultiply;
      })) {
    // A multiplication looks at the parts themselves.
    components_[&instruction] = {};
    return;
  }
  llvm::SmallVector<Chunks, 2> parts = components(instruction.getOperand(0));
  unsigned index = 0;
  const bool is_vector = llvm::isa<llvm::InsertElementInst>(instruction) ||
                         llvm::isa<llvm::ExtractElementInst>(instruction);
  if (is_vector) {
    const auto* number =
        llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(instruction.getNumOperands() - 1));
    if (number == nullptr) {
      give_up("a component whose number is not constant", instruction);
      return;
    }
    index = static_cast<unsigned>(number->getZExtValue());
  } else if (const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    index = extract->getNumIndices() == 1 ? extract->getIndices()[0] : ~0U;
  } else {
    const auto& insert = llvm::cast<llvm::InsertValueInst>(instruction);
    index = insert.getNumIndices() == 1 ? insert.getIndices()[0] : ~0U;
  }
  if (index >= parts.size()) {
    give_up("a part of a value", instruction);
    return;
  }
  if (llvm::isa<llvm::ExtractElementInst>(instruction) ||
      llvm::isa<llvm::ExtractValueInst>(instruction)) {
    if (is_matrix && matrix_half(&instruction) == nullptr) {
      parts = to_lanes(parts);
    }
    if (analyses_.shapes.has_scalar(&instruction)) {
      define_scalar(&instruction, builder_.CreateExtractElement(parts[index][0], std::uint64_t(0)));
    }
    define_vector(&instruction, parts[index]);
    return;
  }
  parts[index] = vector(instruction.getOperand(1));
  components_[&instruction] = std::move(parts);
}

}  // namespace pewter::compiler::spmd
