#include "pewter/runtime/allocator.h"

#include <fmt/format.h>
#include <pewter/errors.h>

#include <atomic>
#include <cstdlib>

#include "pewter/runtime/block.h"
#include "pewter/runtime/device.h"

namespace pewter::runtime {

struct Allocator::State {
  std::atomic<std::size_t> active = 0;
  std::atomic<std::size_t> peak = 0;
  std::atomic<std::size_t> memory_limit = 0;
  std::atomic<std::size_t> cache_limit = 0;
  std::atomic<std::size_t> wired_limit = 0;
};

Allocator::Allocator() : state_(std::make_unique<State>()) {}
Allocator::~Allocator() = default;

Allocator& Allocator::instance() {
  static auto* const instance = new Allocator;
  return *instance;
}

Buffer Allocator::allocate(std::size_t size) {
  if (size == 0) {
    return {};
  }
  auto* metal = device()->newBuffer(
      size, MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeUntracked);
  if (metal == nullptr) {
    throw OutOfMemoryError(fmt::format("[malloc] out of memory: {} bytes", size));
  }
  auto* block = new Block;
  block->shares = 1;
  block->length = size;
  block->metal = metal;
  block->contents = static_cast<std::byte*>(metal->contents());
  state_->active += size;
  return Buffer::from_block(block);
}

Buffer Allocator::adopt(void* memory, std::size_t size, std::function<void()> release) {
  auto* metal = device()->newBuffer(memory, size, MTL::ResourceStorageModeShared, nullptr);
  if (metal == nullptr) {
    return {};
  }
  auto* block = new Block;
  block->shares = 1;
  block->length = size;
  block->metal = metal;
  block->contents = static_cast<std::byte*>(memory);
  block->release = std::move(release);
  state_->active += size;
  return Buffer::from_block(block);
}

void Allocator::recycle(Block* block) noexcept {
  state_->active -= block->length;
  block->metal->release();
  if (block->release) {
    block->release();
  }
  delete block;
}

std::size_t Allocator::active() const {
  return state_->active;
}
std::size_t Allocator::cached() const {
  return 0;
}
std::size_t Allocator::peak() const {
  return state_->peak;
}
std::size_t Allocator::driver_total() const {
  return device_available() ? device()->currentAllocatedSize() : state_->active.load();
}
void Allocator::reset_peak() {
  state_->peak = 0;
}
std::size_t Allocator::memory_limit() const {
  return state_->memory_limit;
}
std::size_t Allocator::set_memory_limit(std::size_t limit, bool) {
  return state_->memory_limit.exchange(limit);
}
std::size_t Allocator::set_cache_limit(std::size_t limit) {
  return state_->cache_limit.exchange(limit);
}
std::size_t Allocator::set_wired_limit(std::size_t limit) {
  return state_->wired_limit.exchange(limit);
}
void Allocator::set_memory_fraction(double) {}
void Allocator::clear_cache() {}

}  // namespace pewter::runtime
