#include "pewter/array/evaluation/dependence.h"

#include <algorithm>

namespace pewter::evaluation {

using runtime::Outcome;

void Dependence::begin(const Group& group) {
  for (const graph::Node* leaf : group.leaves) {
    const graph::Node& origin = leaf->origin();
    if (origin.earlier) {
      for (const auto& outcome : *origin.earlier) {
        add_pending(outcome);
      }
    }
    if (origin.outcome) {
      add_pending(origin.outcome);
    }
  }
}

void Dependence::add_pending(const std::shared_ptr<const Outcome>& outcome) {
  outcome->raise();
  if (outcome->state() == Outcome::State::Pending &&
      std::find(pending_.begin(), pending_.end(), outcome) == pending_.end()) {
    pending_.push_back(outcome);
  }
}

void Dependence::note_tasks_of(runtime::Stream& stream) {
  if (stream_ == nullptr) {
    stream_ = &stream;
    stream.note_tasks(&own_);
  }
}

void Dependence::hand_to(graph::Node& node) {
  if (own_.empty()) {
    return;
  }
  node.outcome = own_.back();
  find_earlier();
  if (earlier_.empty()) {
    return;
  }
  if (!shared_ || *shared_ != earlier_) {
    shared_ = std::make_shared<const Outcomes>(earlier_);
  }
  node.earlier = shared_;
}

void Dependence::find_earlier() {
  earlier_.clear();
  for (const auto& outcome : pending_) {
    if (std::find(own_.begin(), own_.end(), outcome) == own_.end()) {
      earlier_.push_back(outcome);
    }
  }
  earlier_.insert(earlier_.end(), own_.begin(), own_.end() - 1);
}

void Dependence::end() {
  if (stream_ != nullptr) {
    stream_->note_tasks(nullptr);
    stream_ = nullptr;
  }
  pending_.clear();
  own_.clear();
  earlier_.clear();
}

void raise_known_failure(const graph::Node& node) {
  if (node.earlier) {
    for (const auto& outcome : *node.earlier) {
      outcome->raise();
    }
  }
  if (node.outcome) {
    node.outcome->raise();
  }
}

void raise_failure(const graph::Node& node) {
  if (node.earlier) {
    for (const auto& outcome : *node.earlier) {
      outcome->wait();
    }
  }
  raise_known_failure(node);
}

}  // namespace pewter::evaluation
