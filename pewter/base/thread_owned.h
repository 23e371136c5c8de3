#pragma once

#include <pthread.h>

namespace pewter {

/// The calling thread's own `T`, made at its first use.
///
/// It lasts longer than the thread's `thread_local` objects, and the main thread's lasts as long as
/// the process, so that destructors of those and of static objects may use it.
template <typename T>
class ThreadOwned {
 public:
  static T& get() { return own_ != nullptr ? *own_ : create(); }

 private:
  static T& create() {
    static const pthread_key_t key = [] {
      pthread_key_t made = {};
      pthread_key_create(&made, &end);
      return made;
    }();
    own_ = new T;
    // Its destructor is called once the thread's `thread_local` objects are gone, and never for
    // the main thread.
    pthread_setspecific(key, own_);
    return *own_;
  }

  static void end(void* own) {
    // What the destructor does may need another one, which is then made and destroyed in turn.
    own_ = nullptr;
    delete static_cast<T*>(own);
  }

  // Trivial, so that it is there for as long as its thread.
  static constinit inline thread_local T* own_ = nullptr;
};

}  // namespace pewter
