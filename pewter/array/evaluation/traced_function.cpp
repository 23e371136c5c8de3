#include "pewter/array/evaluation/traced_function.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/trace.h"
#include "pewter/base/environment.h"

namespace pewter::evaluation {
namespace {

// How long a call waits for another thread's trace of the same function.
constexpr std::chrono::seconds kLongestWait(1);

std::atomic<bool>& enabled() {
  static std::atomic<bool> enabled = !environment::text("MLX_DISABLE_COMPILE").has_value();
  return enabled;
}

array placeholder_like(const array& a) {
  auto node = std::make_shared<graph::Node>();
  node->shape = a.shape();
  node->strides = graph::row_strides(a.shape());
  node->size = a.size();
  node->dtype = a.dtype();
  node->stream = a.node().stream;
  node->is_placeholder = true;
  node->is_traced = true;
  return array(std::move(node));
}

/// What a step of a trace looks at: a view's base, else the inputs.
std::vector<graph::NodePointer> sources(const graph::Node& node) {
  if (!node.inputs.empty()) {
    return node.inputs;
  }
  return node.base ? std::vector<graph::NodePointer>{node.base} : std::vector<graph::NodePointer>{};
}

}  // namespace

Trace::Trace(const ArrayFunction& function, const std::vector<array>& inputs) {
  std::vector<array> placeholders;
  Places places;
  for (const array& input : inputs) {
    placeholders.push_back(placeholder_like(input));
    places.emplace(&placeholders.back().node(), steps_.size());
    steps_.push_back({placeholders.back().node_pointer(), {}});
  }
  argument_count_ = inputs.size();
  std::vector<array> outputs;
  {
    const ops::TraceScope scope;
    outputs = function(placeholders);
    reads_lengths_ = scope.reads_lengths();
  }
  for (const array& output : outputs) {
    output_places_.push_back(record(output.node_pointer(), places));
    frozen_outputs_.push_back(output);
  }
}

// Depth first, without recursion: graphs are deeper than the stack. Marks are not used and inputs
// of what the function captured are not looked at, because evaluation may be going on in another
// thread.
std::size_t Trace::record(const graph::NodePointer& root, Places& places) {
  struct Visit {
    graph::NodePointer node;
    std::vector<graph::NodePointer> inputs;
    std::vector<std::size_t> places;
  };
  std::vector<Visit> stack;
  std::size_t last = kFrozen;
  const auto begin = [&](const graph::NodePointer& node) {
    const auto known = places.find(node.get());
    const bool is_known = known != places.end() || !node->is_traced;
    last = known != places.end() ? known->second : kFrozen;
    if (!is_known) {
      stack.push_back({node, sources(*node), {}});
    }
    return is_known;
  };
  if (begin(root)) {
    return last;
  }
  while (!stack.empty()) {
    Visit& top = stack.back();
    if (top.places.size() < top.inputs.size()) {
      if (begin(top.inputs[top.places.size()])) {
        stack.back().places.push_back(last);
      }
      continue;
    }
    const bool depends = std::any_of(top.places.begin(), top.places.end(),
                                     [](std::size_t place) { return place != kFrozen; });
    last = depends ? steps_.size() : kFrozen;
    places.emplace(top.node.get(), last);
    if (depends) {
      steps_.push_back({top.node, std::move(top.places)});
    }
    stack.pop_back();
    if (!stack.empty()) {
      stack.back().places.push_back(last);
    }
  }
  return last;
}

bool Trace::fits(const std::vector<array>& inputs, bool shapeless) const {
  if (inputs.size() != argument_count_) {
    return false;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const graph::Node& traced = *steps_[i].node;
    if (inputs[i].dtype() != traced.dtype || inputs[i].ndim() != traced.shape.size()) {
      return false;
    }
  }
  return (shapeless && !reads_lengths_) || has_lengths_of(inputs);
}

bool Trace::has_lengths_of(const std::vector<array>& inputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].shape() != steps_[i].node->shape) {
      return false;
    }
  }
  return true;
}

graph::NodePointer Trace::repeat_step(const Step& step,
                                      const std::vector<graph::NodePointer>& made) const {
  const graph::Node& old = *step.node;
  const auto source = [&](std::size_t i) {
    return step.inputs[i] == kFrozen ? sources(old)[i] : made[step.inputs[i]];
  };
  auto node = std::make_shared<graph::Node>();
  node->shape = old.shape;
  node->strides = old.strides;
  node->offset = old.offset;
  node->size = old.size;
  node->dtype = old.dtype;
  node->is_row_contiguous = old.is_row_contiguous;
  node->stream = old.stream;
  if (!old.base) {
    node->primitive = old.primitive;
    node->output_index = old.output_index;
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      node->inputs.push_back(source(i));
    }
    return node;
  }
  // A view's base is the origin of what it was made of: arguments are row contiguous, so that only
  // their offset has to be added.
  graph::NodePointer of = source(0);
  const graph::Node& old_source = *sources(old)[0];
  const auto old_bytes = static_cast<std::int64_t>(size_of(of->dtype));
  const auto new_bytes = static_cast<std::int64_t>(size_of(old.dtype));
  if ((of->offset - old_source.offset) * old_bytes % new_bytes != 0) {
    // Another type is looked at from its own boundaries on, as view() has it.
    of = ops::apply_row(ops::conversion_row(), {of}, of->dtype, old.stream).node_pointer();
  }
  node->base = of->base ? of->base : of;
  node->offset += (of->offset - old_source.offset) * old_bytes / new_bytes;
  return node;
}

std::vector<array> Trace::repeat(const std::vector<array>& inputs, bool derives_shapes) const {
  std::vector<graph::NodePointer> made;
  made.reserve(steps_.size());
  for (const array& input : inputs) {
    made.push_back(ops::row_contiguous(input, input.node().stream).node_pointer());
  }
  std::unordered_map<const graph::Siblings*, std::shared_ptr<graph::Siblings>> siblings;
  for (std::size_t i = argument_count_; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    if (derives_shapes) {
      std::vector<array> sources_now;
      const std::vector<graph::NodePointer> old = sources(*step.node);
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        sources_now.emplace_back(step.inputs[k] == kFrozen ? old[k] : made[step.inputs[k]]);
      }
      const std::vector<array> results =
          step.node->primitive->apply(sources_now, step.node->stream);
      made.push_back(results[step.node->output_index].node_pointer());
      continue;
    }
    made.push_back(repeat_step(step, made));
    if (const graph::Siblings* old = step.node->siblings.get()) {
      std::shared_ptr<graph::Siblings>& repeated = siblings[old];
      if (!repeated) {
        repeated = std::make_shared<graph::Siblings>();
        repeated->outputs.resize(old->outputs.size());
      }
      repeated->outputs[step.node->output_index] = made.back();
      made.back()->siblings = repeated;
    }
  }
  std::vector<array> outputs;
  for (std::size_t i = 0; i < output_places_.size(); ++i) {
    if (output_places_[i] == kFrozen) {
      outputs.push_back(frozen_outputs_[i]);
    } else if (output_places_[i] < argument_count_) {
      outputs.push_back(inputs[output_places_[i]]);
    } else {
      outputs.emplace_back(made[output_places_[i]]);
    }
  }
  return outputs;
}

class TracedFunction::Recording {
 public:
  /// Another thread may be at it, if it takes too long.
  Recording(TracedFunction& function, std::unique_lock<std::mutex>& lock)
      : function_(function), lock_(lock), is_only_(!std::exchange(function.is_recording_, true)) {
    lock_.unlock();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (!lock_.owns_lock()) {
      lock_.lock();
    }
    if (is_only_) {
      function_.is_recording_ = false;
      function_.recorded_.notify_all();
    }
  }

 private:
  TracedFunction& function_;
  std::unique_lock<std::mutex>& lock_;
  const bool is_only_;
};

std::shared_ptr<const Trace> TracedFunction::find(const std::vector<array>& inputs) const {
  for (const auto& known : traces_) {
    if (known->fits(inputs, shapeless_)) {
      return known;
    }
  }
  return nullptr;
}

std::vector<array> TracedFunction::call(const std::vector<array>& inputs) {
  // Inside another traced function the body is part of that one's.
  if (!is_tracing_enabled() || ops::is_tracing()) {
    return function_(inputs);
  }
  // Outlives the lock: what a dropped trace lets go of is the user's to act on.
  std::shared_ptr<const Trace> trace;
  std::unique_lock lock(mutex_);
  trace = find(inputs);
  if (!trace && is_recording_) {
    recorded_.wait_for(lock, kLongestWait, [&] {
      trace = find(inputs);
      return trace != nullptr || !is_recording_;
    });
  }
  if (trace) {
    lock.unlock();
    return trace->repeat(inputs, !trace->has_lengths_of(inputs));
  }
  const Recording recording(*this, lock);
  trace = std::make_shared<const Trace>(function_, inputs);
  // What cannot derive its shape is refused at the first call already.
  std::vector<array> outputs = trace->repeat(inputs, shapeless_);
  lock.lock();
  if (!find(inputs)) {
    traces_.push_back(std::move(trace));
  }
  return outputs;
}

bool is_tracing_enabled() {
  return enabled().load();
}

void enable_tracing(bool wanted) {
  enabled().store(wanted);
}

}  // namespace pewter::evaluation
