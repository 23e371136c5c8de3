#include "pewter/metal/driver/background.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "pewter/base/process_instance.h"
#include "pewter/metal/executor/executor.h"
#include "pewter/metal/foundation/autorelease_pool.h"

namespace pewter::driver {
namespace {

/// Threads that are started as tasks come, up to one for each core.
class TaskQueue {
 public:
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

  /// Finishes what runs and drops what waits.
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

 private:
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

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

// In a forked child, what waits for the parent's threads is the parent's to do.
constinit ProcessInstance<TaskQueue> process_queue;

// No task may outlive the program's statics.
void end_at_exit() {
  if (TaskQueue* const queue = process_queue.find()) {
    queue->end();
  }
}

}  // namespace

void run_in_background(std::function<void()> task) {
  static const int registered = std::atexit(&end_at_exit);
  static_cast<void>(registered);
  process_queue.get().add(std::move(task));
}

}  // namespace pewter::driver
