#pragma once

#include <array>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "llvm/IR/Instruction.h"

#include "pewter/compiler/spmd/uniformity.h"

namespace pewter::compiler::spmd {

/// A place in a text.
struct Position {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  auto operator<=>(const Position&) const = default;
};

/// Where the kernel's own text asks for an instruction: in the function that it came from, when
/// that is in the same file, otherwise where that is called. Nothing when the module has no
/// positions.
std::optional<Position> position_of(const llvm::Instruction& instruction);

/// Why something has no vector form, with its position or, when the module has none, itself.
std::string refusal(const std::string& reason, const llvm::Instruction& instruction);

/// Why a value that is not uniform differs between lanes: the nearest thing that it depends on and
/// that tells them apart.
std::string cause_of_difference(const llvm::Value& value, const Uniformity& uniformity);

/// How a branch or an access to memory was emitted.
enum class Form {
  UniformBranch,
  DivergentBranch,
  UniformAccess,
  ConsecutiveAccess,
  StridedAccess,
  Gather,
  CombinedAtomic,
  LaneAtomic,
};
inline constexpr std::size_t kForms = 8;

/// Branches and accesses by how they were emitted, for people who ask why a kernel is slow.
struct Tally {
  unsigned count(Form form) const { return counts[static_cast<std::size_t>(form)]; }

  std::array<unsigned, kForms> counts{};
  /// What the text has where, "load" for instance, and all the ways in which it was emitted; empty
  /// when the module has no positions.
  std::map<std::pair<Position, std::string>, std::set<std::string>> places;
};

}  // namespace pewter::compiler::spmd
