#pragma once

#include <pewter/array.h>
#include <pewter/eval.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "pewter/array/graph/node.h"

namespace pewter::evaluation {

/// What a function did with arrays of certain types and shapes, to be done again with others.
class Trace {
 public:
  /// Runs the function's body. Throws what it throws.
  Trace(const ArrayFunction& function, const std::vector<array>& inputs);

  /// Whether it can be repeated with these: with others than the traced lengths only if shapeless
  /// and if nothing that it records may depend on them.
  bool fits(const std::vector<array>& inputs, bool shapeless) const;
  bool has_lengths_of(const std::vector<array>& inputs) const;
  /// With `derives_shapes` every operation finds the shape of its result again. Throws
  /// std::invalid_argument for one that cannot.
  std::vector<array> repeat(const std::vector<array>& inputs, bool derives_shapes) const;

 private:
  struct Step {
    graph::NodePointer node;
    /// Places of the inputs, or of a view's base, among the steps; kFrozen for what the function
    /// captured.
    std::vector<std::size_t> inputs;
  };
  static constexpr std::size_t kFrozen = static_cast<std::size_t>(-1);
  /// The step of each node that has been looked at; kFrozen for what the function captured.
  using Places = std::unordered_map<const graph::Node*, std::size_t>;

  std::size_t record(const graph::NodePointer& root, Places& places);
  graph::NodePointer repeat_step(const Step& step,
                                 const std::vector<graph::NodePointer>& made) const;

  /// The arguments come first, then everything that depends on them, in order.
  std::vector<Step> steps_;
  std::size_t argument_count_ = 0;
  std::vector<std::size_t> output_places_;
  std::vector<array> frozen_outputs_;
  bool reads_lengths_ = false;
};

/// A function whose body runs only when no trace fits. Safe to call from any thread: one runs the
/// body while the others wait for its trace, for a second at most, because the body may itself be
/// waiting for a thread that calls the function.
class TracedFunction {
 public:
  TracedFunction(ArrayFunction function, bool shapeless)
      : function_(std::move(function)), shapeless_(shapeless) {}

  std::vector<array> call(const std::vector<array>& inputs);

 private:
  /// Marks that a thread runs the body, from when the lock is let go of to its end.
  class Recording;

  /// Null when none fits; the lock must be held.
  std::shared_ptr<const Trace> find(const std::vector<array>& inputs) const;

  const ArrayFunction function_;
  const bool shapeless_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable recorded_;
  std::vector<std::shared_ptr<const Trace>> traces_;
  bool is_recording_ = false;
};

/// Whether functions are traced at all.
bool is_tracing_enabled();
void enable_tracing(bool enabled);

}  // namespace pewter::evaluation
