#pragma once

#include <optional>
#include <unordered_map>

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"

#include "pewter/compiler/spmd/mask_plan.h"
#include "pewter/compiler/spmd/shape_analysis.h"

namespace pewter::compiler::spmd {

/// Where an element of a simdgroup's 8x8 matrix is: each lane holds two neighbours of a row.
struct MatrixPlace {
  unsigned row = 0;
  unsigned column = 0;
};
MatrixPlace matrix_place(unsigned lane, unsigned component);
/// The lane that holds the first elements of a row.
unsigned first_lane_of_row(unsigned row);

/// Finds the values that come in pairs, one for each of a thread's two elements of a matrix, and
/// need not be taken apart into lanes: a program keeps such a pair as the rows of the matrix, the
/// first four in place of the one, the others in place of the other.
///
/// They are what multiplications give and take, and what leads from one to the next: phis, loads of
/// whole rows, operations on each element alone.
class MatrixPairs {
 public:
  struct Half {
    const llvm::Value* other = nullptr;
    /// 0 or 1: which of a thread's two elements.
    unsigned component = 0;
  };

  MatrixPairs(llvm::Function& function,
              const ShapeAnalysis& shapes,
              const MaskPlan& masks,
              llvm::ScalarEvolution& evolution);

  /// Nothing for a value that is kept in lanes.
  const Half* find(const llvm::Value* value) const;

  /// The two parts of a vector that was put together of them.
  static std::optional<std::pair<llvm::Value*, llvm::Value*>> parts(llvm::Value* vector);

 private:
  bool add(llvm::Value* first, llvm::Value* second);
  bool are_operands(llvm::Value* first, llvm::Value* second);
  bool are_rows(const llvm::LoadInst& first, const llvm::LoadInst& second) const;
  void join(const llvm::Value* first, const llvm::Value* second);

  const ShapeAnalysis& shapes_;
  const MaskPlan& masks_;
  llvm::ScalarEvolution& evolution_;
  const llvm::DataLayout& layout_;
  std::unordered_map<const llvm::Value*, Half> halves_;
};

/// Moves what products of matrices do not give in front of the first of them, as far as memory
/// allows: factors are then there when products that share one are computed together.
void order_products(llvm::Function& function);

}  // namespace pewter::compiler::spmd
