#include "pewter/compiler/spmd/index_extraction.h"

#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/TargetParser/Triple.h"

namespace pewter::compiler::spmd {
namespace {

constexpr unsigned kWordBits = 64;
// Fewer are as well taken out one by one.
constexpr std::size_t kFewLanes = 4;

bool is_address(const llvm::User* user) {
  return llvm::isa<llvm::GetElementPtrInst>(user);
}

/// Whether a lane is wanted for an address, widened to 64 bits or not.
bool is_index(const llvm::ExtractElementInst& lane) {
  return llvm::any_of(lane.users(), [](const llvm::User* user) {
    const bool is_widened = llvm::isa<llvm::ZExtInst>(user) || llvm::isa<llvm::SExtInst>(user);
    return is_address(user) || (is_widened && llvm::any_of(user->users(), is_address));
  });
}

/// The same vector, of which LLVM knows nothing. Lanes that nobody wants may be poison, and must
/// not spoil their neighbours; and what LLVM 19 derives from bits that it knows of a frozen vector
/// is wrong for its words.
llvm::Value* hidden(llvm::IRBuilder<>& builder, llvm::Value& vector) {
  auto* type = llvm::FunctionType::get(vector.getType(), {vector.getType()}, false);
  return builder.CreateCall(type, llvm::InlineAsm::get(type, "", "=x,0", false), {&vector});
}

void extract_by_words(llvm::Value& vector, const std::vector<llvm::ExtractElementInst*>& lanes) {
  auto* type = llvm::cast<llvm::FixedVectorType>(vector.getType());
  const unsigned bits = type->getScalarSizeInBits();
  const unsigned per_word = kWordBits / bits;
  // The words are computed where the first lane is: that place dominates the others of its block.
  llvm::IRBuilder<> builder(lanes.front());
  llvm::Value* words = builder.CreateBitCast(
      hidden(builder, vector),
      llvm::FixedVectorType::get(builder.getInt64Ty(), type->getNumElements() / per_word));
  std::vector<llvm::Value*> taken(type->getNumElements() / per_word);
  for (llvm::ExtractElementInst* lane : lanes) {
    const auto index = static_cast<unsigned>(
        llvm::cast<llvm::ConstantInt>(lane->getIndexOperand())->getZExtValue());
    builder.SetInsertPoint(lane);
    llvm::Value*& word = taken[index / per_word];
    if (word == nullptr) {
      word = builder.CreateExtractElement(words, index / per_word);
    }
    llvm::Value* shifted = builder.CreateLShr(word, std::uint64_t(index % per_word) * bits);
    lane->replaceAllUsesWith(builder.CreateTrunc(shifted, type->getElementType()));
    lane->eraseFromParent();
  }
}

}  // namespace

void extract_indices_by_words(llvm::Function& function) {
  // The vectors, and how they are hidden, are x86's.
  if (llvm::Triple(function.getParent()->getTargetTriple()).getArch() != llvm::Triple::x86_64) {
    return;
  }
  for (llvm::BasicBlock& block : function) {
    llvm::MapVector<llvm::Value*, std::vector<llvm::ExtractElementInst*>> found;
    for (llvm::Instruction& instruction : block) {
      auto* lane = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction);
      if (lane == nullptr || !lane->getType()->isIntegerTy() ||
          !llvm::isa<llvm::ConstantInt>(lane->getIndexOperand()) || !is_index(*lane)) {
        continue;
      }
      const auto* type = llvm::cast<llvm::FixedVectorType>(lane->getVectorOperandType());
      const unsigned bits = type->getScalarSizeInBits();
      const unsigned all_bits = bits * type->getNumElements();
      const bool fits = (bits == 8 || bits == 16 || bits == 32) &&
                        (all_bits == 128 || all_bits == 256 || all_bits == 512);
      if (fits) {
        found[lane->getVectorOperand()].push_back(lane);
      }
    }
    for (const auto& [vector, lanes] : found) {
      if (lanes.size() >= kFewLanes) {
        extract_by_words(*vector, lanes);
      }
    }
  }
}

}  // namespace pewter::compiler::spmd
