#pragma once

#include <unordered_map>

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"

#include "pewter/compiler/spmd/control_flow.h"
#include "pewter/compiler/spmd/shape.h"

namespace pewter::compiler::spmd {

/// Finds how each value of a function differs from lane to lane, which decides whether an access is
/// consecutive, strided or a gather.
class ShapeAnalysis {
 public:
  ShapeAnalysis(llvm::Function& function,
                const Uniformity& uniformity,
                const ControlFlow& control_flow,
                unsigned width);

  const Shape& of(const llvm::Value* value) const;

  bool is_uniform(const llvm::Value* value) const { return of(value).kind == Shape::Kind::Uniform; }
  bool is_affine(const llvm::Value* value) const { return of(value).kind == Shape::Kind::Affine; }
  /// Whether one scalar, the value of lane 0, stands for the whole.
  bool has_scalar(const llvm::Value* value) const { return is_uniform(value) || is_affine(value); }

 private:
  Shape shape(const llvm::Value* value) const;
  Shape transfer(const llvm::Instruction& instruction) const;
  Shape of_phi(const llvm::PHINode& phi) const;
  Shape of_known_operands(const llvm::Instruction& instruction,
                          llvm::ArrayRef<Shape> operands) const;
  Shape of_product(const llvm::Instruction& instruction, llvm::ArrayRef<Shape> operands) const;
  Shape of_cast(const llvm::CastInst& cast, const Shape& operand) const;
  Shape of_address(const llvm::GetElementPtrInst& address, llvm::ArrayRef<Shape> operands) const;

  const Uniformity& uniformity_;
  const ControlFlow& control_flow_;
  const llvm::DataLayout& layout_;
  const unsigned width_;
  std::unordered_map<const llvm::Value*, Shape> shapes_;
};

}  // namespace pewter::compiler::spmd
