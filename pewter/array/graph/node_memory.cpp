#include "pewter/array/graph/node_memory.h"

#include <cstdint>
#include <utility>

#include "pewter/base/sanitizer.h"

namespace pewter::graph {
namespace {

// Under a sanitizer nodes are really freed, so that it can tell who still looks at them.
constexpr std::uint32_t kMaxKept = PEWTER_ADDRESS_SANITIZER || PEWTER_THREAD_SANITIZER ? 0 : 4096;

struct Kept {
  Kept* next;
};

// Trivial, so that they are there for nodes that die after the objects of their thread.
thread_local Kept* first = nullptr;
thread_local std::uint32_t count = 0;
thread_local bool is_thread_ending = false;

/// Frees what is kept when the thread ends.
struct Release {
  ~Release() {
    is_thread_ending = true;
    while (first != nullptr) {
      ::operator delete(std::exchange(first, first->next));
    }
    count = 0;
  }
};

}  // namespace

void* take_node_memory(std::size_t bytes) {
  if (first == nullptr) {
    return ::operator new(bytes);
  }
  --count;
  return std::exchange(first, first->next);
}

void leave_node_memory(void* memory) noexcept {
  if (count >= kMaxKept || is_thread_ending) {
    ::operator delete(memory);
    return;
  }
  const thread_local Release release;
  first = new (memory) Kept{first};
  ++count;
}

}  // namespace pewter::graph
