#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

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

/// How often threads were asked to make room.
inline constinit std::atomic<std::uint32_t> room_requests = 0;

/// Asks threads that are idle to leave their cores to others of the process.
inline void request_room() {
  room_requests.fetch_add(1);
}

/// Waits for `condition` without sleeping, as idle threads do: they give up early when another
/// thread needs the core. Returns whether the condition has come true in time.
template <typename Condition>
bool spin_idly_until(Condition condition, std::chrono::microseconds time = kSpinTime) {
  const std::uint32_t seen = room_requests.load(std::memory_order_relaxed);
  bool is_true = false;
  spin_until(
      [&] {
        is_true = condition();
        return is_true || room_requests.load(std::memory_order_relaxed) != seen;
      },
      time);
  return is_true;
}

}  // namespace pewter
