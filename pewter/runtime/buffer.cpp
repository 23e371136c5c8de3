#include "pewter/runtime/buffer.h"

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/block.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/outcome.h"
#include "pewter/runtime/stream.h"

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

void Buffer::set_label(std::string label) const {
  if (block_ != nullptr) {
    BlockDetails& details = block_->ensure_details();
    const std::scoped_lock lock(details.mutex);
    details.label = std::move(label);
  }
}

void Buffer::synchronize() const {
  BlockDetails* details = block_ != nullptr ? block_->details.load() : nullptr;
  if (details == nullptr) {
    return;
  }
  std::vector<BlockDetails::Use> uses;
  {
    const std::scoped_lock lock(details->mutex);
    uses = details->uses;
  }
  for (const BlockDetails::Use& use : uses) {
    if (const auto stream = use.stream.lock()) {
      stream->wait_on_host(use.task);
    } else {
      refuse_bad_fork("[metal::synchronize]");
      use.outcome->wait();
    }
  }
  for (const BlockDetails::Use& use : uses) {
    if (use.writes) {
      use.outcome->raise_unseen();
    }
  }
}

}  // namespace pewter::runtime
