#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include "pewter/runtime/block.h"

namespace pewter::runtime {

/// Gets blocks from the device, or from the host where there is none, and gives them back.
///
/// Requests under 256 bytes come from one shared heap while it has room. Safe to use from any
/// thread.
class BlockSource {
 public:
  /// `device` may be null.
  explicit BlockSource(MTL::Device* device) : device_(device) {}

  /// A block of `length` bytes; null when the system has no more.
  std::unique_ptr<Block> make(std::size_t length);
  /// A block over the caller's memory; null when the device does not take it. `release` is called
  /// at the block's end.
  std::unique_ptr<Block> adopt(void* memory, std::size_t length, std::function<void()> release);
  /// Gives the memory back.
  void end(std::unique_ptr<Block> block);

  /// Gives the heap back when nothing is in it.
  void release_empty_heap();

 private:
  MTL::Buffer* new_heap_buffer(std::size_t length);

  MTL::Device* const device_;
  std::mutex mutex_;  // guards heap_
  NS::SharedPtr<MTL::Heap> heap_;
};

}  // namespace pewter::runtime
