#include "pewter/runtime/release_thread.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

#include "pewter/base/process_instance.h"
#include "pewter/base/thread.h"
#include "pewter/runtime/autorelease_scope.h"

namespace pewter::runtime {
namespace {

// Trivial, so that it is there for as long as its thread.
thread_local bool is_release_thread = false;

class ReleaseThread {
 public:
  /// Returns false, and leaves `release` as it is, when no thread can be started.
  bool add(std::function<void()>& release) {
    const std::scoped_lock lock(mutex_);
    if (!is_running_) {
      is_running_ = start_detached_thread(
          "pewter-release", [this] { run(); }, "adopted memory is released where tasks complete");
    }
    if (is_running_) {
      releases_.push_back(std::move(release));
      changed_.notify_all();
    }
    return is_running_;
  }

  /// Waits a while for what was handed over.
  void finish() {
    // The program may end in the hands of one that they wait for.
    constexpr std::chrono::seconds kPatience(2);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return releases_.empty() && !is_releasing_; });
  }

 private:
  void run() noexcept {
    is_release_thread = true;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !releases_.empty(); });
      std::function<void()> release = std::move(releases_.front());
      releases_.pop_front();
      is_releasing_ = true;
      lock.unlock();
      {
        const AutoreleaseScope scope;
        release();
        // What it holds may be the last reference to other memory.
        release = nullptr;
      }
      lock.lock();
      is_releasing_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<std::function<void()>> releases_;
  bool is_running_ = false;
  bool is_releasing_ = false;
};

// Not destroyed, as tasks may complete while the process ends.
constinit ProcessInstance<ReleaseThread> process_thread;

// What is under way may use static objects of the program, which end after this.
void finish_at_exit() {
  ReleaseThread* const thread = process_thread.find();
  if (thread != nullptr && !is_release_thread) {
    thread->finish();
  }
}

}  // namespace

void release_elsewhere(std::function<void()> release) noexcept {
  static const int registered = std::atexit(&finish_at_exit);
  static_cast<void>(registered);
  if (!process_thread.get().add(release)) {
    release();
  }
}

}  // namespace pewter::runtime
