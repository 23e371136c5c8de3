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

struct CallbackThread::State : std::enable_shared_from_this<State> {
  // How often the thread was woken, and how many functions came.
  std::atomic<std::uint32_t> wakes = 0;
  std::atomic<std::uint32_t> arrivals = 0;

  std::mutex mutex;  // guards the members below
  std::condition_variable changed_for_helpers;
  std::uint32_t helpers_asleep = 0;
  std::deque<std::function<void()>> functions;
  bool is_calling = false;
  bool is_running = false;
  bool is_stopping = false;

  bool can_call() const { return !functions.empty() && !is_calling; }

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      if (can_call()) {
        call_next(lock);
      } else if (functions.empty() && is_stopping) {
        return;
      } else {
        wait(lock);
      }
    }
  }

  void call_next(std::unique_lock<std::mutex>& lock) {
    auto function = std::move(functions.front());
    functions.pop_front();
    is_calling = true;
    lock.unlock();
    {
      foundation::PoolScope pool;
      is_callback_thread = true;
      call_once(function);
      is_callback_thread = false;
    }
    lock.lock();
    is_calling = false;
    notify_helpers();
  }

  /// There is nobody to tell of an exception. What the function holds goes with it.
  static void call_once(std::function<void()>& function) noexcept {
    function();
    // It may be the last reference to the owner of this thread.
    function = nullptr;
  }

  void wait(std::unique_lock<std::mutex>& lock) {
    const std::uint32_t seen = wakes.load(std::memory_order_relaxed);
    lock.unlock();
    if (!spin_until([&] { return wakes.load(std::memory_order_relaxed) != seen; })) {
      wakes.wait(seen);
    }
    lock.lock();
  }

  void help_until_zero(const std::atomic<std::uint32_t>& pending) {
    const auto is_zero = [&] { return pending.load(std::memory_order_acquire) == 0; };
    std::unique_lock lock(mutex);
    while (!is_zero()) {
      if (can_call()) {
        call_next(lock);
        continue;
      }
      const std::uint32_t seen = arrivals.load(std::memory_order_relaxed);
      lock.unlock();
      spin_until([&] { return is_zero() || arrivals.load(std::memory_order_relaxed) != seen; });
      lock.lock();
      ++helpers_asleep;
      changed_for_helpers.wait(lock, [&] { return is_zero() || can_call(); });
      --helpers_asleep;
    }
    // The rest is the thread's.
    if (can_call()) {
      wake();
    }
  }

  void notify_helpers() {
    if (helpers_asleep > 0) {
      changed_for_helpers.notify_all();
    }
  }

  void stop() {
    const std::scoped_lock lock(mutex);
    is_stopping = true;
    if (is_running || can_call()) {
      wake();
    }
  }

  /// Sees to it that the thread calls what is there. With the mutex held.
  void wake() {
    wakes.fetch_add(1);
    wakes.notify_one();
    if (!is_running) {
      // Without a thread the next function tries again, and threads that wait call what is there.
      is_running = start_detached_thread(
          "pewter-callback", [state = shared_from_this()] { state->run(); },
          "handlers are called by threads that wait");
    }
  }
};

CallbackThread::SharedState::SharedState() : state(std::make_shared<State>()) {}

CallbackThread::~CallbackThread() {
  if (SharedState* const shared = states_.find()) {
    shared->state->stop();
  }
  states_.destroy();
}

void CallbackThread::call(std::function<void()> function, Caller caller) {
  State& own = *states_.get().state;
  std::scoped_lock lock(own.mutex);
  own.functions.push_back(std::move(function));
  own.arrivals.fetch_add(1, std::memory_order_relaxed);
  own.notify_helpers();
  if (caller == Caller::Thread) {
    own.wake();
  }
}

void CallbackThread::help_until_zero(const std::atomic<std::uint32_t>& pending) {
  // A function may drop the last reference to this.
  const std::shared_ptr<State> own = states_.get().state;
  own->help_until_zero(pending);
}

bool CallbackThread::is_current() {
  return is_callback_thread;
}

}  // namespace pewter::driver
