#include "pewter/compiler/spmd/matrix_pairs.h"

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/address.h"
#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::spmd {

MatrixPlace matrix_place(unsigned lane, unsigned component) {
  lane %= abi::kSimdWidth;
  return {lane / 16 * 4 + lane / 2 % 4, lane / 8 % 2 * 4 + lane % 2 * 2 + component};
}

unsigned first_lane_of_row(unsigned row) {
  return row / 4 * 16 + row % 4 * 2;
}

MatrixPairs::MatrixPairs(llvm::Function& function,
                         const ShapeAnalysis& shapes,
                         const MaskPlan& masks,
                         llvm::ScalarEvolution& evolution)
    : shapes_(shapes), masks_(masks), evolution_(evolution), layout_(function.getDataLayout()) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (device_call(instruction).kind != DeviceCall::Kind::MatrixMultiply) {
      continue;
    }
    for (llvm::Value* argument : llvm::cast<llvm::CallInst>(instruction).args()) {
      if (const auto found = parts(argument)) {
        are_operands(found->first, found->second);
      }
    }
  }
}

const MatrixPairs::Half* MatrixPairs::find(const llvm::Value* value) const {
  const auto found = halves_.find(value);
  return found != halves_.end() ? &found->second : nullptr;
}

std::optional<std::pair<llvm::Value*, llvm::Value*>> MatrixPairs::parts(llvm::Value* vector) {
  llvm::Value* found[2] = {nullptr, nullptr};
  while (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(vector)) {
    const auto* index = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    if (index == nullptr || index->getZExtValue() > 1) {
      return std::nullopt;
    }
    llvm::Value*& part = found[index->getZExtValue()];
    part = part != nullptr ? part : insert->getOperand(1);
    vector = insert->getOperand(0);
  }
  if (found[0] == nullptr || found[1] == nullptr) {
    return std::nullopt;
  }
  return std::pair(found[0], found[1]);
}

/// Whether two values can be given to an operation on rows.
bool MatrixPairs::are_operands(llvm::Value* first, llvm::Value* second) {
  return (first == second && shapes_.is_uniform(first)) || add(first, second);
}

void MatrixPairs::join(const llvm::Value* first, const llvm::Value* second) {
  halves_[first] = {second, 0};
  halves_[second] = {first, 1};
}

bool MatrixPairs::add(llvm::Value* first, llvm::Value* second) {
  if (const Half* known = find(first); known != nullptr || find(second) != nullptr) {
    return known != nullptr && known->other == second && known->component == 0;
  }
  auto* a = llvm::dyn_cast<llvm::Instruction>(first);
  auto* b = llvm::dyn_cast<llvm::Instruction>(second);
  if (a == nullptr || b == nullptr || a == b || a->getOpcode() != b->getOpcode() ||
      a->getParent() != b->getParent() || a->getType() != b->getType() ||
      shapes_.of(a).kind != Shape::Kind::Varying || shapes_.of(b).kind != Shape::Kind::Varying ||
      masks_.of(a->getParent()).vector != 0) {
    return false;
  }
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(a)) {
    auto* other = llvm::cast<llvm::PHINode>(b);
    for (llvm::BasicBlock* from : phi->blocks()) {
      if (masks_.of(from).vector != 0) {
        return false;
      }
    }
    join(a, b);
    for (llvm::BasicBlock* from : phi->blocks()) {
      // What comes in otherwise is brought into rows on the way.
      are_operands(phi->getIncomingValueForBlock(from), other->getIncomingValueForBlock(from));
    }
    return true;
  }
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(a)) {
    if (!are_rows(*load, *llvm::cast<llvm::LoadInst>(b))) {
      return false;
    }
    join(a, b);
    return true;
  }
  if (llvm::isa<llvm::ExtractElementInst>(a)) {
    const auto index = [](const llvm::Instruction& extract) {
      const auto* number = llvm::dyn_cast<llvm::ConstantInt>(extract.getOperand(1));
      return number != nullptr ? number->getZExtValue() : ~std::uint64_t{0};
    };
    if (a->getOperand(0) != b->getOperand(0) || index(*a) != 0 || index(*b) != 1 ||
        device_call(*a->getOperand(0)).kind != DeviceCall::Kind::MatrixMultiply) {
      return false;
    }
    join(a, b);
    return true;
  }
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(a);
  const bool is_function =
      intrinsic != nullptr &&
      llvm::cast<llvm::CallInst>(b)->getCalledOperand() == intrinsic->getCalledOperand() &&
      llvm::isTriviallyVectorizable(intrinsic->getIntrinsicID());
  if (!is_function && !llvm::isa<llvm::BinaryOperator>(a) && !llvm::isa<llvm::UnaryOperator>(a) &&
      !llvm::isa<llvm::CastInst>(a)) {
    return false;
  }
  if (a->isIntDivRem()) {
    return false;
  }
  const unsigned operands = is_function ? intrinsic->arg_size() : a->getNumOperands();
  for (unsigned i = 0; i < operands; ++i) {
    if (!are_operands(a->getOperand(i), b->getOperand(i))) {
      return false;
    }
  }
  join(a, b);
  return true;
}

/// Whether the lanes' elements are those of eight rows in memory, each as far from the last.
bool MatrixPairs::are_rows(const llvm::LoadInst& first, const llvm::LoadInst& second) const {
  if (!first.isSimple() || !second.isSimple() || first.getType()->isIntegerTy(1)) {
    return false;
  }
  const auto size = static_cast<std::int64_t>(layout_.getTypeStoreSize(first.getType()));
  const Address first_address = split_address(evolution_, first.getPointerOperand());
  const Address second_address = split_address(evolution_, second.getPointerOperand());
  if (first_address.base != second_address.base ||
      second_address.offset != first_address.offset + size) {
    return false;
  }
  // Nothing is written between the two.
  const bool first_leads = first.comesBefore(&second);
  const llvm::Instruction* end = first_leads ? &second : &first;
  for (const llvm::Instruction* next = first_leads ? &first : &second; next != end;
       next = next->getNextNode()) {
    if (next->mayWriteToMemory()) {
      return false;
    }
  }
  const Shape& shape = shapes_.of(first.getPointerOperand());
  if (shape.kind != Shape::Kind::Affine || shape.accuracy == Shape::Accuracy::LaneZero) {
    return false;
  }
  bool has_columns = false;
  for (const Term& term : shape.terms) {
    has_columns = has_columns || term.factor == nullptr;
    for (unsigned lane = 0; lane < term.lanes.size(); ++lane) {
      const MatrixPlace place = matrix_place(lane, 0);
      const unsigned row_start =
          lane / abi::kSimdWidth * abi::kSimdWidth + first_lane_of_row(place.row);
      const std::int64_t expected =
          term.factor == nullptr ? static_cast<std::int64_t>(place.column) * size : 0;
      const unsigned group_start = row_start - first_lane_of_row(place.row);
      const std::int64_t row_step =
          term.lanes[group_start + first_lane_of_row(1)] - term.lanes[group_start];
      if (term.lanes[lane] - term.lanes[row_start] != expected ||
          term.lanes[row_start] - term.lanes[group_start] !=
              static_cast<std::int64_t>(place.row) * row_step) {
        return false;
      }
    }
  }
  return has_columns;
}

void order_products(llvm::Function& function) {
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* first = nullptr;
    llvm::SmallPtrSet<const llvm::Value*, 32> behind;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      const bool is_product = device_call(instruction).kind == DeviceCall::Kind::MatrixMultiply;
      if (is_product && first == nullptr) {
        first = &instruction;
      }
      if (first == nullptr || llvm::isa<llvm::PHINode>(instruction)) {
        continue;
      }
      if (!is_product && (instruction.mayHaveSideEffects() || instruction.isTerminator())) {
        first = nullptr;
        behind.clear();
      } else if (is_product || llvm::any_of(instruction.operands(), [&](const llvm::Use& operand) {
                   return behind.contains(operand.get());
                 })) {
        behind.insert(&instruction);
      } else {
        instruction.moveBefore(first);
      }
    }
  }
}

}  // namespace pewter::compiler::spmd
