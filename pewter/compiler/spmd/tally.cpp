#include "pewter/compiler/spmd/tally.h"

#include <deque>

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/raw_ostream.h"

#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/emitter.h"

namespace pewter::compiler::spmd {
namespace {

constexpr const char* kThread = "the thread";

std::string with_place(const char* text, const llvm::Instruction& instruction) {
  const auto position = position_of(instruction);
  return position
             ? text + (" at " + llvm::Twine(position->line) + ":" + llvm::Twine(position->column))
                          .str()
             : text;
}

/// What is new to lanes in an instruction; empty when it only passes on what its operands are.
std::string own_difference(const llvm::Instruction& instruction) {
  using Kind = DeviceCall::Kind;
  if (llvm::isa<llvm::LoadInst>(instruction)) {
    return with_place("what is loaded", instruction);
  }
  if (instruction.isAtomic()) {
    return with_place("the result of the atomic", instruction);
  }
  const DeviceCall call = device_call(instruction);
  if (call.kind == Kind::Lane || call.kind == Kind::ThreadValue) {
    return kThread;
  }
  if (call.is_cross_lane()) {
    return with_place("what other threads have", instruction);
  }
  return call.kind == Kind::Alone ? "what each thread computes alone" : "";
}

const char* kind_of(const llvm::Instruction& instruction) {
  if (instruction.isTerminator()) {
    return "branch";
  }
  if (llvm::isa<llvm::AtomicRMWInst>(instruction) ||
      llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) {
    return "atomic";
  }
  return llvm::isa<llvm::StoreInst>(instruction) ? "store" : "load";
}

/// Bytes from each lane's place to the next one's, when that is known and always the same.
std::optional<std::int64_t> stride_of(const Shape& shape) {
  if (shape.kind != Shape::Kind::Affine || shape.terms.size() != 1 || shape.has_factors()) {
    return std::nullopt;
  }
  const std::vector<std::int64_t>& lanes = shape.terms[0].lanes;
  const std::int64_t stride = lanes[1] - lanes[0];
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    if (lanes[i] - lanes[i - 1] != stride) {
      return std::nullopt;
    }
  }
  return stride;
}

std::string why_strided(const Shape& shape) {
  const auto stride = stride_of(shape);
  return stride ? std::to_string(*stride) + " bytes from thread to thread" : "in a fixed pattern";
}

std::string why_apart(const llvm::Instruction& access,
                      const llvm::Value& pointer,
                      const Analyses& analyses) {
  const Shape& shape = analyses.shapes.of(&pointer);
  if (shape.kind == Shape::Kind::Uniform) {
    return "at one address, in turn";
  }
  if (access.isAtomic() && llvm::getLoadStorePointerOperand(&access) != nullptr) {
    return "atomic";
  }
  if (shape.has_factors()) {
    return "by a distance that is known only when it runs";
  }
  const std::string cause = cause_of_difference(pointer, analyses.uniformity);
  return cause == kThread ? "by no fixed distance from thread to thread" : "depends on " + cause;
}

}  // namespace

std::optional<Position> position_of(const llvm::Instruction& instruction) {
  const llvm::DILocation* place = instruction.getDebugLoc().get();
  if (place == nullptr) {
    return std::nullopt;
  }
  const llvm::DILocation* outermost = place;
  while (outermost->getInlinedAt() != nullptr) {
    outermost = outermost->getInlinedAt();
  }
  while (place != outermost && place->getFilename() != outermost->getFilename()) {
    place = place->getInlinedAt();
  }
  // What optimisation has joined from several lines has none.
  if (place->getLine() == 0) {
    return std::nullopt;
  }
  return Position{place->getFilename().str(), place->getLine(), place->getColumn()};
}

std::string refusal(const std::string& reason, const llvm::Instruction& instruction) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (const auto position = position_of(instruction)) {
    stream << position->file << ":" << position->line << ":" << position->column << ": " << reason;
  } else {
    stream << reason << ":" << instruction;
  }
  return text;
}

std::string cause_of_difference(const llvm::Value& value, const Uniformity& uniformity) {
  llvm::SmallPtrSet<const llvm::Value*, 16> seen;
  std::deque<const llvm::Value*> waiting{&value};
  for (; !waiting.empty(); waiting.pop_front()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(waiting.front());
    if (instruction == nullptr || uniformity.is_uniform(instruction) ||
        !seen.insert(instruction).second) {
      continue;
    }
    if (std::string found = own_difference(*instruction); !found.empty()) {
      return found;
    }
    waiting.insert(waiting.end(), instruction->op_begin(), instruction->op_end());
  }
  return "the way that threads came";
}

void Emitter::count(Form form, llvm::ArrayRef<const llvm::Instruction*> made, const char* manner) {
  ++tally_.counts[static_cast<std::size_t>(form)];
  for (const llvm::Instruction* instruction : made) {
    if (const auto position = position_of(*instruction)) {
      tally_.places[{*position, kind_of(*instruction)}].insert(
          manner != nullptr ? manner : describe(form, *instruction));
    }
  }
}

std::string Emitter::describe(Form form, const llvm::Instruction& instruction) const {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  if (pointer == nullptr) {
    pointer = instruction.getOperand(0);
  }
  switch (form) {
    case Form::UniformBranch:
      return "uniform";
    case Form::DivergentBranch:
      return "divergent: depends on " + cause_of_difference(*pointer, analyses_.uniformity);
    case Form::UniformAccess:
      return "uniform: one address for all threads";
    case Form::ConsecutiveAccess:
      return "consecutive";
    case Form::StridedAccess:
      return "strided: " + why_strided(analyses_.shapes.of(pointer));
    case Form::Gather:
      return "gathered: " + why_apart(instruction, *pointer, analyses_);
    case Form::CombinedAtomic:
      return "combined: one address for all threads";
    case Form::LaneAtomic:
      return "thread by thread: " + why_apart(instruction, *pointer, analyses_);
  }
  return {};
}

}  // namespace pewter::compiler::spmd
