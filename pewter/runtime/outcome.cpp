#include "pewter/runtime/outcome.h"

#include <stdexcept>
#include <utility>

namespace pewter::runtime {

void Outcome::fail(std::string failure) {
  if (state() == State::Pending) {
    failure_ = std::move(failure);
    end(State::Failed);
  }
}

void Outcome::finish() {
  if (state() == State::Pending) {
    end(State::Done);
  }
}

void Outcome::end(State state) {
  state_.store(state, std::memory_order_release);
  state_.notify_all();
}

void Outcome::wait() const {
  state_.wait(State::Pending, std::memory_order_acquire);
}

const std::string& Outcome::failure() const {
  static const std::string none;
  return state() == State::Failed ? failure_ : none;
}

void Outcome::raise() const {
  if (state() == State::Failed) {
    was_seen_.store(true, std::memory_order_relaxed);
    throw std::runtime_error(failure_);
  }
}

void Outcome::raise_unseen() const {
  if (state() == State::Failed && !was_seen_.exchange(true, std::memory_order_relaxed)) {
    throw std::runtime_error(failure_);
  }
}

}  // namespace pewter::runtime
