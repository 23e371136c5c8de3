#include "pewter/compiler/codegen/block_size.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::codegen {
namespace {

constexpr std::size_t kMaxBlock = 4'000;
constexpr std::size_t kPart = 1'000;

/// The first instruction that may start a block of its own: variables on the stack are those of the
/// entry block.
llvm::BasicBlock::iterator first_divisible(llvm::BasicBlock& block) {
  auto first = block.getFirstInsertionPt();
  if (block.isEntryBlock()) {
    for (auto next = first; next != block.end(); ++next) {
      if (llvm::isa<llvm::AllocaInst>(*next)) {
        first = std::next(next);
      }
    }
  }
  return first;
}

}  // namespace

void divide_large_blocks(llvm::Module& module) {
  std::vector<llvm::BasicBlock*> large;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      if (block.size() > kMaxBlock) {
        large.push_back(&block);
      }
    }
  }
  for (llvm::BasicBlock* block : large) {
    auto place = first_divisible(*block);
    // What is left is a part of full size at least, so that a call stays with the return it is for.
    for (auto left = std::distance(place, block->end());
         left > static_cast<std::ptrdiff_t>(2 * kPart); left = std::distance(place, block->end())) {
      std::advance(place, kPart);
      block = block->splitBasicBlock(place);
      // The code generator joins blocks that follow each other, except where an address is taken.
      llvm::BlockAddress::get(block);
      place = block->begin();
    }
  }
}

}  // namespace pewter::compiler::codegen
