#include "pewter/runtime/buffer.h"

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/block.h"

namespace pewter::runtime {

void Buffer::retain() const noexcept {
  if (block_ != nullptr) {
    block_->shares.fetch_add(1, std::memory_order_relaxed);
  }
}

void Buffer::reset() noexcept {
  Block* block = std::exchange(block_, nullptr);
  if (block != nullptr && block->shares.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Allocator::instance().recycle(block);
  }
}

MTL::Buffer* Buffer::metal() const {
  return block_ != nullptr ? block_->metal : nullptr;
}

std::byte* Buffer::contents() const {
  return block_ != nullptr ? block_->contents : nullptr;
}

std::size_t Buffer::length() const {
  return block_ != nullptr ? block_->length : 0;
}

bool Buffer::unique() const {
  return block_ != nullptr && block_->shares.load(std::memory_order_acquire) == 1;
}

void Buffer::set_label(std::string) const {}

void Buffer::synchronize() const {}

}  // namespace pewter::runtime
