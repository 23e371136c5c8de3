#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLCommandEncoder.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class CounterSampleBuffer;
class Fence;
class IndirectCommandBuffer;
class Resource;
class Texture;

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

  void synchronizeTexture(const Texture* texture, NS::UInteger slice, NS::UInteger level);
  void copyFromTexture(const Texture* sourceTexture,
                       NS::UInteger sourceSlice,
                       NS::UInteger sourceLevel,
                       MTL::Origin sourceOrigin,
                       MTL::Size sourceSize,
                       const Texture* destinationTexture,
                       NS::UInteger destinationSlice,
                       NS::UInteger destinationLevel,
                       MTL::Origin destinationOrigin);
  void copyFromBuffer(const Buffer* sourceBuffer,
                      NS::UInteger sourceOffset,
                      NS::UInteger sourceBytesPerRow,
                      NS::UInteger sourceBytesPerImage,
                      MTL::Size sourceSize,
                      const Texture* destinationTexture,
                      NS::UInteger destinationSlice,
                      NS::UInteger destinationLevel,
                      MTL::Origin destinationOrigin);
  void copyFromBuffer(const Buffer* sourceBuffer,
                      NS::UInteger sourceOffset,
                      NS::UInteger sourceBytesPerRow,
                      NS::UInteger sourceBytesPerImage,
                      MTL::Size sourceSize,
                      const Texture* destinationTexture,
                      NS::UInteger destinationSlice,
                      NS::UInteger destinationLevel,
                      MTL::Origin destinationOrigin,
                      MTL::BlitOption options);
  void copyFromTexture(const Texture* sourceTexture,
                       NS::UInteger sourceSlice,
                       NS::UInteger sourceLevel,
                       MTL::Origin sourceOrigin,
                       MTL::Size sourceSize,
                       const Buffer* destinationBuffer,
                       NS::UInteger destinationOffset,
                       NS::UInteger destinationBytesPerRow,
                       NS::UInteger destinationBytesPerImage);
  void copyFromTexture(const Texture* sourceTexture,
                       NS::UInteger sourceSlice,
                       NS::UInteger sourceLevel,
                       MTL::Origin sourceOrigin,
                       MTL::Size sourceSize,
                       const Buffer* destinationBuffer,
                       NS::UInteger destinationOffset,
                       NS::UInteger destinationBytesPerRow,
                       NS::UInteger destinationBytesPerImage,
                       MTL::BlitOption options);
  void copyFromTexture(const Texture* sourceTexture,
                       NS::UInteger sourceSlice,
                       NS::UInteger sourceLevel,
                       const Texture* destinationTexture,
                       NS::UInteger destinationSlice,
                       NS::UInteger destinationLevel,
                       NS::UInteger sliceCount,
                       NS::UInteger levelCount);
  void copyFromTexture(const Texture* sourceTexture, const Texture* destinationTexture);
  /// Makes each level from the one before, the mean of its texels.
  void generateMipmaps(const Texture* texture);
  void optimizeContentsForGPUAccess(const Texture* texture);
  void optimizeContentsForGPUAccess(const Texture* texture, NS::UInteger slice, NS::UInteger level);
  void optimizeContentsForCPUAccess(const Texture* texture);
  void optimizeContentsForCPUAccess(const Texture* texture, NS::UInteger slice, NS::UInteger level);

  void resetCommandsInBuffer(const IndirectCommandBuffer* buffer, NS::Range range);
  void copyIndirectCommandBuffer(const IndirectCommandBuffer* source,
                                 NS::Range sourceRange,
                                 const IndirectCommandBuffer* destination,
                                 NS::UInteger destinationIndex);
  void optimizeIndirectCommandBuffer(const IndirectCommandBuffer* indirectCommandBuffer,
                                     NS::Range range);

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
