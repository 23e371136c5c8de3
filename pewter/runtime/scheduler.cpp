#include "pewter/runtime/scheduler.h"

#include <chrono>

#include "pewter/base/log.h"

namespace pewter::runtime {
namespace {

constexpr std::chrono::seconds kStallLimit(5);

thread_local bool completing = false;

}  // namespace

Scheduler& Scheduler::instance() {
  // Never destroyed: completions may arrive while the process ends.
  static auto* const instance = new Scheduler;
  return *instance;
}

void Scheduler::task_submitted() {
  in_flight_.fetch_add(1, std::memory_order_acq_rel);
}

void Scheduler::task_completed() {
  {
    const std::scoped_lock lock(mutex_);
    in_flight_.fetch_sub(1, std::memory_order_acq_rel);
    ++completions_;
  }
  completion_.notify_all();
}

bool Scheduler::wait_until(const std::function<bool()>& enough) {
  if (enough()) {
    return true;
  }
  if (completing) {
    return false;
  }
  std::unique_lock lock(mutex_);
  while (in_flight_.load(std::memory_order_relaxed) != 0) {
    if (enough()) {
      return true;
    }
    const std::uint64_t seen = completions_;
    if (!completion_.wait_for(lock, kStallLimit, [&] { return completions_ != seen; })) {
      logging::detail("runtime", "no task completed for {} s; going on without waiting",
                      kStallLimit.count());
      return false;
    }
  }
  return true;
}

void Scheduler::hold_back() {
  if (tasks_in_flight() > kMaxTasksInFlight) {
    static_cast<void>(wait_until([this] { return tasks_in_flight() <= kMaxTasksInFlight; }));
  }
}

Scheduler::CompletionScope::CompletionScope() : before_(completing) {
  completing = true;
}

Scheduler::CompletionScope::~CompletionScope() {
  completing = before_;
}

bool Scheduler::CompletionScope::is_current() {
  return completing;
}

}  // namespace pewter::runtime
