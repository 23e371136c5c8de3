#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLCommandEncoder.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class CounterSampleBuffer;
class Fence;
class Resource;

_MTL_OPTIONS(NS::UInteger, BlitOption){
    BlitOptionNone = 0,
    BlitOptionDepthFromDepthStencil = 1,
    BlitOptionStencilFromDepthStencil = 2,
    BlitOptionRowLinearPVRTC = 4,
};

/// Records copies and fills.
class _MTL_EXPORT BlitCommandEncoder : public NS::Referencing<BlitCommandEncoder, CommandEncoder> {
 public:
  void synchronizeResource(const Resource* resource);

  void fillBuffer(const Buffer* buffer, NS::Range range, std::uint8_t value);
  void copyFromBuffer(const Buffer* sourceBuffer,
                      NS::UInteger sourceOffset,
                      const Buffer* destinationBuffer,
                      NS::UInteger destinationOffset,
                      NS::UInteger size);

  void updateFence(const Fence* fence);
  void waitForFence(const Fence* fence);

  void sampleCountersInBuffer(const CounterSampleBuffer* sampleBuffer,
                              NS::UInteger sampleIndex,
                              bool barrier);
  void resolveCounters(const CounterSampleBuffer* sampleBuffer,
                       NS::Range range,
                       const Buffer* destinationBuffer,
                       NS::UInteger destinationOffset);
};

}  // namespace MTL
