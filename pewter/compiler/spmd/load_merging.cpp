#include "pewter/compiler/spmd/load_merging.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#include "pewter/compiler/spmd/address.h"
#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/uniformity.h"

namespace pewter::compiler::spmd {
namespace {

constexpr std::int64_t kWord = 4;

struct NarrowLoad {
  llvm::LoadInst* load = nullptr;
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

/// Whether an instruction loads a byte or two.
bool is_narrow(const llvm::Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (load == nullptr || !load->isSimple() || load->getType()->isVectorTy()) {
    return false;
  }
  const llvm::DataLayout& layout = load->getDataLayout();
  const auto size = static_cast<std::int64_t>(layout.getTypeStoreSize(load->getType()));
  return size < kWord &&
         layout.getTypeSizeInBits(load->getType()) == static_cast<std::uint64_t>(size) * 8;
}

/// Narrow loads of one block from one base, with nothing between them that may write.
using Neighbours = std::vector<NarrowLoad>;

class Merger {
 public:
  Merger(llvm::Function& function, llvm::ScalarEvolution& evolution, unsigned width)
      : layout_(function.getDataLayout()),
        evolution_(evolution),
        uniformity_(function, width),
        has_matrices_(multiplies_matrices(function)) {}

  void run(llvm::BasicBlock& block) {
    std::map<const llvm::SCEV*, Neighbours> open;
    std::vector<Neighbours> found;
    const auto close = [&] {
      for (auto& [base, loads] : open) {
        found.push_back(std::move(loads));
      }
      open.clear();
    };
    for (llvm::Instruction& instruction : block) {
      if (instruction.mayWriteToMemory()) {
        close();
        continue;
      }
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!is_narrow(instruction) || uniformity_.is_uniform(load->getPointerOperand())) {
        continue;
      }
      const auto size = static_cast<std::int64_t>(layout_.getTypeStoreSize(load->getType()));
      const Address address = split_address(evolution_, load->getPointerOperand());
      open[address.base].push_back({load, address.offset, size});
    }
    close();
    for (Neighbours& loads : found) {
      merge(loads);
    }
  }

 private:
  void merge(Neighbours& loads) {
    // Where the first of them is: everything that they need is there.
    llvm::Instruction* place = loads.front().load;
    llvm::Value* place_address = loads.front().load->getPointerOperand();
    const std::int64_t place_offset = loads.front().offset;
    std::set<std::int64_t> bytes;
    for (const NarrowLoad& load : loads) {
      for (std::int64_t i = 0; i < load.size; ++i) {
        bytes.insert(load.offset + i);
      }
    }
    llvm::IRBuilder<> builder(place);
    std::map<std::int64_t, llvm::Value*> words;
    const auto word_at = [&](std::int64_t offset) {
      llvm::Value*& word = words[offset];
      if (word == nullptr) {
        word = builder.CreateAlignedLoad(
            builder.getInt32Ty(),
            builder.CreateConstGEP1_64(builder.getInt8Ty(), place_address,
                                       static_cast<std::uint64_t>(offset - place_offset)),
            llvm::Align(1));
      }
      return word;
    };
    for (auto run = bytes.begin(); run != bytes.end();) {
      const std::int64_t first = *run;
      std::int64_t end = first;
      while (run != bytes.end() && *run == end) {
        ++run;
        ++end;
      }
      if (end - first < kWord || (has_matrices_ && end - first == kWord)) {
        // Two elements of a matrix are better loaded with the others of their row.
        continue;
      }
      for (const NarrowLoad& load : loads) {
        if (load.offset < first || load.offset + load.size > end) {
          continue;
        }
        // The last word ends where the run does; one that spans two words stays as it is.
        const std::int64_t word =
            std::min(first + (load.offset - first) / kWord * kWord, end - kWord);
        if (load.offset + load.size > word + kWord) {
          continue;
        }
        llvm::Value* value =
            builder.CreateLShr(word_at(word), static_cast<std::uint64_t>(load.offset - word) * 8);
        value = builder.CreateTrunc(value, builder.getIntNTy(static_cast<unsigned>(load.size) * 8));
        load.load->replaceAllUsesWith(builder.CreateBitCast(value, load.load->getType()));
        merged_.push_back(load.load);
      }
    }
    for (llvm::LoadInst* load : merged_) {
      load->eraseFromParent();
    }
    merged_.clear();
  }

  const llvm::DataLayout& layout_;
  llvm::ScalarEvolution& evolution_;
  const Uniformity uniformity_;
  const bool has_matrices_;
  std::vector<llvm::LoadInst*> merged_;
};

}  // namespace

void merge_loads(llvm::Function& function,
                 llvm::FunctionAnalysisManager& analyses,
                 unsigned width) {
  if (llvm::none_of(llvm::instructions(function), is_narrow)) {
    return;
  }
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  Merger merger(function, analyses.getResult<llvm::ScalarEvolutionAnalysis>(function), width);
  for (llvm::BasicBlock& block : function) {
    merger.run(block);
  }
}

}  // namespace pewter::compiler::spmd
