#include "pewter/base/worker_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <system_error>

#include "pewter/base/log.h"
#include "pewter/base/spin.h"
#include "pewter/base/thread.h"

namespace pewter {
namespace {

/// Binds the calling thread to one of the cores that the process may use. A core that is refused
/// makes no difference to results, so nobody is told.
void bind_to_core(std::uint32_t index) {
#if defined(__linux__)
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) == 0) {
    return;
  }
  int remaining = static_cast<int>(index) % CPU_COUNT(&allowed);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed) && remaining-- == 0) {
      cpu_set_t own;
      CPU_ZERO(&own);
      CPU_SET(core, &own);
      pthread_setaffinity_np(pthread_self(), sizeof(own), &own);
      return;
    }
  }
#else
  static_cast<void>(index);
#endif
}

}  // namespace

WorkerPool::WorkerPool(std::uint32_t worker_count, Placement placement) {
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    ring_[i].turn.store(i, std::memory_order_relaxed);
  }
  workers_.reserve(worker_count);
  try {
    for (std::uint32_t i = 0; i < worker_count; ++i) {
      workers_.push_back(start_thread("pewter-worker", [this, i, placement] {
        if (placement == Placement::OneCoreEach) {
          bind_to_core(i);
        }
        work(i);
      }));
    }
  } catch (const std::system_error& error) {
    logging::warning("worker pool", "only {} of {} threads can be started: {}", workers_.size(),
                     worker_count, error.what());
  }
}

WorkerPool::~WorkerPool() {
  stopping_.store(true);
  epoch_.fetch_add(1);
  epoch_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void WorkerPool::post(Task& task) {
  task_count_.fetch_add(1);
  if (!push(task)) {
    push_overflow(task);
  }
  epoch_.fetch_add(1);
  // A spinning worker sees the epoch change; one that gives up spinning looks again before it
  // sleeps.
  if (spinning_.load() == 0) {
    wake(1);
  }
}

// The ring is Dmitry Vyukov's bounded queue: a cell's turn equals the position of the push that may
// fill it, and one more once it is filled.

bool WorkerPool::push(Task& task) {
  std::size_t position = push_position_.load(std::memory_order_relaxed);
  for (;;) {
    Cell& cell = ring_[position % kRingSize];
    const std::size_t turn = cell.turn.load(std::memory_order_acquire);
    if (turn == position) {
      if (push_position_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
        cell.task = &task;
        cell.turn.store(position + 1, std::memory_order_release);
        return true;
      }
    } else if (turn < position) {
      return false;
    } else {
      position = push_position_.load(std::memory_order_relaxed);
    }
  }
}

WorkerPool::Task* WorkerPool::pop() {
  std::size_t position = pop_position_.load(std::memory_order_relaxed);
  for (;;) {
    Cell& cell = ring_[position % kRingSize];
    const std::size_t turn = cell.turn.load(std::memory_order_acquire);
    if (turn == position + 1) {
      if (pop_position_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
        Task* task = cell.task;
        cell.turn.store(position + kRingSize, std::memory_order_release);
        return task;
      }
    } else if (turn < position + 1) {
      return overflow_count_.load() > 0 ? pop_overflow() : nullptr;
    } else {
      position = pop_position_.load(std::memory_order_relaxed);
    }
  }
}

void WorkerPool::push_overflow(Task& task) {
  std::scoped_lock lock(overflow_mutex_);
  task.next = nullptr;
  (last_overflow_ != nullptr ? last_overflow_->next : first_overflow_) = &task;
  last_overflow_ = &task;
  overflow_count_.fetch_add(1);
}

WorkerPool::Task* WorkerPool::pop_overflow() {
  std::scoped_lock lock(overflow_mutex_);
  Task* task = first_overflow_;
  if (task != nullptr) {
    first_overflow_ = task->next;
    if (first_overflow_ == nullptr) {
      last_overflow_ = nullptr;
    }
    overflow_count_.fetch_sub(1);
  }
  return task;
}

void WorkerPool::add(Job& job, std::uint32_t max_helpers) {
  job.max_helpers_ = max_helpers;
  job.slot_ = nullptr;
  std::uint64_t taken = taken_.load(std::memory_order_relaxed);
  std::uint64_t bit = 0;
  do {
    if (taken == ~std::uint64_t{0}) {
      // Its owner does it alone.
      return;
    }
    bit = ~taken & (taken + 1);
  } while (!taken_.compare_exchange_weak(taken, taken | bit, std::memory_order_acquire,
                                         std::memory_order_relaxed));
  Slot& slot = slots_[static_cast<std::size_t>(std::countr_zero(bit))];
  job.slot_ = &slot;
  slot.job.store(&job);
  offered_.fetch_or(bit);
  epoch_.fetch_add(1);
}

void WorkerPool::wake(std::uint32_t count) {
  const std::uint32_t sleeping = sleeping_.load();
  if (count >= sleeping && sleeping > 1) {
    epoch_.notify_all();
    return;
  }
  for (std::uint32_t i = 0; i < std::min(count, sleeping); ++i) {
    epoch_.notify_one();
  }
}

void WorkerPool::rouse() {
  if (sleeping_.load() > 0) {
    epoch_.fetch_add(1);
    epoch_.notify_all();
  }
}

bool WorkerPool::try_remove(Job& job) {
  if (job.slot_ == nullptr) {
    return true;
  }
  Slot& slot = *job.slot_;
  const std::uint64_t bit = std::uint64_t{1} << (&slot - slots_.data());
  if (slot.job.load(std::memory_order_relaxed) != nullptr) {
    offered_.fetch_and(~bit);
    slot.job.store(nullptr);
  }
  if (slot.users.load() != 0) {
    return false;
  }
  job.slot_ = nullptr;
  taken_.fetch_and(~bit, std::memory_order_release);
  return true;
}

void WorkerPool::remove(Job& job) {
  while (!try_remove(job)) {
    wait_until_zero(job.slot_->users);
  }
}

void WorkerPool::post_when_left(Job& job, Task& task) {
  Slot& slot = *job.slot_;
  // A task of the job before, whose last user has counted down but not yet read it.
  if (Task* previous = slot.when_left.exchange(&task)) {
    post(*previous);
  }
  // The last user reads the task after it has counted down, and this thread counts after it has
  // written, so one of them posts it.
  if (slot.users.load() == 0) {
    if (Task* ready = slot.when_left.exchange(nullptr)) {
      post(*ready);
    }
  }
}

void WorkerPool::leave(Slot& slot) {
  if (slot.users.fetch_sub(1) == 1) {
    slot.users.notify_all();
    if (slot.when_left.load() != nullptr) {
      if (Task* task = slot.when_left.exchange(nullptr)) {
        post(*task);
      }
    }
  }
}

void WorkerPool::work(std::uint32_t index) {
  // Workers begin at different slots, so that they spread over several jobs.
  std::uint32_t next_slot = index;
  while (!stopping_.load(std::memory_order_relaxed)) {
    const std::uint32_t epoch = epoch_.load();
    if (run_something(next_slot) || spin(epoch)) {
      continue;
    }
    sleeping_.fetch_add(1);
    epoch_.wait(epoch);
    sleeping_.fetch_sub(1);
  }
}

bool WorkerPool::spin(std::uint32_t seen_epoch) {
  spinning_.fetch_add(1);
  const bool changed = spin_until([&] { return epoch_.load() != seen_epoch; });
  spinning_.fetch_sub(1);
  return changed;
}

bool WorkerPool::run_something(std::uint32_t& next_slot) {
  if (has_tasks()) {
    if (Task* task = pop()) {
      if (task_count_.fetch_sub(1) > 1) {
        wake(1);
      }
      task->run(*task);
      return true;
    }
  }
  // Round robin: after a job with others waiting comes the next one.
  std::uint64_t offered =
      std::rotr(offered_.load(std::memory_order_acquire), static_cast<int>(next_slot % kSlots));
  while (offered != 0) {
    const auto distance = static_cast<std::uint32_t>(std::countr_zero(offered));
    const std::uint32_t index = (next_slot + distance) % kSlots;
    if (help(slots_[index])) {
      next_slot = index + 1;
      return true;
    }
    offered &= offered - 1;
  }
  return false;
}

bool WorkerPool::help(Slot& slot) {
  slot.users.fetch_add(1);
  Job* job = slot.job.load();
  bool has_helped = false;
  if (job != nullptr && job->has_work()) {
    std::uint32_t helpers = job->helpers_.load(std::memory_order_relaxed);
    while (helpers < job->max_helpers_ && !has_helped) {
      has_helped = job->helpers_.compare_exchange_weak(helpers, helpers + 1);
    }
    if (has_helped) {
      job->help();
      job->helpers_.fetch_sub(1);
    }
  }
  leave(slot);
  return has_helped;
}

void wait_until_zero(const std::atomic<std::uint32_t>& value) {
  if (spin_until([&] { return value.load(std::memory_order_acquire) == 0; })) {
    return;
  }
  for (std::uint32_t seen = value.load(std::memory_order_acquire); seen != 0;
       seen = value.load(std::memory_order_acquire)) {
    value.wait(seen);
  }
}

}  // namespace pewter
