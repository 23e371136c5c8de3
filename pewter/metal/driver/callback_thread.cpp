#include "pewter/metal/driver/callback_thread.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "pewter/base/spin.h"
#include "pewter/base/thread.h"
#include "pewter/metal/foundation/autorelease_pool.h"

namespace pewter::driver {
namespace {

thread_local bool is_callback_thread = false;

}  // namespace

struct CallbackThread::State {
  std::atomic<std::uint32_t> posted = 0;

  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::deque<std::function<void()>> functions;
  bool is_running = false;
  bool is_asleep = false;
  bool is_stopping = false;

  void run() {
    is_callback_thread = true;
    std::unique_lock lock(mutex);
    while (true) {
      if (functions.empty() && is_stopping) {
        return;
      }
      if (functions.empty()) {
        wait(lock);
        continue;
      }
      auto function = std::move(functions.front());
      functions.pop_front();
      lock.unlock();
      {
        foundation::PoolScope pool;
        function();
        // What it holds may be the last reference to the owner of this thread.
        function = nullptr;
      }
      lock.lock();
    }
  }

  void wait(std::unique_lock<std::mutex>& lock) {
    const std::uint32_t seen = posted.load(std::memory_order_relaxed);
    lock.unlock();
    spin_until([&] { return posted.load(std::memory_order_relaxed) != seen; });
    lock.lock();
    is_asleep = true;
    changed.wait(lock, [this] { return !functions.empty() || is_stopping; });
    is_asleep = false;
  }
};

CallbackThread::CallbackThread() : state_(std::make_shared<State>()) {}

CallbackThread::~CallbackThread() {
  std::scoped_lock lock(state_->mutex);
  state_->is_stopping = true;
  state_->posted.fetch_add(1, std::memory_order_relaxed);
  state_->changed.notify_one();
}

void CallbackThread::call(std::function<void()> function) {
  std::scoped_lock lock(state_->mutex);
  state_->functions.push_back(std::move(function));
  state_->posted.fetch_add(1, std::memory_order_relaxed);
  if (state_->is_asleep) {
    state_->changed.notify_one();
  }
  if (!state_->is_running) {
    state_->is_running = true;
    start_thread("pewter-callback", [state = state_] { state->run(); }).detach();
  }
}

bool CallbackThread::is_current() {
  return is_callback_thread;
}

}  // namespace pewter::driver
