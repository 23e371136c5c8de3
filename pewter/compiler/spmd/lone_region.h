#pragma once

#include <optional>
#include <utility>

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::spmd {

/// A part of a thread function that lanes may run alone, one after the other: it has one way in,
/// and what it computes is used behind it through the phis of its exits only.
struct LoneRegion {
  /// A phi of an exit.
  struct Leaving {
    llvm::PHINode* phi;
    /// Whether all lanes that run the region together have the same value there.
    bool is_uniform = false;
  };

  llvm::BasicBlock* entry;
  llvm::SetVector<llvm::BasicBlock*> blocks;
  unsigned instructions = 0;
  llvm::SmallVector<llvm::BasicBlock*, 4> exits;
  llvm::SmallVector<Leaving, 4> leaving;
  /// Phis of exits that stand for something from before the region.
  llvm::SmallVector<std::pair<llvm::PHINode*, llvm::Value*>, 4> passing;
  /// What the function takes besides the phis of the entry. A null pointer stands for the number of
  /// the lane.
  llvm::SmallVector<llvm::Value*, 8> inputs;
  /// The region for one thread, from the values of the entry's phis on: gives what leaves it and,
  /// of several exits, the number of the one it took.
  llvm::Function* function = nullptr;
};

/// Nothing when something in the blocks needs other lanes, or there are more than so many
/// instructions.
std::optional<LoneRegion> find_lone_region(llvm::BasicBlock* entry,
                                           llvm::ArrayRef<llvm::BasicBlock*> blocks,
                                           unsigned max_instructions);

/// Writes the function. The region must be as it was found.
void write_lone_function(LoneRegion& region);

/// Makes a block in which each active lane runs the region by its function and goes on behind it.
/// `phis` are what the phis of the entry are.
llvm::BasicBlock* call_lone_function(const LoneRegion& region, llvm::ArrayRef<llvm::Value*> phis);

}  // namespace pewter::compiler::spmd
