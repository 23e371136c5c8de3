#pragma once

#include <pewter/array.h>

#include <cstdint>
#include <span>
#include <vector>

#include "pewter/array/graph/node.h"

namespace pewter::evaluation {

/// A node that has to be computed.
struct Entry {
  graph::Node* node = nullptr;
  /// How many inputs of other entries look at it.
  std::uint32_t uses = 0;
  /// Whether its elements are stored even when a kernel could do without.
  bool is_kept = false;
  /// Whether somebody besides the entries holds it.
  bool is_held = false;

  // For fusion.
  static constexpr std::int32_t kNone = -1;
  static constexpr std::int32_t kSeveral = -2;
  /// The group that all uses so far come from.
  std::int32_t candidate = kNone;
  /// Uses in which element i is all that is needed for element i.
  std::uint32_t elementwise_uses = 0;
  std::int32_t group = kNone;
  /// Number of the step that computes it, within its group's kernel.
  std::uint16_t step = 0;
  /// Whether it stays a computation, so that its inputs are needed once more.
  bool survives = false;
};

/// Everything that has to be computed for some arrays, inputs before what uses them.
///
/// Marks nodes, so there may be only one at a time.
class Tape {
 public:
  /// Throws std::invalid_argument when a placeholder of a traced function is among the inputs.
  void record(std::span<const array> roots);

  std::vector<Entry>& entries() { return entries_; }
  /// The entry of a node; null when it need not be computed.
  Entry* find(const graph::Node& node) {
    return node.mark == mark_ && node.base == nullptr && !node.is_available.load()
               ? &entries_[node.place]
               : nullptr;
  }

 private:
  struct Visit {
    graph::Node* node;
    std::size_t next_input;
  };

  void visit(graph::Node& root);
  void enter(graph::Node& node);
  void finish(graph::Node& node);
  void find_kept();

  std::uint64_t mark_ = 0;
  std::vector<Entry> entries_;
  std::vector<Visit> stack_;
  std::vector<graph::Node*> views_;
};

}  // namespace pewter::evaluation
