#include "llvm/Analysis/VectorUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/lane_addresses.h"
#include "pewter/compiler/spmd/row_sums.h"

namespace pewter::compiler::spmd {
namespace {

/// Rows of several lanes in one vector, each as `length` neighbouring partial sums.
struct Partial {
  llvm::Value* sums = nullptr;
  std::vector<int> lanes;
};

/// A lane's part of one of two vectors.
struct Segment {
  unsigned vector = 0;
  unsigned number = 0;
};

/// The order of the segments of two vectors in the one that they become, such that each shuffle is
/// an instruction of its own.
std::vector<Segment> joined_order(unsigned segments, unsigned length) {
  std::vector<Segment> order;
  // Segments of a word pair stay in their quarter of the register, halves of registers do not.
  const unsigned together = length > 4 ? segments : length > 2 ? 1 : 2;
  for (unsigned first = 0; first < segments; first += together) {
    for (const unsigned vector : {0U, 1U}) {
      for (unsigned i = first; i < first + together; ++i) {
        order.push_back({vector, i});
      }
    }
  }
  return order;
}

}  // namespace

/// The sums of the elements of each row, one for each lane: halves are added until one element is
/// left, as the function of the row does it. Two vectors of rows become one at each step.
llvm::Value* Emitter::fold_rows(std::vector<llvm::Value*> rows) {
  const auto length_of = [](const llvm::Value* row) {
    return llvm::cast<llvm::FixedVectorType>(row->getType())->getNumElements();
  };
  unsigned width = length_of(rows[0]);
  while (width > rows.size()) {
    width /= 2;
    for (llvm::Value*& row : rows) {
      row = builder_.CreateFAdd(
          builder_.CreateShuffleVector(row, llvm::createSequentialMask(0, width, 0)),
          builder_.CreateShuffleVector(row, llvm::createSequentialMask(width, width, 0)));
    }
  }
  llvm::SmallVector<llvm::Value*, 2> done;
  for (std::size_t first = 0; first < rows.size(); first += width) {
    std::vector<Partial> partials;
    for (unsigned lane = 0; lane < width; ++lane) {
      partials.push_back({rows[first + lane], {static_cast<int>(lane)}});
    }
    for (unsigned length = width; length > 1; length /= 2) {
      std::vector<Partial> joined;
      const std::vector<Segment> order = joined_order(width / length, length);
      for (std::size_t i = 0; i < partials.size(); i += 2) {
        llvm::SmallVector<int, 16> low;
        llvm::SmallVector<int, 16> high;
        Partial next;
        for (const Segment& segment : order) {
          const unsigned start = segment.vector * width + segment.number * length;
          for (unsigned k = start; k < start + length / 2; ++k) {
            low.push_back(static_cast<int>(k));
            high.push_back(static_cast<int>(k + length / 2));
          }
          next.lanes.push_back(partials[i + segment.vector].lanes[segment.number]);
        }
        llvm::Value* a = partials[i].sums;
        llvm::Value* b = partials[i + 1].sums;
        next.sums = builder_.CreateFAdd(builder_.CreateShuffleVector(a, b, low),
                                        builder_.CreateShuffleVector(a, b, high));
        joined.push_back(std::move(next));
      }
      partials = std::move(joined);
    }
    llvm::SmallVector<int, 16> order(width);
    for (unsigned place = 0; place < width; ++place) {
      order[static_cast<std::size_t>(partials[0].lanes[place])] = static_cast<int>(place);
    }
    done.push_back(builder_.CreateShuffleVector(partials[0].sums, order));
  }
  return llvm::concatenateVectors(builder_, done);
}

// Lane after lane on whole rows, then the rows of a chunk are added up together.
void Emitter::emit_row_sum(llvm::CallInst& call) {
  if (analyses_.shapes.is_uniform(&call)) {
    emit_scalar(call);
    return;
  }
  llvm::Function& function = *call.getCalledFunction();
  Chunks result;
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    std::vector<std::optional<LaneAddresses>> addresses;
    for (const llvm::Value* argument : call.args()) {
      const bool is_own =
          argument->getType()->isPointerTy() && !analyses_.shapes.is_uniform(argument);
      addresses.push_back(
          is_own ? std::optional(LaneAddresses(
                       builder_, lane_pointers(argument, chunk, pattern(argument, chunk, 1))))
                 : std::nullopt);
      if (is_own) {
        count(Form::StridedAccess, &call, "strided: a row for each thread, loaded whole");
      }
    }
    llvm::Value* lanes = mask_.empty() ? nullptr : active(chunk);
    std::vector<llvm::Value*> rows;
    for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
      ValueMap values;
      for (llvm::Argument& parameter : function.args()) {
        const unsigned i = parameter.getArgNo();
        const llvm::Value* argument = call.getArgOperand(i);
        values[&parameter] = addresses[i] ? addresses[i]->at(lane)
                             : analyses_.shapes.is_uniform(argument)
                                 ? scalar(argument)
                                 : builder_.CreateExtractElement(vector(argument)[chunk], lane);
      }
      rows.push_back(
          emit_row(call, chunk, values,
                   lanes != nullptr ? builder_.CreateExtractElement(lanes, lane) : nullptr));
    }
    result.push_back(fold_rows(std::move(rows)));
  }
  define_vector(&call, std::move(result));
}

/// The row of one lane, which reads spare memory if it is not active.
llvm::Value* Emitter::emit_row(llvm::CallInst& call,
                               unsigned chunk,
                               ValueMap& values,
                               llvm::Value* is_active) {
  for (llvm::Instruction& instruction : call.getCalledFunction()->getEntryBlock()) {
    llvm::Instruction* copy = instruction.clone();
    llvm::RemapInstruction(copy, values,
                           llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(copy)) {
      const llvm::Value* place = instruction.getOperand(0)->stripInBoundsOffsets();
      while (const auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(place)) {
        place = step->getPointerOperand();
      }
      const llvm::Value* argument =
          call.getArgOperand(llvm::cast<llvm::Argument>(place)->getArgNo());
      if (is_active != nullptr) {
        load->setOperand(
            0, builder_.CreateSelect(is_active, load->getPointerOperand(), spare_memory()));
        load->setAlignment(std::min(load->getAlign(), llvm::Align(64)));
      }
      set_accessor(argument, chunk);
    }
    builder_.Insert(copy);
    clear_accessor();
    values[&instruction] = copy;
    if (instruction.hasMetadata(kSummedRow)) {
      return copy;
    }
  }
  llvm_unreachable("a row function has a row");
}

}  // namespace pewter::compiler::spmd
