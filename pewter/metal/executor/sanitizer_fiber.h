#pragma once

#include <cstddef>

#include "pewter/base/sanitizer.h"

#if PEWTER_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#if PEWTER_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace pewter::executor {

/// What the sanitizers must know about a stack that a thread changes to; nothing in other builds.
///
/// leave_to() stands right before the jump, arrive() right behind it, on the other stack.
class SanitizerFiber {
 public:
#if PEWTER_ADDRESS_SANITIZER
  void set_stack(const void* bottom, std::size_t bytes) {
    bottom_ = bottom;
    bytes_ = bytes;
  }
  void leave_to(SanitizerFiber& next) {
    __sanitizer_start_switch_fiber(&fake_stack_, next.bottom_, next.bytes_);
  }
  /// As leave_to(), for a stack that will not be used again.
  void finish_to(SanitizerFiber& next) {
    __sanitizer_start_switch_fiber(nullptr, next.bottom_, next.bytes_);
    fake_stack_ = nullptr;
  }
  /// For the thread's own stack: learns its bounds from the place that was left.
  void arrive() { __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr); }
  void arrive_from(SanitizerFiber& origin) {
    __sanitizer_finish_switch_fiber(fake_stack_, &origin.bottom_, &origin.bytes_);
  }
  void forget() { fake_stack_ = nullptr; }

 private:
  void* fake_stack_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
#elif PEWTER_THREAD_SANITIZER
  SanitizerFiber() = default;
  ~SanitizerFiber() {
    if (owned_ != nullptr) {
      __tsan_destroy_fiber(owned_);
    }
  }
  SanitizerFiber(const SanitizerFiber&) = delete;
  SanitizerFiber& operator=(const SanitizerFiber&) = delete;

  void set_stack(const void*, std::size_t) {
    if (owned_ == nullptr) {
      owned_ = __tsan_create_fiber(0);
      fiber_ = owned_;
    }
  }
  void leave_to(SanitizerFiber& next) {
    if (owned_ == nullptr) {
      fiber_ = __tsan_get_current_fiber();
    }
    __tsan_switch_to_fiber(next.fiber_, 0);
  }
  void finish_to(SanitizerFiber& next) { leave_to(next); }
  void arrive() {}
  void arrive_from(SanitizerFiber&) {}
  void forget() {}

 private:
  void* fiber_ = nullptr;
  void* owned_ = nullptr;
#else
  void set_stack(const void*, std::size_t) {}
  void leave_to(SanitizerFiber&) {}
  void finish_to(SanitizerFiber&) {}
  void arrive() {}
  void arrive_from(SanitizerFiber&) {}
  void forget() {}
#endif
};

}  // namespace pewter::executor
