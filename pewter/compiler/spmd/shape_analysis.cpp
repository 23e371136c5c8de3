#include "pewter/compiler/spmd/shape_analysis.h"

#include <algorithm>

#include "llvm/IR/GetElementPtrTypeIterator.h"

#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::spmd {
namespace {

using Kind = Shape::Kind;
using Accuracy = Shape::Accuracy;

Shape without_known(Shape shape) {
  shape.known.clear();
  return shape;
}

Shape zero() {
  Shape shape;
  shape.kind = Kind::Affine;
  return shape;
}

/// What `instruction` makes of one lane's operands; false when it has no defined result.
bool evaluate(const llvm::Instruction& instruction,
              const llvm::APInt& a,
              const llvm::APInt& b,
              unsigned bits,
              llvm::APInt& result) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::ZExt:
      result = a.zext(bits);
      return true;
    case llvm::Instruction::SExt:
      result = a.sext(bits);
      return true;
    case llvm::Instruction::Trunc:
      result = a.trunc(bits);
      return true;
    case llvm::Instruction::Add:
      result = a + b;
      return true;
    case llvm::Instruction::Sub:
      result = a - b;
      return true;
    case llvm::Instruction::Mul:
      result = a * b;
      return true;
    case llvm::Instruction::And:
      result = a & b;
      return true;
    case llvm::Instruction::Or:
      result = a | b;
      return true;
    case llvm::Instruction::Xor:
      result = a ^ b;
      return true;
    case llvm::Instruction::Shl:
      result = a.shl(b);
      return b.ult(bits);
    case llvm::Instruction::LShr:
      result = a.lshr(b);
      return b.ult(bits);
    case llvm::Instruction::AShr:
      result = a.ashr(b);
      return b.ult(bits);
    case llvm::Instruction::UDiv:
      result = b.isZero() ? a : a.udiv(b);
      return !b.isZero();
    case llvm::Instruction::URem:
      result = b.isZero() ? a : a.urem(b);
      return !b.isZero();
    default:
      return false;
  }
}

}  // namespace

ShapeAnalysis::ShapeAnalysis(llvm::Function& function,
                             const Uniformity& uniformity,
                             const ControlFlow& control_flow,
                             unsigned width)
    : uniformity_(uniformity),
      control_flow_(control_flow),
      layout_(function.getDataLayout()),
      width_(width) {
  // Values only move from unknown to a shape to varying, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock* block : control_flow.blocks()) {
      for (llvm::Instruction& instruction : *block) {
        if (instruction.getType()->isVoidTy()) {
          continue;
        }
        Shape found = transfer(instruction);
        Shape& known = shapes_[&instruction];
        if (known.kind == Kind::Varying || found.kind == Kind::Unknown || found == known) {
          continue;
        }
        if (known.kind == found.kind && known.terms == found.terms) {
          // What was known of single lanes may be lost, and accuracy too, but never come back.
          found.accuracy = std::max(known.accuracy, found.accuracy);
          if (known.known.empty()) {
            found.known.clear();
          }
          if (found == known) {
            continue;
          }
        } else if (known.kind != Kind::Unknown) {
          found = Shape::varying();
        }
        known = std::move(found);
        changed = true;
      }
    }
  }
  for (auto& [value, shape] : shapes_) {
    if (shape.kind == Kind::Unknown) {
      shape = uniformity.is_uniform(value) ? Shape::uniform() : Shape::varying();
    }
  }
}

const Shape& ShapeAnalysis::of(const llvm::Value* value) const {
  static const Shape uniform = Shape::uniform();
  const auto found = shapes_.find(value);
  return found == shapes_.end() ? uniform : found->second;
}

Shape ShapeAnalysis::shape(const llvm::Value* value) const {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
      number != nullptr && number->getBitWidth() <= 64) {
    Shape shape = Shape::uniform();
    shape.known.assign(width_, number->getSExtValue());
    return shape;
  }
  if (!llvm::isa<llvm::Instruction>(value)) {
    return Shape::uniform();
  }
  const auto found = shapes_.find(value);
  return found == shapes_.end() ? Shape{} : found->second;
}

Shape ShapeAnalysis::transfer(const llvm::Instruction& instruction) const {
  if (uniformity_.is_uniform(&instruction)) {
    return Shape::uniform();
  }
  if (device_call(instruction).kind == DeviceCall::Kind::Lane) {
    std::vector<std::int64_t> lanes(width_);
    for (unsigned lane = 0; lane < width_; ++lane) {
      lanes[lane] = lane;
    }
    return Shape::of_known(std::move(lanes), 32);
  }
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    return of_phi(*phi);
  }
  const llvm::Type* type = instruction.getType();
  if ((!type->isIntegerTy() && !type->isPointerTy()) || type->isIntegerTy(1) ||
      llvm::isa<llvm::CallBase>(instruction) || llvm::isa<llvm::LoadInst>(instruction)) {
    return Shape::varying();
  }
  const unsigned bits = type->isPointerTy() ? 64 : type->getIntegerBitWidth();
  if (bits > 64) {
    return Shape::varying();
  }
  llvm::SmallVector<Shape, 4> operands;
  bool all_known = type->isIntegerTy();
  for (const llvm::Value* operand : instruction.operands()) {
    operands.push_back(shape(operand));
    if (operands.back().kind == Kind::Unknown) {
      return {};
    }
    all_known = all_known && !operands.back().known.empty();
  }
  if (all_known && (instruction.isBinaryOp() || instruction.isCast())) {
    return of_known_operands(instruction, operands);
  }
  if (std::any_of(operands.begin(), operands.end(),
                  [](const Shape& operand) { return operand.kind == Kind::Varying; })) {
    return Shape::varying();
  }
  for (Shape& operand : operands) {
    operand.known.clear();
  }
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
      return add_scaled(operands[0], operands[1], 1, bits);
    case llvm::Instruction::Sub:
      return add_scaled(operands[0], operands[1], -1, bits);
    case llvm::Instruction::Or:
      return llvm::cast<llvm::PossiblyDisjointInst>(instruction).isDisjoint()
                 ? add_scaled(operands[0], operands[1], 1, bits)
                 : Shape::varying();
    case llvm::Instruction::Shl:
      if (const auto* amount = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
          amount != nullptr && amount->getValue().ult(bits)) {
        return add_scaled(zero(), operands[0], std::int64_t(1) << amount->getZExtValue(), bits);
      }
      return Shape::varying();
    case llvm::Instruction::Mul:
      return of_product(instruction, operands);
    case llvm::Instruction::ZExt:
    case llvm::Instruction::SExt:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
      return of_cast(llvm::cast<llvm::CastInst>(instruction), operands[0]);
    case llvm::Instruction::Freeze:
      return operands[0];
    case llvm::Instruction::Select:
      return operands[0].kind == Kind::Uniform && operands[1] == operands[2] ? operands[1]
                                                                             : Shape::varying();
    case llvm::Instruction::GetElementPtr:
      return of_address(llvm::cast<llvm::GetElementPtrInst>(instruction), operands);
    default:
      return Shape::varying();
  }
}

Shape ShapeAnalysis::of_phi(const llvm::PHINode& phi) const {
  const llvm::BasicBlock* block = phi.getParent();
  if (uniformity_.is_divergent_join(block) || phi.getType()->isIntegerTy(1) ||
      (!phi.getType()->isIntegerTy() && !phi.getType()->isPointerTy())) {
    return Shape::varying();
  }
  const llvm::Loop* loop = control_flow_.loops().getLoopFor(block);
  Shape joined;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    if (control_flow_.leaves_divergent_loop(phi.getIncomingBlock(i), block)) {
      return Shape::varying();
    }
    Shape incoming = without_known(shape(phi.getIncomingValue(i)));
    if (incoming.kind == Kind::Unknown) {
      continue;
    }
    if (incoming.kind == Kind::Uniform) {
      incoming = zero();
    }
    if (incoming.kind == Kind::Varying || incoming.accuracy == Accuracy::LaneZero) {
      return Shape::varying();
    }
    // A factor that changes within the loop would be another one in the next iteration.
    for (const Term& term : incoming.terms) {
      const auto* factor = llvm::dyn_cast_or_null<llvm::Instruction>(term.factor);
      if (factor != nullptr && loop != nullptr && loop->contains(factor)) {
        return Shape::varying();
      }
    }
    if (joined.kind == Kind::Unknown) {
      joined = incoming;
    } else if (joined.terms != incoming.terms) {
      return Shape::varying();
    } else {
      joined.accuracy = std::max(joined.accuracy, incoming.accuracy);
    }
  }
  return joined;
}

Shape ShapeAnalysis::of_known_operands(const llvm::Instruction& instruction,
                                       llvm::ArrayRef<Shape> operands) const {
  const unsigned bits = instruction.getType()->getIntegerBitWidth();
  if (!instruction.getOperand(0)->getType()->isIntegerTy()) {
    return Shape::varying();
  }
  const unsigned operand_bits = instruction.getOperand(0)->getType()->getIntegerBitWidth();
  std::vector<std::int64_t> lanes(width_);
  for (unsigned lane = 0; lane < width_; ++lane) {
    const llvm::APInt a(operand_bits, static_cast<std::uint64_t>(operands[0].known[lane]), true);
    const llvm::APInt b(
        operand_bits, static_cast<std::uint64_t>(operands.size() > 1 ? operands[1].known[lane] : 0),
        true);
    llvm::APInt result;
    if (!evaluate(instruction, a, b, bits, result)) {
      return Shape::varying();
    }
    lanes[lane] = result.getSExtValue();
  }
  return Shape::of_known(std::move(lanes), bits);
}

Shape ShapeAnalysis::of_product(const llvm::Instruction& instruction,
                                llvm::ArrayRef<Shape> operands) const {
  const unsigned bits = instruction.getType()->getIntegerBitWidth();
  const unsigned varying = operands[0].kind == Kind::Affine ? 0 : 1;
  const unsigned other = 1 - varying;
  if (operands[other].kind != Kind::Uniform) {
    return Shape::varying();
  }
  llvm::Value* factor = instruction.getOperand(other);
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(factor)) {
    return add_scaled(zero(), operands[varying], number->getSExtValue(), bits);
  }
  Shape product = operands[varying];
  if (product.terms.empty()) {
    return product;
  }
  if (product.terms.size() != 1 || product.terms[0].factor != nullptr) {
    return Shape::varying();
  }
  product.terms[0].factor = factor;
  return product;
}

Shape ShapeAnalysis::of_cast(const llvm::CastInst& cast, const Shape& operand) const {
  const unsigned opcode = cast.getOpcode();
  const bool widens = opcode == llvm::Instruction::ZExt || opcode == llvm::Instruction::SExt;
  if (cast.getSrcTy()->isIntegerTy(1)) {
    return Shape::varying();
  }
  const unsigned bits =
      cast.getDestTy()->isPointerTy() ? 64 : cast.getDestTy()->getIntegerBitWidth();
  Shape result = operand;
  if (!widens) {
    // Factors are taken modulo the narrower width when they are used.
    result = add_scaled(zero(), operand, 1, bits);
    result.accuracy = operand.accuracy;
    return result;
  }
  if (operand.kind == Kind::Uniform || operand.terms.empty()) {
    return operand;
  }
  if (cast.getSrcTy()->getIntegerBitWidth() < 32) {
    return Shape::varying();
  }
  const bool is_signed = opcode == llvm::Instruction::SExt;
  for (Term& term : result.terms) {
    term.sign_extend = is_signed;
  }
  const bool sure = is_signed || !operand.has_factors();
  result.accuracy = std::max(operand.accuracy, sure ? Accuracy::Address : Accuracy::LaneZero);
  return result;
}

Shape ShapeAnalysis::of_address(const llvm::GetElementPtrInst& address,
                                llvm::ArrayRef<Shape> operands) const {
  if (address.getType()->isVectorTy()) {
    return Shape::varying();
  }
  Shape result = operands[0].kind == Kind::Uniform ? zero() : operands[0];
  std::size_t index = 1;
  for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address);
       ++type, ++index) {
    if (type.isStruct()) {
      continue;
    }
    Shape step = operands[index];
    const unsigned bits =
        address.getOperand(static_cast<unsigned>(index))->getType()->getIntegerBitWidth();
    if (bits < 64 && step.kind == Kind::Affine) {
      // Widened with its sign by the address computation.
      for (Term& term : step.terms) {
        term.sign_extend = true;
      }
      step.accuracy =
          std::max(step.accuracy, step.has_factors() ? Accuracy::LaneZero : Accuracy::Address);
    }
    result = add_scaled(
        result, step,
        static_cast<std::int64_t>(type.getSequentialElementStride(layout_).getFixedValue()), 64);
    if (result.kind == Kind::Varying) {
      return result;
    }
  }
  return result;
}

}  // namespace pewter::compiler::spmd
