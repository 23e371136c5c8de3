#include "pewter/compiler/spmd/instruction_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

namespace pewter::compiler::spmd {
namespace {

// Vector registers that constants take.
constexpr std::size_t kTakenRegisters = 3;
// What belongs to no chunk is in order with all accesses.
constexpr unsigned kEveryChunk = kThreadgroupAccess - 1;

unsigned chunk_of(const llvm::Instruction& access) {
  const llvm::MDNode* node = access.getMetadata(kChunkOfAccess);
  if (node == nullptr) {
    return kEveryChunk;
  }
  return static_cast<unsigned>(
      llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getZExtValue());
}

bool is_plain_load(const llvm::Instruction& instruction) {
  return !instruction.mayWriteToMemory() && !instruction.isAtomic() && !instruction.isVolatile();
}

/// The instructions of a block between its phis and its end.
class BlockOrder {
 public:
  BlockOrder(llvm::BasicBlock& block, std::size_t free_registers)
      : block_(block), free_registers_(free_registers) {
    for (llvm::Instruction& instruction : block) {
      if (!llvm::isa<llvm::PHINode>(instruction) && !llvm::isa<llvm::AllocaInst>(instruction) &&
          !instruction.isTerminator()) {
        numbers_[&instruction] = static_cast<int>(instructions_.size());
        instructions_.push_back(&instruction);
      }
    }
  }

  void improve() {
    if (instructions_.size() < free_registers_) {
      return;
    }
    find_uses();
    std::vector<int> before(instructions_.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      before[i] = static_cast<int>(i);
    }
    const std::size_t cost = spills(before);
    if (cost == 0) {
      return;
    }
    find_memory_order();
    Order best = by_chunks();
    std::size_t best_cost = spills(best.numbers);
    // Of orders that cost the same, the one with the most work that does not wait for each other.
    for (const std::size_t results : {2, 4, 8, 16}) {
      Order order = by_batches(results);
      const std::size_t its_cost = spills(order.numbers);
      if (its_cost < best_cost || (its_cost == best_cost && !best.ends.empty())) {
        best = std::move(order);
        best_cost = its_cost;
      }
    }
    if (best_cost < cost) {
      apply(best);
    }
  }

 private:
  struct Order {
    std::vector<int> numbers;
    /// Where batches end, which the processor's scheduler is not to mix again.
    std::vector<std::size_t> ends;
  };

  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  int number_of(const llvm::Value* value) const {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    const auto found = instruction != nullptr ? numbers_.find(instruction) : numbers_.end();
    return found != numbers_.end() ? found->second : -1;
  }

  void find_uses() {
    const std::size_t count = instructions_.size();
    inputs_.resize(count);
    users_.resize(count);
    is_kept_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (const llvm::Value* operand : instructions_[i]->operands()) {
        const int input = number_of(operand);
        if (input >= 0 && !llvm::is_contained(inputs_[i], input)) {
          inputs_[i].push_back(input);
          users_[at(input)].push_back(static_cast<int>(i));
        }
      }
      for (const llvm::User* user : instructions_[i]->users()) {
        if (number_of(user) < 0) {
          is_kept_[i] = true;
        }
      }
    }
  }

  /// How often vectors have to be written to the stack and read from it again, when what is needed
  /// last gives way.
  std::size_t spills(const std::vector<int>& order) const {
    constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();
    // Where each value is used, from the last to the first; those of other blocks are values too.
    llvm::DenseMap<const llvm::Value*, llvm::SmallVector<std::size_t, 4>> uses;
    const auto vectors_of = [&](std::size_t place) {
      return llvm::make_filter_range(
          instructions_[at(order[place])]->operand_values(), [](const llvm::Value* operand) {
            return operand->getType()->isVectorTy() && !llvm::isa<llvm::Constant>(operand);
          });
    };
    for (std::size_t place = order.size(); place-- > 0;) {
      for (const llvm::Value* operand : vectors_of(place)) {
        uses[operand].push_back(place);
      }
    }
    struct Register {
      const llvm::Value* value;
      bool is_on_stack;
    };
    std::vector<Register> registers;
    std::size_t cost = 0;
    const auto next_use = [&](const llvm::Value* value) {
      const auto found = uses.find(value);
      if (found == uses.end() || found->second.empty()) {
        const int number = number_of(value);
        return number >= 0 && is_kept_[at(number)] ? kNever - 1 : kNever;
      }
      return found->second.back();
    };
    const auto enter = [&](const llvm::Value* value, bool is_on_stack) {
      std::erase_if(registers, [&](const Register& r) { return next_use(r.value) == kNever; });
      if (registers.size() >= free_registers_) {
        auto last = std::max_element(registers.begin(), registers.end(),
                                     [&](const Register& a, const Register& b) {
                                       return next_use(a.value) < next_use(b.value);
                                     });
        cost += last->is_on_stack ? 0 : 1;
        registers.erase(last);
      }
      registers.push_back({value, is_on_stack});
    };
    for (std::size_t place = 0; place < order.size(); ++place) {
      for (const llvm::Value* operand : vectors_of(place)) {
        const bool is_there =
            llvm::any_of(registers, [&](const Register& r) { return r.value == operand; });
        if (!is_there) {
          ++cost;
          enter(operand, true);
        }
        auto& places = uses[operand];
        if (!places.empty() && places.back() == place) {
          places.pop_back();
        }
      }
      if (is_vector(order[place])) {
        enter(instructions_[at(order[place])], false);
      }
    }
    return cost;
  }

  bool is_vector(int number) const { return instructions_[at(number)]->getType()->isVectorTy(); }

  /// Adds to the inputs of each access those that have to come before it.
  void find_memory_order() {
    struct Accesses {
      int last_write = -1;
      std::vector<int> reads;
    };
    std::map<unsigned, Accesses> chunks;
    waits_ = inputs_;
    const auto wait_for = [&](std::size_t access, const Accesses& others, bool is_read) {
      if (others.last_write >= 0) {
        waits_[access].push_back(others.last_write);
      }
      if (!is_read) {
        waits_[access].insert(waits_[access].end(), others.reads.begin(), others.reads.end());
      }
    };
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      const llvm::Instruction& access = *instructions_[i];
      if (!access.mayReadOrWriteMemory() && !access.mayHaveSideEffects()) {
        continue;
      }
      const bool is_read = is_plain_load(access);
      if (is_read && access.hasMetadata(llvm::LLVMContext::MD_invariant_load)) {
        continue;
      }
      const unsigned chunk = chunk_of(access);
      if (chunk == kEveryChunk) {
        for (const auto& [other, accesses] : chunks) {
          wait_for(i, accesses, is_read);
        }
        if (!is_read) {
          chunks.clear();
        }
      } else {
        wait_for(i, chunks[chunk], is_read);
        wait_for(i, chunks[kEveryChunk], is_read);
      }
      Accesses& own = chunks[chunk];
      if (is_read) {
        own.reads.push_back(static_cast<int>(i));
      } else {
        own.last_write = static_cast<int>(i);
        own.reads.clear();
      }
    }
    followers_.resize(instructions_.size());
    waiting_for_.resize(instructions_.size());
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      std::sort(waits_[i].begin(), waits_[i].end());
      waits_[i].erase(std::unique(waits_[i].begin(), waits_[i].end()), waits_[i].end());
      waiting_for_[i] = waits_[i].size();
      for (const int earlier : waits_[i]) {
        followers_[at(earlier)].push_back(static_cast<int>(i));
      }
    }
  }

  /// Whether something outside of the block, or memory, gets what an instruction computes.
  bool is_result(std::size_t i) const {
    return is_kept_[i] || instructions_[i]->mayHaveSideEffects() || users_[i].empty();
  }

  /// Calls `place` with everything that `root` waits for and that is not done, then with `root`.
  template <typename Place>
  void with_inputs(int root, const std::vector<bool>& done, Place place) const {
    std::vector<int> stack{root};
    while (!stack.empty()) {
      const int number = stack.back();
      if (done[at(number)]) {
        stack.pop_back();
        continue;
      }
      bool is_ready = true;
      // The first one on top of the stack.
      for (const int input : llvm::reverse(waits_[at(number)])) {
        if (!done[at(input)]) {
          stack.push_back(input);
          is_ready = false;
        }
      }
      if (is_ready) {
        stack.pop_back();
        place(number);
      }
    }
  }

  /// From each result back to what it needs; and whatever can then be finished is.
  Order by_chunks() {
    left_.resize(instructions_.size());
    done_.resize(instructions_.size());
    for (std::size_t i = 0; i < left_.size(); ++i) {
      left_[i] = users_[i].size();
    }
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (is_result(i)) {
        with_inputs(static_cast<int>(i), done_, [&](int number) { place(number); });
      }
    }
    return {std::move(order_), {}};
  }

  /// A few results at a time, in step, so that they share what they have in common and none waits
  /// for its own last instruction: the order in which the program was written, without the
  /// instructions of other results.
  Order by_batches(std::size_t results) const {
    Order order;
    std::vector<bool> is_chosen(instructions_.size());
    std::vector<bool> done(instructions_.size());
    std::vector<int> batch;
    const auto end_batch = [&] {
      std::sort(batch.begin(), batch.end());
      for (const int number : batch) {
        // Others are placed when they are needed.
        if (is_result(at(number)) || joins_values(number)) {
          with_inputs(number, done, [&](int placed) {
            done[at(placed)] = true;
            order.numbers.push_back(placed);
          });
        }
      }
      batch.clear();
      order.ends.push_back(order.numbers.size());
    };
    std::size_t vectors = 0;
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
      if (!is_result(i)) {
        continue;
      }
      with_inputs(static_cast<int>(i), is_chosen, [&](int number) {
        is_chosen[at(number)] = true;
        batch.push_back(number);
      });
      vectors += is_vector(static_cast<int>(i)) || instructions_[i]->mayWriteToMemory() ? 1 : 0;
      if (vectors == results) {
        end_batch();
        vectors = 0;
      }
    }
    end_batch();
    return order;
  }

  void apply(const Order& order) {
    std::size_t batch = 0;
    for (std::size_t i = 0; i < order.numbers.size(); ++i) {
      instructions_[at(order.numbers[i])]->moveBefore(block_.getTerminator());
      if (batch < order.ends.size() && order.ends[batch] == i + 1) {
        ++batch;
        end_scheduling_region();
      }
    }
  }

  /// LLVM's scheduler of machine instructions goes from label to label; this becomes one.
  void end_scheduling_region() {
    llvm::LLVMContext& context = block_.getContext();
    auto* name = llvm::MDNode::get(context, llvm::MDString::get(context, "pewter.batch"));
    llvm::CallInst::Create(
        llvm::Intrinsic::getDeclaration(block_.getModule(), llvm::Intrinsic::codeview_annotation),
        {llvm::MetadataAsValue::get(context, name)}, "", block_.getTerminator()->getIterator());
  }

  void place(int first) {
    std::vector<int> next{first};
    const auto consider = [&](int number) {
      if (!done_[at(number)] && waiting_for_[at(number)] == 0 && frees_a_register(number)) {
        next.push_back(number);
      }
    };
    while (!next.empty()) {
      const int number = next.back();
      next.pop_back();
      if (done_[at(number)]) {
        continue;
      }
      done_[at(number)] = true;
      order_.push_back(number);
      for (const int user : followers_[at(number)]) {
        --waiting_for_[at(user)];
      }
      for (const int input : inputs_[at(number)]) {
        if (--left_[at(input)] == 1) {
          // Whoever is the last to use it may now be worth placing.
          llvm::for_each(users_[at(input)], consider);
        }
      }
      for (auto user = followers_[at(number)].rbegin(); user != followers_[at(number)].rend();
           ++user) {
        consider(*user);
      }
    }
  }

  /// Whether fewer vectors live after an instruction than before it, in whatever order.
  bool joins_values(int number) const {
    int freed = is_vector(number) ? -1 : 0;
    for (const llvm::Value* operand : instructions_[at(number)]->operands()) {
      freed += operand->getType()->isVectorTy() && operand->hasOneUse() ? 1 : 0;
    }
    return freed > 0;
  }

  /// Whether fewer vectors live after an instruction than before it.
  bool frees_a_register(int number) const {
    const llvm::Instruction& instruction = *instructions_[at(number)];
    int freed = is_vector(number) ? -1 : 0;
    for (const llvm::Value* operand : instruction.operands()) {
      const auto* phi = llvm::dyn_cast<llvm::PHINode>(operand);
      const int input = number_of(operand);
      const bool dies = phi != nullptr
                            ? phi->getParent() == &block_ && phi->hasOneUse()
                            : input >= 0 && left_[at(input)] == 1 && !is_kept_[at(input)];
      freed += dies && operand->getType()->isVectorTy() ? 1 : 0;
    }
    return freed > 0 || instruction.getType()->isVoidTy();
  }

  llvm::BasicBlock& block_;
  std::size_t free_registers_;
  std::vector<llvm::Instruction*> instructions_;
  llvm::DenseMap<const llvm::Instruction*, int> numbers_;
  /// What each instruction takes from others of the block, and who takes its result.
  std::vector<llvm::SmallVector<int, 4>> inputs_;
  std::vector<llvm::SmallVector<int, 4>> users_;
  /// Whether the result is used elsewhere.
  std::vector<bool> is_kept_;
  /// The inputs, and accesses that have to come before.
  std::vector<llvm::SmallVector<int, 4>> waits_;
  std::vector<llvm::SmallVector<int, 4>> followers_;
  std::vector<std::size_t> waiting_for_;
  /// Users that are not placed yet.
  std::vector<std::size_t> left_;
  std::vector<bool> done_;
  std::vector<int> order_;
};

}  // namespace

void order_instructions(llvm::Function& program, unsigned registers) {
  for (llvm::BasicBlock& block : program) {
    if (!program.hasFnAttribute(kOrdered)) {
      BlockOrder(block, registers - kTakenRegisters).improve();
    }
    // They have kept accesses in order where threads meet, and do nothing else.
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (intrinsic != nullptr && intrinsic->getIntrinsicID() == llvm::Intrinsic::sideeffect) {
        instruction.eraseFromParent();
      }
    }
  }
}

}  // namespace pewter::compiler::spmd
