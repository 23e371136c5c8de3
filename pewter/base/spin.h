#pragma once

#include <chrono>

namespace pewter {

/// Tells the processor that the thread only waits.
inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// About as long as it takes to wake a sleeping thread, which is when waiting without sleeping
/// pays.
inline constexpr std::chrono::microseconds kSpinTime(40);

/// Waits for `condition` without sleeping. Returns whether it has come true in time.
template <typename Condition>
bool spin_until(Condition condition, std::chrono::microseconds time = kSpinTime) {
  constexpr int kPausesPerClockRead = 64;
  const auto end = std::chrono::steady_clock::now() + time;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (condition()) {
        return true;
      }
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < end);
  return condition();
}

}  // namespace pewter
