#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class ComputePipelineState;

/// One dispatch of an indirect command buffer.
class _MTL_EXPORT IndirectComputeCommand : public NS::Referencing<IndirectComputeCommand> {
 public:
  /// The pipeline must have been made with supportIndirectCommandBuffers.
  void setComputePipelineState(const ComputePipelineState* pipelineState);

  void setKernelBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setKernelBuffer(const Buffer* buffer,
                       NS::UInteger offset,
                       NS::UInteger stride,
                       NS::UInteger index);

  void concurrentDispatchThreadgroups(MTL::Size threadgroupsPerGrid,
                                      MTL::Size threadsPerThreadgroup);
  void concurrentDispatchThreads(MTL::Size threadsPerGrid, MTL::Size threadsPerThreadgroup);

  void setBarrier();
  void clearBarrier();

  void setImageblockWidth(NS::UInteger width, NS::UInteger height);
  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index);
  void setStageInRegion(MTL::Region region);

  void reset();
};

}  // namespace MTL
