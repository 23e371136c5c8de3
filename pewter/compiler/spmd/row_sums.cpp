#include "pewter/compiler/spmd/row_sums.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"

#include "pewter/compiler/spmd/address.h"
#include "pewter/compiler/spmd/fused_products.h"
#include "pewter/compiler/spmd/shape_analysis.h"

namespace pewter::compiler::spmd {
namespace {

constexpr const char* kRowSumPrefix = "pewter.row_sum";
constexpr std::size_t kLongRow = 16;
constexpr std::size_t kShortRow = 8;
// Of a row: shorter ones cost less to bring into the lanes' places than their sums to add up.
constexpr std::int64_t kLeastBytes = 32;
// Operations of one addend.
constexpr std::size_t kMaxOperations = 24;

/// What one addend of a sum is made of: addends with the same `form` differ in nothing but the
/// places that they load from.
struct Addend {
  using Step = std::tuple<unsigned, const void*, const void*>;

  llvm::Value* value = nullptr;
  std::vector<Step> form;
  std::vector<llvm::LoadInst*> loads;
  std::vector<Address> places;
};

/// Neighbouring addends: element i of each of their moving loads is that of addend i.
struct RowOfAddends {
  std::vector<const Addend*> addends;
  std::vector<bool> moves;
};

bool may_reassociate(const llvm::Value* value) {
  const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(value);
  return sum != nullptr && sum->getOpcode() == llvm::Instruction::FAdd &&
         sum->getType()->isFloatTy() && sum->hasAllowReassoc();
}

bool is_fused_sum(const llvm::Instruction& instruction) {
  return is_fused_product(&instruction) && instruction.getType()->isFloatTy() &&
         instruction.hasAllowReassoc();
}

/// Whether there is a sum long enough for a row, before anything is analysed for it.
bool may_have_rows(const llvm::Function& function) {
  return llvm::any_of(function, [](const llvm::BasicBlock& block) {
    return llvm::count_if(block, [](const llvm::Instruction& instruction) {
             return may_reassociate(&instruction) || is_fused_sum(instruction);
           }) >= static_cast<std::ptrdiff_t>(kShortRow) - 1;
  });
}

bool is_part_of_sum(const llvm::Value* value, const llvm::BasicBlock* block) {
  return may_reassociate(value) && value->hasOneUse() &&
         llvm::cast<llvm::Instruction>(value)->getParent() == block;
}

std::int64_t bytes_of(const llvm::LoadInst& load) {
  return static_cast<std::int64_t>(load.getDataLayout().getTypeStoreSize(load.getType()));
}

/// Sums of one block.
class RowSums {
 public:
  RowSums(llvm::BasicBlock& block, llvm::ScalarEvolution& evolution, const ShapeAnalysis& shapes)
      : block_(block), evolution_(evolution), shapes_(shapes) {}

  /// Whether there are rows.
  bool run() {
    std::vector<llvm::BinaryOperator*> sums;
    const llvm::Instruction* last_write = nullptr;
    for (llvm::Instruction& instruction : block_) {
      if (instruction.mayWriteToMemory()) {
        last_write = &instruction;
      }
      if (may_reassociate(&instruction) && !is_inner(instruction)) {
        sums.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
        last_writes_[sums.back()] = last_write;
      }
    }
    for (llvm::BinaryOperator* sum : sums) {
      extract(*sum);
    }
    const bool has_rows = !replaced_.empty();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(replaced_);
    return has_rows;
  }

 private:
  bool is_inner(const llvm::Instruction& sum) const {
    return is_part_of_sum(&sum, &block_) && may_reassociate(*sum.user_begin()) &&
           llvm::cast<llvm::Instruction>(*sum.user_begin())->getParent() == &block_;
  }

  void extract(llvm::BinaryOperator& sum) {
    std::vector<llvm::Value*> waiting{sum.getOperand(0), sum.getOperand(1)};
    std::vector<Addend> addends;
    while (!waiting.empty()) {
      llvm::Value* value = waiting.back();
      waiting.pop_back();
      if (is_part_of_sum(value, &block_)) {
        const auto* part = llvm::cast<llvm::BinaryOperator>(value);
        waiting.insert(waiting.end(), {part->getOperand(0), part->getOperand(1)});
        continue;
      }
      addends.emplace_back().value = value;
    }
    if (addends.size() < kShortRow) {
      return;
    }
    first_free_ = last_writes_[&sum];
    for (Addend& addend : addends) {
      describe(addend.value, addend);
    }
    for (const std::size_t length : {kLongRow, kShortRow}) {
      const std::vector<RowOfAddends> rows = find_rows(addends, length);
      if (!rows.empty()) {
        replace(sum, addends, rows, length);
        return;
      }
    }
  }

  /// Whether a load can be done where the sum is.
  bool can_wait(const llvm::LoadInst& load) const {
    return load.getParent() == &block_ && load.isSimple() && !load.getType()->isVectorTy() &&
           !load.getType()->isPointerTy() && !load.getType()->isIntegerTy(1) &&
           (first_free_ == nullptr || first_free_->comesBefore(&load));
  }

  static bool is_plain_operation(const llvm::Instruction& instruction) {
    if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
      return !cast->getSrcTy()->isVectorTy() && !cast->getSrcTy()->isPointerTy() &&
             !cast->getDestTy()->isVectorTy() && !cast->getDestTy()->isPointerTy();
    }
    return (instruction.isBinaryOp() || instruction.isUnaryOp()) &&
           !instruction.getType()->isVectorTy() && !instruction.isIntDivRem();
  }

  /// The operation behind a value, if rows of it can be computed where the sum is.
  llvm::Instruction* operation(llvm::Value* value) const {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    return instruction != nullptr && instruction->getParent() == &block_ &&
                   is_plain_operation(*instruction)
               ? instruction
               : nullptr;
  }

  void describe(llvm::Value* value, Addend& addend) const {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
    if (load != nullptr && can_wait(*load)) {
      const Address place = split_address(evolution_, load->getPointerOperand());
      addend.form.emplace_back(load->getOpcode(), load->getType(), place.base);
      addend.loads.push_back(load);
      addend.places.push_back(place);
      return;
    }
    llvm::Instruction* made = operation(value);
    if (made == nullptr || addend.form.size() >= kMaxOperations) {
      addend.form.emplace_back(0, value, nullptr);
      return;
    }
    addend.form.emplace_back(made->getOpcode(), made->getType(), nullptr);
    for (llvm::Value* operand : made->operands()) {
      describe(operand, addend);
    }
  }

  std::vector<RowOfAddends> find_rows(const std::vector<Addend>& addends,
                                      std::size_t length) const {
    std::map<std::vector<Addend::Step>, std::vector<const Addend*>> forms;
    for (const Addend& addend : addends) {
      if (!addend.loads.empty()) {
        forms[addend.form].push_back(&addend);
      }
    }
    std::vector<RowOfAddends> rows;
    for (auto& [form, alike] : forms) {
      std::stable_sort(alike.begin(), alike.end(), [](const Addend* a, const Addend* b) {
        return std::lexicographical_compare(
            a->places.begin(), a->places.end(), b->places.begin(), b->places.end(),
            [](const Address& x, const Address& y) { return x.offset < y.offset; });
      });
      RowOfAddends row;
      for (const Addend* addend : alike) {
        if (!row.addends.empty() && !follows(row, *addend)) {
          row = {};
        }
        row.addends.push_back(addend);
        if (row.addends.size() == length) {
          if (is_worth_it(row)) {
            rows.push_back(row);
          }
          row = {};
        }
      }
    }
    // In the order of the text, whatever the addresses of the forms are.
    std::stable_sort(rows.begin(), rows.end(), [](const RowOfAddends& a, const RowOfAddends& b) {
      return a.addends[0] < b.addends[0];
    });
    return rows;
  }

  static bool follows(RowOfAddends& row, const Addend& next) {
    std::vector<bool> moves;
    const Addend& last = *row.addends.back();
    for (std::size_t i = 0; i < next.loads.size(); ++i) {
      const std::int64_t distance = next.places[i].offset - last.places[i].offset;
      if (distance != 0 && distance != bytes_of(*next.loads[i])) {
        return false;
      }
      moves.push_back(distance != 0);
    }
    if (row.addends.size() > 1 && moves != row.moves) {
      return false;
    }
    row.moves = std::move(moves);
    return llvm::is_contained(row.moves, true);
  }

  /// Whether lanes have rows of their own here that are worth it, and none that overlap with those
  /// of others.
  bool is_worth_it(const RowOfAddends& row) const {
    std::int64_t own_bytes = 0;
    for (std::size_t i = 0; i < row.moves.size(); ++i) {
      if (!row.moves[i]) {
        continue;
      }
      const llvm::LoadInst& load = *row.addends[0]->loads[i];
      const Shape& shape = shapes_.of(load.getPointerOperand());
      if (shape.kind == Shape::Kind::Uniform) {
        continue;
      }
      const auto row_bytes = bytes_of(load) * static_cast<std::int64_t>(row.addends.size());
      own_bytes += row_bytes;
      if (shape.kind != Shape::Kind::Affine || shape.has_factors()) {
        continue;
      }
      for (const Term& term : shape.terms) {
        if (term.lanes.size() > 1 && std::abs(term.lanes[1] - term.lanes[0]) < row_bytes) {
          return false;
        }
      }
    }
    return own_bytes >= kLeastBytes;
  }

  void replace(llvm::BinaryOperator& sum,
               const std::vector<Addend>& addends,
               const std::vector<RowOfAddends>& rows,
               std::size_t length);

  llvm::BasicBlock& block_;
  llvm::ScalarEvolution& evolution_;
  const ShapeAnalysis& shapes_;
  std::map<const llvm::Instruction*, const llvm::Instruction*> last_writes_;
  llvm::SmallVector<llvm::WeakTrackingVH, 4> replaced_;
  /// What writes to memory last before the sum.
  const llvm::Instruction* first_free_ = nullptr;
};

/// Writes the function of a sum.
class RowFunction {
 public:
  RowFunction(llvm::Function& thread, std::size_t length, llvm::FastMathFlags flags)
      : length_(static_cast<unsigned>(length)), body_(thread.getContext()) {
    llvm::Module& module = *thread.getParent();
    // Parameters are found while the body is written, which therefore starts in a draft.
    draft_ = llvm::BasicBlock::Create(thread.getContext(), "entry");
    body_.SetInsertPoint(draft_);
    body_.setFastMathFlags(flags);
    module_ = &module;
  }

  llvm::IRBuilder<>& body() { return body_; }

  /// The vector in which each element is `value`, one that the thread has at the call.
  llvm::Value* same(llvm::Value* value) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
      return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(length_), constant);
    }
    llvm::Value*& known = splats_[value];
    if (known == nullptr) {
      known = body_.CreateVectorSplat(length_, parameter(value));
    }
    return known;
  }

  /// Elements from the place of `first` on.
  llvm::Value* load(llvm::LoadInst& first, const Address& place) {
    llvm::Value*& known = loads_[{place.base, place.offset, first.getType()}];
    if (known == nullptr) {
      auto& [pointer, offset] = anchors_[place.base];
      if (pointer == nullptr) {
        pointer = first.getPointerOperand();
        offset = place.offset;
      }
      llvm::Value* address = body_.CreateConstGEP1_64(
          body_.getInt8Ty(), parameter(pointer), static_cast<std::uint64_t>(place.offset - offset));
      known = body_.CreateAlignedLoad(vector_of(first.getType()), address, first.getAlign());
    }
    return known;
  }

  llvm::FixedVectorType* vector_of(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, length_);
  }

  /// Ends the function with the sum of a row's elements, and calls it.
  llvm::CallInst* call(llvm::Value* row, llvm::Instruction& before) {
    llvm::cast<llvm::Instruction>(row)->setMetadata(kSummedRow,
                                                    llvm::MDNode::get(body_.getContext(), {}));
    for (unsigned count = length_ / 2; count > 0; count /= 2) {
      row = body_.CreateFAdd(
          body_.CreateShuffleVector(row, llvm::createSequentialMask(0, count, 0)),
          body_.CreateShuffleVector(row, llvm::createSequentialMask(count, count, 0)));
    }
    body_.CreateRet(body_.CreateExtractElement(row, std::uint64_t{0}));
    llvm::SmallVector<llvm::Type*, 8> types;
    llvm::SmallVector<llvm::Value*, 8> arguments;
    for (auto& [value, stand_in] : parameters_) {
      types.push_back(value->getType());
      arguments.push_back(value);
    }
    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(body_.getFloatTy(), types, false),
                               llvm::GlobalValue::InternalLinkage, kRowSumPrefix, *module_);
    function->addFnAttrs(llvm::AttrBuilder(module_->getContext(),
                                           before.getFunction()->getAttributes().getFnAttrs()));
    function->removeFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::AlwaysInline);
    function->addFnAttr(llvm::Attribute::WillReturn);
    function->setDoesNotThrow();
    function->setOnlyReadsMemory();
    draft_->insertInto(function);
    fuse_products(*function);
    drop_freedoms(*function);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      llvm::Instruction* stand_in = parameters_[i].second;
      stand_in->replaceAllUsesWith(function->getArg(static_cast<unsigned>(i)));
      stand_in->eraseFromParent();
    }
    llvm::IRBuilder<> builder(&before);
    return builder.CreateCall(function, arguments);
  }

 private:
  llvm::Value* parameter(llvm::Value* value) {
    for (const auto& [known, stand_in] : parameters_) {
      if (known == value) {
        return stand_in;
      }
    }
    auto* stand_in = new llvm::FreezeInst(llvm::PoisonValue::get(value->getType()));
    stand_in->insertInto(draft_, draft_->begin());
    parameters_.emplace_back(value, stand_in);
    return stand_in;
  }

  const unsigned length_;
  llvm::IRBuilder<> body_;
  llvm::Module* module_ = nullptr;
  llvm::BasicBlock* draft_ = nullptr;
  std::vector<std::pair<llvm::Value*, llvm::Instruction*>> parameters_;
  std::map<llvm::Value*, llvm::Value*> splats_;
  std::map<std::tuple<const llvm::SCEV*, std::int64_t, llvm::Type*>, llvm::Value*> loads_;
  std::map<const llvm::SCEV*, std::pair<llvm::Value*, std::int64_t>> anchors_;
};

void RowSums::replace(llvm::BinaryOperator& sum,
                      const std::vector<Addend>& addends,
                      const std::vector<RowOfAddends>& rows,
                      std::size_t length) {
  const llvm::FastMathFlags flags = sum.getFastMathFlags();
  RowFunction function(*sum.getFunction(), length, flags);
  llvm::Value* total = nullptr;
  for (const RowOfAddends& row : rows) {
    std::size_t next_load = 0;
    std::size_t next_step = 0;
    const auto write = [&](auto& self, llvm::Value* value) -> llvm::Value* {
      const auto& [opcode, type, base] = row.addends[0]->form[next_step++];
      if (opcode == llvm::Instruction::Load) {
        const std::size_t i = next_load++;
        llvm::LoadInst& load = *row.addends[0]->loads[i];
        return row.moves[i] ? function.load(load, row.addends[0]->places[i]) : function.same(&load);
      }
      if (opcode == 0) {
        return function.same(value);
      }
      auto* made = llvm::cast<llvm::Instruction>(value);
      llvm::SmallVector<llvm::Value*, 2> operands;
      for (llvm::Value* operand : made->operands()) {
        operands.push_back(self(self, operand));
      }
      llvm::Value* result = nullptr;
      if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(made)) {
        result = function.body().CreateCast(cast->getOpcode(), operands[0],
                                            function.vector_of(cast->getDestTy()));
      } else if (made->isUnaryOp()) {
        result = function.body().CreateUnOp(
            static_cast<llvm::Instruction::UnaryOps>(made->getOpcode()), operands[0]);
      } else {
        result = function.body().CreateBinOp(
            static_cast<llvm::Instruction::BinaryOps>(made->getOpcode()), operands[0], operands[1]);
      }
      if (auto* written = llvm::dyn_cast<llvm::Instruction>(result)) {
        // What one addend promises, the others of its row need not.
        written->copyIRFlags(made);
        written->dropPoisonGeneratingFlags();
      }
      return result;
    };
    llvm::Value* part = write(write, row.addends[0]->value);
    total = total == nullptr ? part : function.body().CreateFAdd(total, part);
  }
  llvm::IRBuilder<> builder(&sum);
  builder.setFastMathFlags(flags);
  llvm::Value* result = function.call(total, sum);
  for (const Addend& addend : addends) {
    const bool is_in_row = llvm::any_of(
        rows, [&](const RowOfAddends& row) { return llvm::is_contained(row.addends, &addend); });
    if (!is_in_row) {
      result = builder.CreateFAdd(result, addend.value);
    }
  }
  sum.replaceAllUsesWith(result);
  replaced_.emplace_back(&sum);
}

}  // namespace

bool is_row_sum(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee != nullptr && callee->getName().starts_with(kRowSumPrefix);
}

bool extract_row_sums(llvm::Function& thread,
                      llvm::FunctionAnalysisManager& analyses,
                      unsigned width) {
  if (!may_have_rows(thread)) {
    drop_freedoms(thread);
    return false;
  }
  split_products(thread);
  analyses.invalidate(thread, llvm::PreservedAnalyses::none());
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(thread);
  const Uniformity uniformity(thread, width);
  const ControlFlow control_flow(thread, uniformity);
  const ShapeAnalysis shapes(thread, uniformity, control_flow, width);
  bool has_rows = false;
  for (llvm::BasicBlock& block : thread) {
    has_rows |= RowSums(block, evolution, shapes).run();
  }
  fuse_products(thread);
  drop_freedoms(thread);
  return has_rows;
}

}  // namespace pewter::compiler::spmd
