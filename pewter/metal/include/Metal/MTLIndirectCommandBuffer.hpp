#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLResource.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class IndirectComputeCommand;

_MTL_OPTIONS(NS::UInteger, IndirectCommandType){
    IndirectCommandTypeDraw = 1,
    IndirectCommandTypeDrawIndexed = 2,
    IndirectCommandTypeDrawPatches = 4,
    IndirectCommandTypeDrawIndexedPatches = 8,
    IndirectCommandTypeConcurrentDispatch = 32,
    IndirectCommandTypeConcurrentDispatchThreads = 64,
    IndirectCommandTypeDrawMeshThreadgroups = 128,
    IndirectCommandTypeDrawMeshThreads = 256,
};

/// What executeCommandsInBuffer reads from its range buffer.
struct IndirectCommandBufferExecutionRange {
  std::uint32_t location;
  std::uint32_t length;
} __attribute__((packed));

class _MTL_EXPORT IndirectCommandBufferDescriptor
    : public NS::Copying<IndirectCommandBufferDescriptor> {
 public:
  static IndirectCommandBufferDescriptor* alloc();
  IndirectCommandBufferDescriptor* init();

  MTL::IndirectCommandType commandTypes() const;
  void setCommandTypes(MTL::IndirectCommandType commandTypes);

  bool inheritPipelineState() const;
  void setInheritPipelineState(bool inheritPipelineState);

  bool inheritBuffers() const;
  void setInheritBuffers(bool inheritBuffers);

  NS::UInteger maxVertexBufferBindCount() const;
  void setMaxVertexBufferBindCount(NS::UInteger maxVertexBufferBindCount);

  NS::UInteger maxFragmentBufferBindCount() const;
  void setMaxFragmentBufferBindCount(NS::UInteger maxFragmentBufferBindCount);

  NS::UInteger maxKernelBufferBindCount() const;
  void setMaxKernelBufferBindCount(NS::UInteger maxKernelBufferBindCount);

  NS::UInteger maxKernelThreadgroupMemoryBindCount() const;
  void setMaxKernelThreadgroupMemoryBindCount(NS::UInteger maxKernelThreadgroupMemoryBindCount);

  NS::UInteger maxObjectBufferBindCount() const;
  void setMaxObjectBufferBindCount(NS::UInteger maxObjectBufferBindCount);

  NS::UInteger maxMeshBufferBindCount() const;
  void setMaxMeshBufferBindCount(NS::UInteger maxMeshBufferBindCount);

  NS::UInteger maxObjectThreadgroupMemoryBindCount() const;
  void setMaxObjectThreadgroupMemoryBindCount(NS::UInteger maxObjectThreadgroupMemoryBindCount);

  bool supportRayTracing() const;
  void setSupportRayTracing(bool supportRayTracing);

  bool supportDynamicAttributeStride() const;
  void setSupportDynamicAttributeStride(bool supportDynamicAttributeStride);
};

/// Dispatches that are encoded once, by the host or by kernels, and executed many times.
///
/// It keeps no references: what its commands use must live while they are executed.
class _MTL_EXPORT IndirectCommandBuffer : public NS::Referencing<IndirectCommandBuffer, Resource> {
 public:
  NS::UInteger size() const;
  MTL::ResourceID gpuResourceID() const;

  void reset(NS::Range range);

  IndirectComputeCommand* indirectComputeCommand(NS::UInteger commandIndex);
};

}  // namespace MTL
