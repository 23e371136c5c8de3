#include "pewter/runtime/wired_memory.h"

#include <vector>

#include "pewter/base/log.h"
#include "pewter/runtime/autorelease_scope.h"

namespace pewter::runtime {

#if PEWTER_RESIDENCY_SETS

void WiredMemory::set_limit(std::size_t limit, Block* first) {
  limit_ = limit;
  if (device_ == nullptr) {
    return;
  }
  const AutoreleaseScope scope;
  if (limit_ > 0 && !set_) {
    const auto descriptor = NS::TransferPtr(MTL::ResidencySetDescriptor::alloc()->init());
    NS::Error* error = nullptr;
    set_ = NS::TransferPtr(device_->newResidencySet(descriptor.get(), &error));
    if (!set_) {
      logging::detail("runtime", "the device has no residency sets; the wired limit has no effect");
      return;
    }
    set_->requestResidency();
  }
  if (!set_) {
    return;
  }
  // Those made last go first.
  if (bytes_ > limit_) {
    std::vector<Block*> wired;
    for (Block* block = first; block != nullptr; block = block->next_made) {
      if (block->is_wired) {
        wired.push_back(block);
      }
    }
    for (; bytes_ > limit_ && !wired.empty(); wired.pop_back()) {
      unwire(wired.back());
    }
  } else {
    for (Block* block = first; block != nullptr; block = block->next_made) {
      wire(block);
    }
  }
  commit();
}

void WiredMemory::add(Block* block) {
  if (set_ && wire(block)) {
    commit();
  }
}

void WiredMemory::remove(Block* block) {
  if (block->is_wired) {
    unwire(block);
    commit();
  }
}

bool WiredMemory::wire(Block* block) {
  // A heap is resident as a whole or not at all.
  if (block->is_wired || block->metal == nullptr || block->metal->heap() != nullptr ||
      block->length > limit_ - bytes_) {
    return false;
  }
  set_->addAllocation(block->metal);
  bytes_ += block->length;
  block->is_wired = true;
  return true;
}

void WiredMemory::unwire(Block* block) {
  set_->removeAllocation(block->metal);
  bytes_ -= block->length;
  block->is_wired = false;
}

void WiredMemory::commit() {
  const AutoreleaseScope scope;
  set_->commit();
}

#else

void WiredMemory::set_limit(std::size_t limit, Block*) {
  limit_ = limit;
}

void WiredMemory::add(Block*) {}

void WiredMemory::remove(Block*) {}

#endif

}  // namespace pewter::runtime
