#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "pewter/base/thread.h"

namespace pewter {

/// A `T` for each process, made there at first use.
///
/// After fork() the child has none of its parent's threads, so it gets a `T` of its own; the
/// parent's stays in the child as it was, perhaps locked for ever. Nothing is destroyed unless
/// destroy() is called, so that threads may outlive main. Safe to use from any thread.
template <typename T>
class ProcessInstance {
 public:
  constexpr ProcessInstance() = default;
  ProcessInstance(const ProcessInstance&) = delete;
  ProcessInstance& operator=(const ProcessInstance&) = delete;

  T& get() {
    Instance* known = current_.load(std::memory_order_acquire);
    while (known == nullptr || !known->is_ours()) {
      auto made = std::make_unique<Instance>();
      // When another thread is faster, its instance counts.
      if (current_.compare_exchange_strong(known, made.get())) {
        return made.release()->value;
      }
    }
    return known->value;
  }

  /// Null when this process has made none.
  T* find() {
    Instance* const known = current_.load(std::memory_order_acquire);
    return known != nullptr && known->is_ours() ? &known->value : nullptr;
  }

  /// Destroys that of this process, which nobody may use any more.
  void destroy() {
    if (find() != nullptr) {
      delete current_.exchange(nullptr);
    }
  }

 private:
  struct Instance {
    bool is_ours() const { return made_in == fork_generation(); }

    const std::uint32_t made_in = fork_generation();
    T value;
  };

  std::atomic<Instance*> current_ = nullptr;
};

}  // namespace pewter
