#pragma once

#include <vector>

#include "pewter/compiler/spmd/control_flow.h"
#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/mask_plan.h"
#include "pewter/compiler/spmd/shape_analysis.h"

namespace pewter::compiler::spmd {

/// How a thread function goes about its lanes. Good as long as the function is not changed.
struct LaneFacts {
  LaneFacts(llvm::Function& function, Lanes program_lanes)
      : lanes(program_lanes),
        uniformity(function, lanes.width),
        control_flow(function, uniformity),
        shapes(function, uniformity, control_flow, lanes.width),
        masks(control_flow, uniformity) {}

  bool runs_in_every_lane(const llvm::BasicBlock* block) const {
    return masks.of(block).vector == 0;
  }

  const Lanes lanes;
  const Uniformity uniformity;
  const ControlFlow control_flow;
  const ShapeAnalysis shapes;
  const MaskPlan masks;
};

/// About what instructions cost, for one thread and for all lanes of a program.
struct LaneCosts {
  unsigned of_one = 0;
  unsigned of_all = 0;
};

void add_costs(const llvm::Instruction& instruction, const LaneFacts& facts, LaneCosts& costs);

/// A place in a loop, and what is run with the same lanes as it.
struct WorkPlace {
  llvm::BasicBlock* block;
  LaneCosts costs;
};

/// Places that stand for most of what a loop costs; none where all that is run in it is run by the
/// lanes that are in it. Neither are there any where lanes sort or search private memory: what is
/// guessed wrong there costs threads alone more than counting can tell.
std::vector<WorkPlace> work_places(const llvm::Loop& loop, const LaneFacts& facts);

}  // namespace pewter::compiler::spmd
