#pragma once

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace pewter::executor {

/// The one `T` of this process, made at first use and never destroyed, so that threads may outlive
/// main.
///
/// After fork() the child has none of its parent's threads, so it gets a `T` of its own; the
/// parent's is left as it is.
template <typename T>
class ProcessInstance {
 public:
  static T& get() {
    T* instance = current_.load(std::memory_order_acquire);
    return instance != nullptr ? *instance : create();
  }

 private:
  static T& create() {
    static const int registered = pthread_atfork(nullptr, nullptr, &forget);
    static_cast<void>(registered);
    T* made = new T;
    T* expected = nullptr;
    if (current_.compare_exchange_strong(expected, made)) {
      return *made;
    }
    // Another thread was faster. Its instance counts.
    delete made;
    return *expected;
  }

  static void forget() { current_.store(nullptr); }

  static constinit inline std::atomic<T*> current_ = nullptr;
};

}  // namespace pewter::executor
