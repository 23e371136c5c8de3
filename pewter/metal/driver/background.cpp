#include "pewter/metal/driver/background.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "pewter/base/thread.h"
#include "pewter/metal/executor/executor.h"
#include "pewter/metal/foundation/autorelease_pool.h"

namespace pewter::driver {
namespace {

/// Threads that are started as tasks come, up to one for each core.
class TaskQueue {
 public:
  /// That of this process: a forked child has none of its parent's threads, and what waits for them
  /// there is the parent's to do. The parent's stays in the child as it was, perhaps locked for
  /// ever.
  static TaskQueue& instance() {
    static const int registered = std::atexit(&end_at_exit);
    static_cast<void>(registered);
    TaskQueue* known = instance_.load(std::memory_order_acquire);
    while (known == nullptr || known->made_in_ != fork_generation()) {
      auto* const made = new TaskQueue;
      if (instance_.compare_exchange_strong(known, made)) {
        return *made;
      }
      delete made;
    }
    return *known;
  }

  void add(std::function<void()> task) {
    std::scoped_lock lock(mutex_);
    if (stopping_) {
      return;
    }
    tasks_.push_back(std::move(task));
    if (idle_ < tasks_.size() && threads_.size() < executor::thread_count()) {
      threads_.emplace_back([this] { work(); });
    }
    changed_.notify_one();
  }

 private:
  // What runs is finished and what waits is dropped, so that no task outlives the program's
  // statics.
  static void end_at_exit() {
    TaskQueue* const known = instance_.load(std::memory_order_acquire);
    if (known != nullptr && known->made_in_ == fork_generation()) {
      known->end();
    }
  }

  void end() {
    {
      std::scoped_lock lock(mutex_);
      stopping_ = true;
      changed_.notify_all();
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      changed_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
      --idle_;
      if (stopping_) {
        return;
      }
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      {
        foundation::PoolScope pool;
        task();
        task = nullptr;
      }
      lock.lock();
    }
  }

  static constinit inline std::atomic<TaskQueue*> instance_ = nullptr;

  const std::uint32_t made_in_ = fork_generation();
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace

void run_in_background(std::function<void()> task) {
  TaskQueue::instance().add(std::move(task));
}

}  // namespace pewter::driver
