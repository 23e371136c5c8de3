#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLCommandBuffer.hpp"
#include "MTLCommandEncoder.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class ComputePipelineState;
class CounterSampleBuffer;
class Fence;
class Heap;
class IndirectCommandBuffer;
class Resource;
class SamplerState;
class Texture;
class VisibleFunctionTable;

struct DispatchThreadgroupsIndirectArguments {
  std::uint32_t threadgroupsPerGrid[3];
};

struct DispatchThreadsIndirectArguments {
  std::uint32_t threadsPerGrid[3];
  std::uint32_t threadsPerThreadgroup[3];
};

struct StageInRegionIndirectArguments {
  std::uint32_t stageInOrigin[3];
  std::uint32_t stageInSize[3];
};

/// Records dispatches of kernels.
class _MTL_EXPORT ComputeCommandEncoder
    : public NS::Referencing<ComputeCommandEncoder, CommandEncoder> {
 public:
  MTL::DispatchType dispatchType() const;

  void setComputePipelineState(const ComputePipelineState* state);

  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setBufferOffset(NS::UInteger offset, NS::UInteger index);
  void setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);

  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger stride, NS::UInteger index);
  void setBuffer(const Buffer* buffer,
                 NS::UInteger offset,
                 NS::UInteger stride,
                 NS::UInteger index);
  void setBufferOffset(NS::UInteger offset, NS::UInteger stride, NS::UInteger index);
  void setBuffers(const Buffer* const buffers[],
                  const NS::UInteger* offsets,
                  const NS::UInteger* strides,
                  NS::Range range);

  void setVisibleFunctionTable(const VisibleFunctionTable* visibleFunctionTable,
                               NS::UInteger bufferIndex);
  void setVisibleFunctionTables(const VisibleFunctionTable* const visibleFunctionTables[],
                                NS::Range range);

  void setTexture(const Texture* texture, NS::UInteger index);
  void setTextures(const Texture* const textures[], NS::Range range);
  void setSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setSamplerStates(const SamplerState* const samplers[], NS::Range range);
  void setSamplerState(const SamplerState* sampler,
                       float lodMinClamp,
                       float lodMaxClamp,
                       NS::UInteger index);
  void setSamplerStates(const SamplerState* const samplers[],
                        const float lodMinClamps[],
                        const float lodMaxClamps[],
                        NS::Range range);

  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index);

  void setImageblockWidth(NS::UInteger width, NS::UInteger height);
  void setStageInRegion(MTL::Region region);
  void setStageInRegion(const Buffer* indirectBuffer, NS::UInteger indirectBufferOffset);

  void dispatchThreadgroups(MTL::Size threadgroupsPerGrid, MTL::Size threadsPerThreadgroup);
  void dispatchThreadgroups(const Buffer* indirectBuffer,
                            NS::UInteger indirectBufferOffset,
                            MTL::Size threadsPerThreadgroup);
  void dispatchThreads(MTL::Size threadsPerGrid, MTL::Size threadsPerThreadgroup);

  /// Commands are read when they run, so that kernels before may have written them.
  void executeCommandsInBuffer(const IndirectCommandBuffer* indirectCommandBuffer,
                               NS::Range executionRange);
  void executeCommandsInBuffer(const IndirectCommandBuffer* indirectCommandbuffer,
                               const Buffer* indirectRangeBuffer,
                               NS::UInteger indirectBufferOffset);

  void updateFence(const Fence* fence);
  void waitForFence(const Fence* fence);

  void useResource(const Resource* resource, MTL::ResourceUsage usage);
  void useResources(const Resource* const resources[],
                    NS::UInteger count,
                    MTL::ResourceUsage usage);
  void useHeap(const Heap* heap);
  void useHeaps(const Heap* const heaps[], NS::UInteger count);

  void memoryBarrier(MTL::BarrierScope scope);
  void memoryBarrier(const Resource* const resources[], NS::UInteger count);

  void sampleCountersInBuffer(const CounterSampleBuffer* sampleBuffer,
                              NS::UInteger sampleIndex,
                              bool barrier);
};

}  // namespace MTL
