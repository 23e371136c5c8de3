#include "pewter/compiler/spmd/lane_costs.h"

#include <algorithm>

#include "llvm/IR/Instructions.h"

#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::spmd {
namespace {

// Places that are counted, at most, and the part of the loop that one of them is, at least, unless
// it is run more often than the rest.
constexpr std::size_t kMaxPlaces = 8;
constexpr unsigned kLeastPart = 16;

/// The first block of the same loop all of whose lanes come to `block`.
llvm::BasicBlock* leader(const llvm::Loop* region,
                         llvm::BasicBlock* block,
                         const ControlFlow& control_flow) {
  llvm::BasicBlock* first = block;
  for (llvm::BasicBlock* node = block; node != region->getHeader();) {
    node = control_flow.parent(region, node);
    if (!control_flow.always_reaches(region, node, block)) {
      break;
    }
    if (control_flow.loop_at(region, node) == nullptr) {
      first = node;
    }
  }
  return first;
}

/// Whether an instruction accesses another place of private memory in each lane.
bool accesses_own_place(const llvm::Instruction& instruction, const LaneFacts& facts) {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  return pointer != nullptr && !facts.shapes.has_scalar(pointer) && is_private_memory(pointer);
}

}  // namespace

void add_costs(const llvm::Instruction& instruction, const LaneFacts& facts, LaneCosts& costs) {
  constexpr unsigned kDivision = 8;
  constexpr unsigned kAtomic = 16;
  if (llvm::isa<llvm::PHINode>(instruction) || instruction.isDebugOrPseudoInst()) {
    return;
  }
  const unsigned chunks = facts.lanes.chunks();
  const unsigned own = instruction.isAtomic() ? kAtomic : instruction.isIntDivRem() ? kDivision : 1;
  costs.of_one += own;
  if (instruction.isTerminator()) {
    const bool diverges = facts.uniformity.branches_diverge(*instruction.getParent());
    costs.of_all += diverges ? 2 * chunks : 1;
    return;
  }
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  const bool is_once =
      (facts.uniformity.is_uniform(&instruction) && !instruction.mayWriteToMemory()) ||
      (pointer == nullptr && facts.shapes.is_affine(&instruction) &&
       !facts.shapes.of(&instruction).needs_vector());
  const bool is_by_lanes = own > 1 || (pointer != nullptr && !facts.shapes.has_scalar(pointer));
  costs.of_all += own * (is_once ? 1 : is_by_lanes ? facts.lanes.width : chunks);
}

std::vector<WorkPlace> work_places(const llvm::Loop& loop, const LaneFacts& facts) {
  std::vector<WorkPlace> places;
  LaneCosts whole;
  bool differ = false;
  for (llvm::BasicBlock* block : loop.blocks()) {
    LaneCosts costs;
    for (const llvm::Instruction& instruction : *block) {
      if (accesses_own_place(instruction, facts)) {
        return {};
      }
      add_costs(instruction, facts, costs);
    }
    whole.of_one += costs.of_one;
    whole.of_all += costs.of_all;
    llvm::BasicBlock* first =
        leader(facts.control_flow.loops().getLoopFor(block), block, facts.control_flow);
    differ = differ || facts.masks.of(first).vector != facts.masks.of(loop.getHeader()).vector;
    auto place = std::find_if(places.begin(), places.end(),
                              [&](const WorkPlace& other) { return other.block == first; });
    if (place == places.end()) {
      place = places.insert(places.end(), {first, {}});
    }
    place->costs.of_one += costs.of_one;
    place->costs.of_all += costs.of_all;
  }
  if (!differ) {
    return {};
  }
  std::erase_if(places, [&](const WorkPlace& place) {
    return facts.control_flow.loops().getLoopFor(place.block) == &loop &&
           place.costs.of_all * kLeastPart < whole.of_all;
  });
  std::stable_sort(places.begin(), places.end(), [](const WorkPlace& a, const WorkPlace& b) {
    return a.costs.of_all > b.costs.of_all;
  });
  places.resize(std::min(places.size(), kMaxPlaces), WorkPlace{nullptr, {}});
  return places;
}

}  // namespace pewter::compiler::spmd
