#include "pewter/runtime/magazine.h"

namespace pewter::runtime {
namespace {

std::atomic<Magazine*> first_magazine = nullptr;

// Plain data, so that it can be read until the very end of the thread.
thread_local Magazine* own = nullptr;
thread_local bool ended = false;

}  // namespace

/// Gives the thread its magazine, and takes it back when the thread ends.
class MagazineOwner {
 public:
  explicit MagazineOwner(void (*at_end)(Magazine&)) : at_end_(at_end) {
    const std::scoped_lock lock(Magazine::list_mutex());
    Magazine::for_each([](Magazine& magazine) {
      if (own == nullptr && !magazine.owned_.load(std::memory_order_acquire)) {
        own = &magazine;
      }
    });
    if (own == nullptr) {
      own = new Magazine;
      own->next_ = first_magazine.load(std::memory_order_relaxed);
      own->owned_.store(true, std::memory_order_relaxed);
      first_magazine.store(own, std::memory_order_release);
    }
    own->owned_.store(true, std::memory_order_relaxed);
  }

  ~MagazineOwner() {
    Magazine* magazine = own;
    ended = true;
    own = nullptr;
    at_end_(*magazine);
    magazine->lengths_ = {};
    magazine->owned_.store(false, std::memory_order_release);
  }

  MagazineOwner(const MagazineOwner&) = delete;
  MagazineOwner& operator=(const MagazineOwner&) = delete;

 private:
  void (*at_end_)(Magazine&);
};

std::mutex& Magazine::list_mutex() {
  // Never destroyed: threads may come after main.
  static auto* const mutex = new std::mutex;
  return *mutex;
}

Magazine* Magazine::first() {
  return first_magazine.load(std::memory_order_acquire);
}

Magazine* Magazine::current(void (*at_end)(Magazine&)) {
  if (own == nullptr && !ended) {
    thread_local const MagazineOwner owner(at_end);
  }
  return own;
}

Block* Magazine::take(std::size_t length) {
  const std::size_t set = set_of(length);
  for (std::size_t slot = set; slot < set + kWays; ++slot) {
    if (lengths_[slot] == length) {
      lengths_[slot] = 0;
      if (Block* block = slots_[slot].exchange(nullptr, std::memory_order_acquire)) {
        return block;
      }
    }
  }
  return nullptr;
}

Block* Magazine::put(Block* block) {
  const std::size_t set = set_of(block->length);
  for (std::size_t slot = set; slot < set + kWays; ++slot) {
    if (slots_[slot].load(std::memory_order_relaxed) == nullptr) {
      lengths_[slot] = block->length;
      // Others only ever empty a slot, so nothing can be lost.
      slots_[slot].store(block, std::memory_order_release);
      return nullptr;
    }
  }
  const std::size_t slot = set + victim_++ % kWays;
  lengths_[slot] = block->length;
  return slots_[slot].exchange(block, std::memory_order_acq_rel);
}

}  // namespace pewter::runtime
