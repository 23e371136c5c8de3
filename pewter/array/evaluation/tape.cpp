#include "pewter/array/evaluation/tape.h"

#include <limits>
#include <stdexcept>

namespace pewter::evaluation {
namespace {

/// The place of a node that was entered and whose inputs are not all recorded.
constexpr std::uint32_t kOpen = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void Tape::record(std::span<const array> roots) {
  static std::uint64_t last_mark = 0;
  mark_ = ++last_mark;
  entries_.clear();
  views_.clear();
  // A record that was refused has left its way behind.
  stack_.clear();
  for (const array& root : roots) {
    graph::Node& node = root.node_pointer()->origin();
    if (!node.is_available.load(std::memory_order_acquire)) {
      visit(node);
    }
  }
  find_kept();
  for (const array& root : roots) {
    if (Entry* entry = find(root.node_pointer()->origin())) {
      entry->is_kept = true;
    }
  }
}

void Tape::enter(graph::Node& node) {
  if (node.is_placeholder || !node.primitive) {
    throw std::invalid_argument(
        "[eval] an argument of a function that is being traced has no elements to evaluate");
  }
  node.mark = mark_;
  node.place = kOpen;
  node.count = 0;
  if (node.siblings) {
    for (const auto& weak : node.siblings->outputs) {
      if (const auto sibling = weak.lock()) {
        sibling->mark = mark_;
        sibling->place = kOpen;
        sibling->count = 0;
      }
    }
  }
  stack_.push_back({&node, 0});
}

void Tape::finish(graph::Node& node) {
  const auto place = static_cast<std::uint32_t>(entries_.size());
  node.place = place;
  if (node.siblings) {
    for (const auto& weak : node.siblings->outputs) {
      if (const auto sibling = weak.lock()) {
        sibling->place = place;
      }
    }
  }
  Entry& entry = entries_.emplace_back();
  entry.node = &node;
  entry.is_kept = node.siblings != nullptr;
}

void Tape::visit(graph::Node& root) {
  if (root.mark == mark_) {
    return;
  }
  enter(root);
  while (!stack_.empty()) {
    Visit& top = stack_.back();
    if (top.next_input == top.node->inputs.size()) {
      graph::Node& node = *top.node;
      stack_.pop_back();
      finish(node);
      continue;
    }
    graph::Node& input = *top.node->inputs[top.next_input++];
    graph::Node& origin = input.origin();
    if (origin.is_available.load(std::memory_order_acquire)) {
      continue;
    }
    if (origin.mark != mark_) {
      enter(origin);
    }
  }
}

// A node is held when it has more owners than the entries that use it and the views they go
// through. Most of those are temporaries of the expression that is evaluated, which nobody will
// look at: so a held node is stored only when it is needed for the second time.
void Tape::find_kept() {
  for (const Entry& user : entries_) {
    for (const graph::NodePointer& input : user.node->inputs) {
      graph::Node& origin = input->origin();
      Entry* entry = find(origin);
      if (entry == nullptr) {
        continue;
      }
      ++entry->uses;
      if (!input->base) {
        ++origin.count;
        continue;
      }
      if (input->mark != mark_) {
        input->mark = mark_;
        input->count = 0;
        views_.push_back(input.get());
        ++origin.count;
      }
      ++input->count;
    }
  }
  for (const graph::Node* view : views_) {
    if (static_cast<std::uint32_t>(view->weak_from_this().use_count()) > view->count) {
      find(*view->base)->is_held = true;
    }
  }
  for (Entry& entry : entries_) {
    const auto owners = static_cast<std::uint32_t>(entry.node->weak_from_this().use_count());
    entry.is_held = entry.is_held || owners > entry.node->count;
    entry.is_kept = entry.is_kept || entry.node->was_passed_over;
  }
}

}  // namespace pewter::evaluation
