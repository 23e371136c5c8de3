#pragma once

#include <cstddef>
#include <new>

namespace pewter::graph {

/// Memory for one node, from what nodes left behind on this thread where there is some. All callers
/// must ask for the same number of bytes.
void* take_node_memory(std::size_t bytes);

/// Keeps a node's memory for the next one.
void leave_node_memory(void* memory) noexcept;

/// An allocator of single nodes. Expressions of thousands of nodes come and go at a time, which
/// malloc merges into larger pieces and takes apart again.
template <typename T>
struct NodeMemory {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard asks for it

  NodeMemory() = default;
  template <typename Other>
  NodeMemory(const NodeMemory<Other>& /*other*/) {}

  T* allocate(std::size_t count) {
    if (count != 1) {
      throw std::bad_array_new_length();
    }
    return static_cast<T*>(take_node_memory(sizeof(T)));
  }
  void deallocate(T* memory, std::size_t /*count*/) { leave_node_memory(memory); }

  template <typename Other>
  bool operator==(const NodeMemory<Other>& /*other*/) const {
    return true;
  }
};

}  // namespace pewter::graph
