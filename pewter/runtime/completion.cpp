#include "pewter/runtime/completion.h"

#include <utility>

#include "pewter/base/log.h"
#include "pewter/runtime/scheduler.h"

namespace pewter::runtime {
namespace {

std::string failure_text(const MTL::CommandBuffer& command_buffer) {
  const NS::Error* error = command_buffer.error();
  const NS::String* text = error != nullptr ? error->localizedDescription() : nullptr;
  return text != nullptr ? text->utf8String() : "the command buffer failed without saying why";
}

}  // namespace

void Completion::submitted(const Task& task, NS::SharedPtr<MTL::CommandBuffer> command_buffer) {
  const std::scoped_lock lock(mutex_);
  in_flight_.push_back({std::move(command_buffer), task.computes_on_host});
  last_submitted_ = task.number;
}

void Completion::completed(Task& task, const MTL::CommandBuffer& command_buffer) {
  if (command_buffer.status() == MTL::CommandBufferStatusError) {
    task.outcome->fail(failure_text(command_buffer));
  }
  task.buffers.clear();
  for (auto& handler : task.handlers) {
    handler();
  }
  task.handlers.clear();
  task.outcome->finish();
  if (task.outcome->state() == Outcome::State::Failed) {
    note_failure(task.outcome);
  }

  NS::SharedPtr<MTL::CommandBuffer> done;
  {
    const std::scoped_lock lock(mutex_);
    done = std::move(in_flight_.front().command_buffer);
    in_flight_.pop_front();
    last_completed_ = task.number;
    changed_.notify_all();
  }
}

void Completion::fail(const std::string& message) {
  auto failure = std::make_shared<Outcome>();
  failure->fail(message);
  note_failure(std::move(failure));
}

void Completion::note_failure(std::shared_ptr<const Outcome> failure) {
  const std::scoped_lock lock(mutex_);
  if (failure_ && !failure_->was_seen()) {
    logging::detail("runtime", "a later failure of the same stream: {}", failure->failure());
    return;
  }
  failure_ = std::move(failure);
}

void Completion::raise_failure() {
  std::shared_ptr<const Outcome> failure;
  {
    const std::scoped_lock lock(mutex_);
    failure = std::exchange(failure_, nullptr);
  }
  if (failure) {
    failure->raise_unseen();
  }
}

void Completion::wait(std::uint64_t task) {
  for (;;) {
    const auto command_buffers = to_wait_for(task);
    if (command_buffers.empty()) {
      return;
    }
    // Metal's own wait lets this thread help, and may let it call the handlers.
    for (const auto& command_buffer : command_buffers) {
      command_buffer->waitUntilCompleted();
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return last_completed_ >= task || in_flight_.empty(); });
  }
}

/// Those whose handlers compute, and the newest that is asked for: the device runs them in order.
std::vector<NS::SharedPtr<MTL::CommandBuffer>> Completion::to_wait_for(std::uint64_t task) const {
  const std::scoped_lock lock(mutex_);
  std::vector<NS::SharedPtr<MTL::CommandBuffer>> found;
  if (last_completed_ >= task || in_flight_.empty()) {
    return found;
  }
  const std::uint64_t behind = last_submitted_ > task ? last_submitted_ - task : 0;
  const std::size_t count = in_flight_.size();
  const std::size_t newest = behind < count ? count - 1 - behind : 0;
  for (std::size_t i = 0; i < newest; ++i) {
    if (in_flight_[i].computes_on_host) {
      found.push_back(in_flight_[i].command_buffer);
    }
  }
  found.push_back(in_flight_[newest].command_buffer);
  return found;
}

std::uint64_t Completion::last_submitted() const {
  const std::scoped_lock lock(mutex_);
  return last_submitted_;
}

std::uint64_t Completion::last_completed() const {
  const std::scoped_lock lock(mutex_);
  return last_completed_;
}

bool Completion::settled() const {
  const std::scoped_lock lock(mutex_);
  return in_flight_.empty() && (!failure_ || failure_->was_seen());
}

}  // namespace pewter::runtime
