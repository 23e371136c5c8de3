#include <pewter/memory.h>

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/memory_report.h"
#include "pewter/runtime/memory_scope.h"

namespace pewter {

using runtime::allocator;

std::size_t get_active_memory() {
  return allocator().active();
}

std::size_t get_peak_memory() {
  return allocator().peak();
}

void reset_peak_memory() {
  allocator().reset_peak();
}

std::size_t get_cache_memory() {
  return allocator().cached();
}

std::size_t set_memory_limit(std::size_t limit, bool relaxed) {
  return allocator().set_memory_limit(limit, relaxed);
}

std::size_t get_memory_limit() {
  return allocator().memory_limit();
}

std::size_t set_cache_limit(std::size_t limit) {
  return allocator().set_cache_limit(limit);
}

std::size_t set_wired_limit(std::size_t limit) {
  return allocator().set_wired_limit(limit);
}

std::size_t detail::byte_limit(const char* function, long long limit) {
  if (limit < 0) {
    throw std::invalid_argument(
        fmt::format("[metal::{}] limit of {} bytes is negative", function, limit));
  }
  return static_cast<std::size_t>(limit);
}

void clear_cache() {
  allocator().clear_cache();
}

std::size_t set_hard_memory_limit(std::size_t limit) {
  return allocator().set_hard_limit(limit);
}

std::size_t get_hard_memory_limit() {
  return allocator().hard_limit();
}

MemorySnapshot memory_snapshot() {
  return runtime::memory_snapshot();
}

void record_allocation_stacks(bool on) {
  allocator().record_stacks(on);
}

MemoryReconciliation reconcile_memory() {
  return runtime::reconcile_memory();
}

std::string to_text(const MemorySnapshot& snapshot) {
  return runtime::to_text(snapshot);
}

std::string to_json(const MemorySnapshot& snapshot) {
  return runtime::to_json(snapshot);
}

std::string to_text(const MemoryScopeReport& report) {
  return runtime::to_text(report);
}

std::string to_json(const MemoryScopeReport& report) {
  return runtime::to_json(report);
}

struct MemoryScope::State {
  explicit State(std::string name) : scope(std::move(name)) {}

  runtime::MemoryScope scope;
};

MemoryScope::MemoryScope(std::string name) : state_(std::make_unique<State>(std::move(name))) {}

MemoryScope::~MemoryScope() = default;

MemoryScopeReport MemoryScope::report() const {
  return state_->scope.report();
}

}  // namespace pewter
