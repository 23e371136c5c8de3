#include "pewter/compiler/spmd/lone_lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"

#include "pewter/compiler/spmd/lane_costs.h"
#include "pewter/compiler/spmd/lone_region.h"

namespace pewter::compiler::spmd {
namespace {

// Beyond these sizes, of one loop, of a switch and of all loops together, compiling takes too long
// for what is won.
constexpr unsigned kMaxLoopInstructions = 400;
constexpr unsigned kMaxSwitchInstructions = 1'500;
constexpr unsigned kMaxInstructions = 2'000;
// Lanes are counted at the first iteration and then once in so many.
constexpr unsigned kIterationsBetween = 4;
// A switch with so many loops keeps lanes that part in it busy for long.
constexpr unsigned kManyLoops = 4;

/// A loop whose lanes may run alone.
struct Candidate {
  LoneRegion region;
  /// Whether lanes leave it one by one; otherwise all that enter it stay to its end.
  bool is_divergent;
  /// The most lanes that run alone.
  unsigned few;
  /// Where the lanes are counted that run a part of the loop.
  std::vector<WorkPlace> places;
};

/// How many lanes may be left in a loop for them to be faster alone.
unsigned few_lanes(const llvm::Loop& loop, const LaneFacts& facts) {
  LaneCosts costs;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      // Of lanes that update one place until nobody came between, one succeeds at each iteration.
      if (llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) {
        return facts.lanes.width;
      }
      add_costs(instruction, facts, costs);
    }
  }
  // With their masks, vectors take about twice the steps of one thread. But lanes together wait for
  // memory once, and for no branch that was guessed wrong: when half of them are left they stay.
  const unsigned most = std::max(1U, facts.lanes.width / 2);
  return std::clamp(2 * costs.of_all / std::max(costs.of_one, 1U), 1U, most);
}

std::optional<Candidate> candidate(const llvm::Loop& loop, const LaneFacts& facts) {
  const bool is_divergent = facts.control_flow.is_divergent(&loop);
  auto places = work_places(loop, facts);
  if (!is_divergent && places.empty() && facts.runs_in_every_lane(loop.getLoopPreheader())) {
    return std::nullopt;
  }
  auto region = find_lone_region(loop.getHeader(), loop.getBlocks(), kMaxLoopInstructions);
  if (!region) {
    return std::nullopt;
  }
  for (LoneRegion::Leaving& leaving : region->leaving) {
    leaving.is_uniform = facts.shapes.is_uniform(leaving.phi);
    if (!leaving.is_uniform && facts.shapes.is_affine(leaving.phi)) {
      return std::nullopt;  // It should stay known that it follows the lanes.
    }
  }
  return Candidate{std::move(*region), is_divergent, few_lanes(loop, facts), std::move(places)};
}

/// Notes what lanes do at a place, against what it costs to have them do so together.
void note_work(const WorkPlace& place, Lanes lanes, unsigned number) {
  const auto [of_one, of_all] = place.costs;
  // What one lane costs alone, and how many of them may run before they should stay together.
  const unsigned together = std::min(2 * of_all, of_one * std::max(1U, lanes.width / 2));
  llvm::IRBuilder<> builder(place.block, place.block->getFirstInsertionPt());
  create_noting_marker(
      builder, kWorkCall, builder.getVoidTy(),
      {builder.getInt32(number), builder.getInt32(of_one), builder.getInt32(together)});
}

/// Counts the lanes in the header, now and then, and what they do at the places of the loop. The
/// loop has a number among those that are watched, and so has the one around it; if there is none,
/// that is the same.
void release_on_the_way(const Candidate& candidate,
                        const llvm::Loop& loop,
                        Lanes lanes,
                        unsigned number,
                        unsigned outer) {
  for (const WorkPlace& place : candidate.places) {
    note_work(place, lanes, number);
  }
  llvm::BasicBlock* header = candidate.region.entry;
  llvm::SmallVector<llvm::Value*, 8> phis;
  for (llvm::PHINode& phi : header->phis()) {
    phis.push_back(&phi);
  }
  llvm::BasicBlock* body = header->splitBasicBlock(header->getFirstNonPHIIt(), "body");
  header->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(header);
  llvm::BasicBlock* count =
      llvm::BasicBlock::Create(header->getContext(), "count", header->getParent());
  llvm::PHINode* turn =
      llvm::PHINode::Create(builder.getInt32Ty(), 2, "turn", header->getFirstNonPHIIt());
  llvm::Value* next = builder.CreateAdd(turn, builder.getInt32(1));
  for (llvm::BasicBlock* from : llvm::predecessors(header)) {
    const bool is_first = from != body && !loop.contains(from);
    turn->addIncoming(is_first ? builder.getInt32(0) : next, from);
  }
  if (!candidate.places.empty()) {
    create_noting_marker(builder, kWatchCall, builder.getVoidTy(),
                         {builder.getInt32(number), turn});
  }
  llvm::Value* rest = builder.CreateAnd(turn, builder.getInt32(kIterationsBetween - 1));
  llvm::Value* counts = builder.CreateIsNull(rest);
  if (!candidate.places.empty()) {
    counts = builder.CreateOr(counts, builder.CreateICmpEQ(turn, builder.getInt32(2)));
  }
  builder.CreateCondBr(counts, count, body);
  builder.SetInsertPoint(count);
  llvm::Value* are_few = create_few(builder, candidate.few);
  if (!candidate.places.empty()) {
    are_few = builder.CreateOr(
        are_few, create_noting_marker(builder, kIdleCall, builder.getInt1Ty(),
                                      {builder.getInt32(number), builder.getInt32(outer)}));
  }
  builder.CreateCondBr(are_few, call_lone_function(candidate.region, phis), body);
}

/// Counts the lanes before a loop that all of them leave together.
void release_at_entry(const Candidate& candidate, llvm::BasicBlock* preheader) {
  llvm::SmallVector<llvm::Value*, 8> phis;
  for (llvm::PHINode& phi : candidate.region.entry->phis()) {
    phis.push_back(phi.getIncomingValueForBlock(preheader));
  }
  preheader->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(preheader);
  builder.CreateCondBr(create_few(builder, candidate.few),
                       call_lone_function(candidate.region, phis), candidate.region.entry);
}

/// The blocks from `entry` on that are run before `join`, when all of them lead there and nothing
/// else leads into them; otherwise nothing.
std::vector<llvm::BasicBlock*> blocks_until(llvm::BasicBlock* entry,
                                            llvm::BasicBlock* join,
                                            const llvm::DominatorTree& dominators) {
  std::vector<llvm::BasicBlock*> blocks{entry};
  std::set<llvm::BasicBlock*> seen{entry, join};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (llvm::isa<llvm::ReturnInst>(blocks[i]->getTerminator())) {
      return {};
    }
    for (llvm::BasicBlock* next : llvm::successors(blocks[i])) {
      if (next != join && (next == entry || !dominators.dominates(entry, next))) {
        return {};
      }
      if (seen.insert(next).second) {
        blocks.push_back(next);
      }
    }
  }
  return blocks;
}

/// The blocks from `entry` on until its ways meet again; nothing when they do not. Not by
/// post-dominators: a case that cannot happen leads nowhere.
std::vector<llvm::BasicBlock*> blocks_until_ways_meet(llvm::BasicBlock* entry,
                                                      const llvm::DominatorTree& dominators) {
  llvm::SmallVector<llvm::BasicBlock*, 16> joins;
  for (const llvm::DomTreeNode* child : *dominators.getNode(entry)) {
    if (!child->getBlock()->hasNPredecessors(1)) {
      joins.push_back(child->getBlock());
    }
  }
  llvm::SmallVector<llvm::BasicBlock*, 16> behind;
  dominators.getDescendants(entry, behind);
  for (llvm::BasicBlock* block : behind) {
    for (llvm::BasicBlock* next : llvm::successors(block)) {
      if (!dominators.dominates(entry, next) && !llvm::is_contained(joins, next)) {
        joins.push_back(next);
      }
    }
  }
  for (llvm::BasicBlock* join : joins) {
    auto blocks = blocks_until(entry, join, dominators);
    if (blocks.size() > 1) {
      return blocks;
    }
  }
  return {};
}

unsigned count_loops(llvm::ArrayRef<llvm::BasicBlock*> blocks, const llvm::LoopInfo& loops) {
  unsigned count = 0;
  for (const llvm::BasicBlock* block : blocks) {
    const llvm::Loop* loop = loops.getLoopFor(block);
    count += loop != nullptr && loop->getHeader() == block ? 1 : 0;
  }
  return count;
}

/// Whether few of the active lanes have the same value as the first of them.
llvm::Value* are_apart(llvm::IRBuilder<>& builder, llvm::Value* value) {
  std::string name = kApartPrefix;
  llvm::raw_string_ostream(name) << *value->getType();
  return create_marker(builder, name, builder.getInt1Ty(), {value});
}

}  // namespace

unsigned release_parting_lanes(llvm::Function& function, unsigned width) {
  std::vector<llvm::SwitchInst*> switches;
  {
    const Uniformity uniformity(function, width);
    for (llvm::BasicBlock& block : function) {
      auto* branch = llvm::dyn_cast<llvm::SwitchInst>(block.getTerminator());
      if (branch != nullptr && branch->getNumCases() >= kManyLoops &&
          uniformity.branches_diverge(block)) {
        switches.push_back(branch);
      }
    }
  }
  unsigned released = 0;
  for (llvm::SwitchInst* branch : switches) {
    llvm::BasicBlock* before = branch->getParent();
    llvm::BasicBlock* entry = before->splitBasicBlock(branch->getIterator(), "parting");
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    const auto blocks = blocks_until_ways_meet(entry, dominators);
    if (count_loops(blocks, loops) < kManyLoops) {
      continue;
    }
    auto region = find_lone_region(entry, blocks, kMaxSwitchInstructions);
    if (!region) {
      continue;
    }
    write_lone_function(*region);
    before->getTerminator()->eraseFromParent();
    llvm::IRBuilder<> builder(before);
    llvm::Value* apart = are_apart(builder, branch->getCondition());
    builder.CreateCondBr(apart, call_lone_function(*region, {}), entry);
    ++released;
  }
  return released;
}

unsigned release_lone_lanes(llvm::Function& function,
                            Lanes lanes,
                            llvm::ArrayRef<VersionedLoop> versions) {
  const LaneFacts facts(function, lanes);
  std::vector<std::pair<const llvm::Loop*, Candidate>> candidates;
  unsigned size = 0;
  for (const llvm::Loop* loop : facts.control_flow.loops().getLoopsInPreorder()) {
    const bool is_copy = llvm::any_of(
        versions, [&](const VersionedLoop& version) { return version.full == loop->getHeader(); });
    // Where few lanes enter a copy, they go to the loop itself instead.
    auto found = is_copy ? std::nullopt : candidate(*loop, facts);
    if (!found) {
      continue;
    }
    size += found->region.instructions;
    if (size > kMaxInstructions) {
      break;
    }
    write_lone_function(found->region);
    candidates.emplace_back(loop, std::move(*found));
  }
  std::map<const llvm::BasicBlock*, unsigned> few;
  for (const auto& [loop, candidate] : candidates) {
    few[candidate.region.entry] = candidate.few;
  }
  for (const VersionedLoop& version : versions) {
    llvm::BasicBlock* block = version.few->getParent();
    const auto found = few.find(version.masked);
    if (found != few.end() && !facts.runs_in_every_lane(block)) {
      version.few->setArgOperand(
          0, llvm::ConstantInt::get(version.few->getArgOperand(0)->getType(), found->second));
    } else {
      version.few->replaceAllUsesWith(llvm::ConstantInt::getFalse(function.getContext()));
      version.few->eraseFromParent();
      llvm::ConstantFoldTerminator(block);
    }
  }
  for (unsigned i = 0; i < candidates.size(); ++i) {
    const auto& [loop, candidate] = candidates[i];
    if (!candidate.is_divergent && candidate.places.empty()) {
      release_at_entry(candidate, loop->getLoopPreheader());
      continue;
    }
    unsigned outer = i;
    for (unsigned k = 0; k < i; ++k) {
      // In preorder, so the last one is the nearest.
      outer =
          candidates[k].first->contains(loop) && !candidates[k].second.places.empty() ? k : outer;
    }
    release_on_the_way(candidate, *loop, lanes, i, outer);
  }
  return static_cast<unsigned>(candidates.size());
}

}  // namespace pewter::compiler::spmd
