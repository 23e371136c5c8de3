#include "pewter/metal/foundation/object_memory.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <new>

namespace pewter::foundation::object_memory {
namespace {

constexpr std::size_t kClassBytes = 64;
constexpr std::size_t kClasses = 32;
constexpr std::size_t kKept = 16;

/// In front of each object; as long as the strictest alignment of operator new.
struct alignas(std::max_align_t) Prefix {
  std::uint32_t size_class;
};

std::size_t class_of(std::size_t bytes) {
  return (bytes + kClassBytes - 1) / kClassBytes;
}

/// Free memory of one size. A slot is taken and filled with one exchange each, so nobody waits.
class Shelf {
 public:
  void* take() {
    for (std::atomic<void*>& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) != nullptr) {
        if (void* memory = slot.exchange(nullptr, std::memory_order_acquire)) {
          return memory;
        }
      }
    }
    return nullptr;
  }

  bool put(void* memory) {
    for (std::atomic<void*>& slot : slots_) {
      void* expected = nullptr;
      if (slot.load(std::memory_order_relaxed) == nullptr &&
          slot.compare_exchange_strong(expected, memory, std::memory_order_release,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }

 private:
  std::array<std::atomic<void*>, kKept> slots_{};
};

// Never destroyed: objects of static duration end after this file's statics would.
constinit std::array<Shelf, kClasses> shelves{};

}  // namespace

void* allocate(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes);
  void* memory = size_class < kClasses ? shelves[size_class].take() : nullptr;
  if (memory == nullptr) {
    memory = ::operator new(sizeof(Prefix) + size_class * kClassBytes);
    new (memory) Prefix{static_cast<std::uint32_t>(size_class)};
  }
  return static_cast<std::byte*>(memory) + sizeof(Prefix);
}

void free(void* memory) noexcept {
  if (memory == nullptr) {
    return;
  }
  void* begin = static_cast<std::byte*>(memory) - sizeof(Prefix);
  const std::uint32_t size_class = std::launder(static_cast<Prefix*>(begin))->size_class;
  if (size_class >= kClasses || !shelves[size_class].put(begin)) {
    ::operator delete(begin);
  }
}

}  // namespace pewter::foundation::object_memory
