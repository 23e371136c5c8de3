#include "pewter/array/evaluation/traced_function.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/trace.h"
#include "pewter/base/environment.h"

namespace pewter::evaluation {
namespace {

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
  for (const array& input : inputs) {
    placeholders.push_back(placeholder_like(input));
    add(placeholders.back().node_pointer());
  }
  argument_count_ = inputs.size();
  std::vector<array> outputs;
  {
    const ops::TraceScope scope;
    outputs = function(placeholders);
    reads_lengths_ = scope.reads_lengths();
  }
  for (const array& output : outputs) {
    output_places_.push_back(record(output.node_pointer()));
    frozen_outputs_.push_back(output);
  }
}

std::size_t Trace::place_of(const graph::NodePointer& node) const {
  for (std::size_t i = steps_.size(); i-- > 0;) {
    if (steps_[i].node == node) {
      return i;
    }
  }
  return kFrozen;
}

void Trace::add(const graph::NodePointer& node) {
  steps_.push_back({node, {}});
}

// Depth first, without recursion: graphs are deeper than the stack. Marks are not used and inputs
// of what the function captured are not looked at, because evaluation may be going on in another
// thread.
std::size_t Trace::record(const graph::NodePointer& root) {
  struct Visit {
    graph::NodePointer node;
    std::vector<graph::NodePointer> inputs;
    std::vector<std::size_t> places;
  };
  std::vector<Visit> stack;
  std::vector<const graph::Node*> known_frozen;
  std::size_t last = kFrozen;
  const auto begin = [&](const graph::NodePointer& node) {
    last = place_of(node);
    const bool is_known =
        last != kFrozen || !node->is_traced ||
        std::find(known_frozen.begin(), known_frozen.end(), node.get()) != known_frozen.end();
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
    if (depends) {
      last = steps_.size();
      steps_.push_back({top.node, std::move(top.places)});
    } else {
      known_frozen.push_back(top.node.get());
      last = kFrozen;
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
  std::vector<std::pair<const graph::Siblings*, std::shared_ptr<graph::Siblings>>> siblings;
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
      auto known = std::find_if(siblings.begin(), siblings.end(),
                                [&](const auto& entry) { return entry.first == old; });
      if (known == siblings.end()) {
        siblings.emplace_back(old, std::make_shared<graph::Siblings>());
        known = siblings.end() - 1;
        known->second->outputs.resize(old->outputs.size());
      }
      known->second->outputs[step.node->output_index] = made.back();
      made.back()->siblings = known->second;
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

std::vector<array> TracedFunction::call(const std::vector<array>& inputs) {
  // Inside another traced function the body is part of that one's.
  if (!is_tracing_enabled() || ops::is_tracing()) {
    return function_(inputs);
  }
  std::shared_ptr<const Trace> trace;
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& known : traces_) {
      if (known->fits(inputs, shapeless_)) {
        trace = known;
        break;
      }
    }
  }
  if (trace) {
    return trace->repeat(inputs, !trace->has_lengths_of(inputs));
  }
  trace = std::make_shared<const Trace>(function_, inputs);
  // What cannot derive its shape is refused at the first call already.
  std::vector<array> outputs = trace->repeat(inputs, shapeless_);
  const std::scoped_lock lock(mutex_);
  traces_.push_back(std::move(trace));
  return outputs;
}

bool is_tracing_enabled() {
  return enabled().load();
}

void enable_tracing(bool wanted) {
  enabled().store(wanted);
}

}  // namespace pewter::evaluation
