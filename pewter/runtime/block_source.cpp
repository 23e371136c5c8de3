#include "pewter/runtime/block_source.h"

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/release_thread.h"
#include "pewter/runtime/scheduler.h"

namespace pewter::runtime {
namespace {

constexpr std::size_t kSmallSize = 256;
constexpr std::size_t kHeapSize = std::size_t{1} << 20;
constexpr std::size_t kHostAlignment = 128;
constexpr MTL::ResourceOptions kOptions =
    MTL::ResourceStorageModeShared | MTL::ResourceHazardTrackingModeTracked;

std::unique_ptr<Block> block_of(MTL::Buffer* buffer) {
  if (buffer == nullptr) {
    return nullptr;
  }
  auto block = std::make_unique<Block>();
  block->length = buffer->length();
  block->contents = static_cast<std::byte*>(buffer->contents());
  block->metal = buffer;
  return block;
}

}  // namespace

MTL::Buffer* BlockSource::new_heap_buffer(std::size_t length) {
  const std::scoped_lock lock(mutex_);
  if (!heap_) {
    const auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
    descriptor->setResourceOptions(kOptions);
    descriptor->setSize(kHeapSize);
    heap_ = NS::TransferPtr(device_->newHeap(descriptor.get()));
  }
  if (!heap_) {
    return nullptr;
  }
  const MTL::SizeAndAlign need = device_->heapBufferSizeAndAlign(length, kOptions);
  return heap_->maxAvailableSize(need.align) >= need.size ? heap_->newBuffer(length, kOptions)
                                                          : nullptr;
}

std::unique_ptr<Block> BlockSource::make(std::size_t length) {
  if (device_ != nullptr) {
    const AutoreleaseScope scope;
    MTL::Buffer* buffer = length < kSmallSize ? new_heap_buffer(length) : nullptr;
    return block_of(buffer != nullptr ? buffer : device_->newBuffer(length, kOptions));
  }
  const std::size_t reserved = (length + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
  void* memory = std::aligned_alloc(kHostAlignment, reserved);
  if (memory == nullptr) {
    return nullptr;
  }
  auto block = std::make_unique<Block>();
  block->length = length;
  block->contents = static_cast<std::byte*>(memory);
  block->release = [memory] { std::free(memory); };
  return block;
}

std::unique_ptr<Block> BlockSource::adopt(void* memory,
                                          std::size_t length,
                                          std::function<void()> release) {
  std::unique_ptr<Block> block;
  if (device_ != nullptr) {
    // Refused here because it is nobody's mistake: the device would put it into the log.
    const bool is_acceptable = reinterpret_cast<std::uintptr_t>(memory) % page_size() == 0 &&
                               length % page_size() == 0 && length <= device_->maxBufferLength();
    if (!is_acceptable) {
      return nullptr;
    }
    const AutoreleaseScope scope;
    block = block_of(device_->newBuffer(memory, length, kOptions, nullptr));
  } else {
    block = std::make_unique<Block>();
    block->length = length;
    block->contents = static_cast<std::byte*>(memory);
  }
  if (block != nullptr) {
    block->release = std::move(release);
  }
  return block;
}

void BlockSource::end(std::unique_ptr<Block> block) {
  if (block->metal != nullptr) {
    const AutoreleaseScope scope;
    block->metal->release();
  }
  if (!block->release) {
    return;
  }
  if (Scheduler::CompletionScope::is_current()) {
    release_elsewhere(std::move(block->release));
  } else {
    block->release();
  }
}

void BlockSource::release_empty_heap() {
  const std::scoped_lock lock(mutex_);
  if (heap_ && heap_->usedSize() == 0) {
    heap_.reset();
  }
}

}  // namespace pewter::runtime
