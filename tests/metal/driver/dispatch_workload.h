#pragma once

#include <cstdint>

#include "tests/metal/driver/command_support.h"

namespace pewter::driver::test {

/// Dispatches with and without barriers, small and large, recorded and run on a queue of their own:
/// what is counted where the steady state must cost nothing.
class DispatchWorkload {
 public:
  explicit DispatchWorkload(Commands& gpu) : gpu_(gpu) {
    // Only looked up from here on, which several threads may do.
    for (const char* name : {"add_one", "append", "reverse_groups"}) {
      gpu_.pipeline(name);
    }
  }

  /// A small dispatch, a large one, and one of groups with a barrier.
  void encode(MTL::ComputeCommandEncoder* encoder) {
    const std::uint32_t value = 7;
    encoder->setComputePipelineState(gpu_.pipeline("append"));
    encoder->setBuffer(list_.get(), 0, 0);
    encoder->setBytes(&value, sizeof(value), 1);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    encoder->setComputePipelineState(gpu_.pipeline("add_one"));
    encoder->setBuffer(numbers_.get(), 0, 0);
    encoder->dispatchThreads(MTL::Size(kNumbers, 1, 1), MTL::Size(256, 1, 1));
    encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    encoder->setComputePipelineState(gpu_.pipeline("reverse_groups"));
    encoder->setThreadgroupMemoryLength(64 * sizeof(std::uint32_t), 0);
    encoder->setThreadgroupMemoryLength(64 * sizeof(std::uint32_t), 1);
    encoder->dispatchThreads(MTL::Size(4096, 1, 1), MTL::Size(64, 1, 1));
    encoder->memoryBarrier(MTL::BarrierScopeBuffers);
  }

  /// A whole command buffer, from its making to its end: `repeats` times the dispatches, in a
  /// concurrent encoder when that is even. Whoever does not wait leaves it all to workers.
  void run(int repeats, bool waits) {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    static_cast<std::uint32_t*>(list_->contents())[0] = 0;
    MTL::CommandBuffer* commands = queue_->commandBuffer();
    auto* encoder = commands->computeCommandEncoder(repeats % 2 == 0 ? MTL::DispatchTypeConcurrent
                                                                     : MTL::DispatchTypeSerial);
    for (int i = 0; i < repeats; ++i) {
      encode(encoder);
    }
    encoder->endEncoding();
    if (!waits) {
      commands->encodeSignalEvent(event_.get(), ++value_);
    }
    commands->commit();
    if (waits) {
      commands->waitUntilCompleted();
    } else {
      has_finished_ = event_->waitUntilSignaledValue(value_, 60000) && has_finished_;
    }
    runs_ += static_cast<std::uint32_t>(repeats);
  }

  /// Whether all that was run has had its effect.
  bool is_right() const {
    const auto numbers = values_of(numbers_.get());
    return has_finished_ && numbers.back() == runs_ && list_of(list_.get()).back() == 7;
  }

 private:
  static constexpr std::size_t kNumbers = 200'000;

  Commands& gpu_;
  NS::SharedPtr<MTL::CommandQueue> queue_ = gpu_.new_queue();
  NS::SharedPtr<MTL::Buffer> list_ = gpu_.buffer(std::vector<std::uint32_t>(400));
  NS::SharedPtr<MTL::Buffer> numbers_ = gpu_.buffer(std::vector<std::uint32_t>(kNumbers));
  NS::SharedPtr<MTL::SharedEvent> event_ = NS::TransferPtr(gpu_.device()->newSharedEvent());
  std::uint64_t value_ = 0;
  std::uint32_t runs_ = 0;
  bool has_finished_ = true;
};

}  // namespace pewter::driver::test
