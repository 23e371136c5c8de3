#include "pewter/base/worker_pool.h"

#include <algorithm>
#include <system_error>

#include "pewter/base/log.h"
#include "pewter/base/spin.h"
#include "pewter/base/thread.h"

namespace pewter {
WorkerPool::WorkerPool(std::uint32_t worker_count) {
  workers_.reserve(worker_count);
  try {
    for (std::uint32_t i = 0; i < worker_count; ++i) {
      workers_.push_back(start_thread("pewter-worker", [this] { work(); }));
    }
  } catch (const std::system_error& error) {
    log::warning("worker pool", "only {} of {} threads can be started: {}", workers_.size(),
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
  {
    std::scoped_lock lock(mutex_);
    task.next = nullptr;
    if (last_task_ != nullptr) {
      last_task_->next = &task;
    } else {
      first_task_ = &task;
    }
    last_task_ = &task;
  }
  epoch_.fetch_add(1);
  // A spinning worker sees the epoch change; one that gives up spinning looks again before it
  // sleeps.
  if (spinning_.load() == 0) {
    wake(1);
  }
}

void WorkerPool::add(Job& job, std::uint32_t max_helpers) {
  {
    std::scoped_lock lock(mutex_);
    job.max_helpers_ = max_helpers;
    job.previous_ = last_job_;
    job.next_ = nullptr;
    if (last_job_ != nullptr) {
      last_job_->next_ = &job;
    } else {
      first_job_ = &job;
    }
    last_job_ = &job;
    job_count_.fetch_add(1, std::memory_order_relaxed);
  }
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

void WorkerPool::remove(Job& job) {
  {
    std::scoped_lock lock(mutex_);
    (job.previous_ != nullptr ? job.previous_->next_ : first_job_) = job.next_;
    (job.next_ != nullptr ? job.next_->previous_ : last_job_) = job.previous_;
    job_count_.fetch_sub(1, std::memory_order_relaxed);
    if (job.helpers_ == 0) {
      return;
    }
  }
  wait_until_zero(job.helpers_inside_);
  // The last helper counts down and notifies under the mutex: after this it no longer touches the
  // job.
  std::scoped_lock lock(mutex_);
}

void WorkerPool::work() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    const std::uint32_t epoch = epoch_.load();
    if (run_something() || spin(epoch)) {
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

bool WorkerPool::run_something() {
  Task* task = nullptr;
  Job* chosen = nullptr;
  bool more_tasks = false;
  {
    std::scoped_lock lock(mutex_);
    if (first_task_ != nullptr) {
      task = first_task_;
      first_task_ = task->next;
      more_tasks = first_task_ != nullptr;
      if (!more_tasks) {
        last_task_ = nullptr;
      }
    } else {
      // The job with the fewest helpers, so that jobs share the workers evenly.
      for (Job* job = first_job_; job != nullptr; job = job->next_) {
        if (job->helpers_ < job->max_helpers_ && job->has_work() &&
            (chosen == nullptr || job->helpers_ < chosen->helpers_)) {
          chosen = job;
        }
      }
      if (chosen != nullptr) {
        ++chosen->helpers_;
        chosen->helpers_inside_.fetch_add(1, std::memory_order_relaxed);
      }
    }
  }

  if (task != nullptr) {
    if (more_tasks) {
      wake(1);
    }
    task->run(*task);
    return true;
  }
  if (chosen == nullptr) {
    return false;
  }
  chosen->help();

  std::scoped_lock lock(mutex_);
  --chosen->helpers_;
  if (chosen->helpers_inside_.fetch_sub(1, std::memory_order_release) == 1) {
    chosen->helpers_inside_.notify_all();
  }
  return true;
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
