#pragma once

#include <memory>
#include <vector>

#include "pewter/array/evaluation/groups.h"
#include "pewter/array/graph/node.h"
#include "pewter/runtime/stream.h"

namespace pewter::evaluation {

/// Finds the tasks that a group depends on, so that its nodes fail when one of them does.
class Dependence {
 public:
  /// Begins a group, which is about to be encoded. Throws the failure of what it reads, if that is
  /// known to have failed.
  void begin(const Group& group);
  /// Says where the group is encoded.
  void note_tasks_of(runtime::Stream& stream);
  /// Lets a node, which has been encoded, depend on everything that was noted since begin().
  void hand_to(graph::Node& node);
  void end();

 private:
  using Outcomes = std::vector<std::shared_ptr<const runtime::Outcome>>;

  void add_pending(const std::shared_ptr<const runtime::Outcome>& outcome);
  void find_earlier();

  runtime::Stream* stream_ = nullptr;
  /// Tasks that compute inputs.
  Outcomes pending_;
  /// Tasks that the group is encoded into; the last one ends it.
  Outcomes own_;
  Outcomes earlier_;
  /// What nodes were given last: their successors often depend on the same.
  std::shared_ptr<const Outcomes> shared_;
};

/// Throws what a node that has memory failed with: what is known of it, or after waiting for it.
void raise_known_failure(const graph::Node& node);
void raise_failure(const graph::Node& node);

}  // namespace pewter::evaluation
