#include "pewter/runtime/release_thread.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <utility>

#include "pewter/base/thread.h"
#include "pewter/runtime/autorelease_scope.h"

namespace pewter::runtime {
namespace {

// Trivial, so that it is there for as long as its thread.
thread_local bool is_release_thread = false;

class ReleaseThread {
 public:
  /// That of this process: a forked child has none of its parent's threads, nor what was handed to
  /// them. That of the parent stays as its thread has left it, perhaps locked for ever.
  static ReleaseThread& instance() {
    ReleaseThread* known = instance_.load(std::memory_order_acquire);
    while (known == nullptr || known->made_in_ != fork_generation()) {
      // Never destroyed: tasks may complete while the process ends.
      auto* const made = new ReleaseThread;
      if (instance_.compare_exchange_strong(known, made)) {
        return *made;
      }
      delete made;
    }
    return *known;
  }

  /// Returns false, and leaves `release` as it is, when no thread can be started.
  bool add(std::function<void()>& release) {
    static const int registered = std::atexit(&finish_at_exit);
    static_cast<void>(registered);
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

 private:
  // Those that are under way may use static objects of the program, which end after this.
  static void finish_at_exit() {
    ReleaseThread* const known = instance_.load(std::memory_order_acquire);
    if (known != nullptr && known->made_in_ == fork_generation() && !is_release_thread) {
      // The program may end in the hands of one that they wait for.
      constexpr std::chrono::seconds kPatience(2);
      std::unique_lock lock(known->mutex_);
      known->changed_.wait_for(lock, kPatience,
                               [&] { return known->releases_.empty() && !known->is_releasing_; });
    }
  }

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

  static constinit inline std::atomic<ReleaseThread*> instance_ = nullptr;

  const std::uint32_t made_in_ = fork_generation();
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<std::function<void()>> releases_;
  bool is_running_ = false;
  bool is_releasing_ = false;
};

}  // namespace

void release_elsewhere(std::function<void()> release) noexcept {
  if (!ReleaseThread::instance().add(release)) {
    release();
  }
}

}  // namespace pewter::runtime
