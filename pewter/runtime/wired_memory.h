#pragma once

#include <Metal/Metal.hpp>
#include <cstddef>

#include "pewter/runtime/block.h"

// Metal has had residency sets since macOS 15; before, the limit is only remembered.
#if __has_include(<Metal/MTLResidencySet.hpp>)
#define PEWTER_RESIDENCY_SETS 1
#else
#define PEWTER_RESIDENCY_SETS 0
#endif

namespace pewter::runtime {

/// Keeps buffers resident, in the order in which they were made, up to a limit.
///
/// Not safe for several threads: the allocator's mutex guards it.
class WiredMemory {
 public:
  /// `device` may be null; then nothing is ever wired.
  explicit WiredMemory(MTL::Device* device) : device_(device) {}

  /// `first` is the block that was made first; `next_made` leads on from it.
  void set_limit(std::size_t limit, Block* first);
  /// Wires a block that was just made, if it fits.
  void add(Block* block);
  /// Forgets a block that is about to end.
  void remove(Block* block);

  std::size_t bytes() const { return bytes_; }

 private:
  bool wire(Block* block);
  void unwire(Block* block);
  void commit();

  MTL::Device* const device_;
#if PEWTER_RESIDENCY_SETS
  NS::SharedPtr<MTL::ResidencySet> set_;
#endif
  std::size_t limit_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace pewter::runtime
