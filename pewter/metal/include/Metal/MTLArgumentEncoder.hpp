#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class Buffer;
class ComputePipelineState;
class Device;
class IndirectCommandBuffer;
class SamplerState;
class Texture;
class VisibleFunctionTable;

static const NS::UInteger AttributeStrideStatic = NS::UIntegerMax;

/// Writes the members of an argument buffer.
///
/// An argument buffer is the plain structure that the kernel declares: pointers are eight-byte
/// addresses and every member lies where a C structure would have it, so it can as well be filled
/// through Buffer::contents().
class _MTL_EXPORT ArgumentEncoder : public NS::Referencing<ArgumentEncoder> {
 public:
  Device* device() const;

  NS::String* label() const;
  void setLabel(const NS::String* label);

  NS::UInteger encodedLength() const;
  NS::UInteger alignment() const;

  void setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger offset);
  void setArgumentBuffer(const Buffer* argumentBuffer,
                         NS::UInteger startOffset,
                         NS::UInteger arrayElement);

  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);

  void setTexture(const Texture* texture, NS::UInteger index);
  void setTextures(const Texture* const textures[], NS::Range range);
  void setSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setSamplerStates(const SamplerState* const samplers[], NS::Range range);

  void setComputePipelineState(const ComputePipelineState* pipeline, NS::UInteger index);
  void setComputePipelineStates(const ComputePipelineState* const pipelines[], NS::Range range);
  void setIndirectCommandBuffer(const IndirectCommandBuffer* indirectCommandBuffer,
                                NS::UInteger index);
  void setIndirectCommandBuffers(const IndirectCommandBuffer* const buffers[], NS::Range range);
  void setVisibleFunctionTable(const VisibleFunctionTable* visibleFunctionTable,
                               NS::UInteger index);
  void setVisibleFunctionTables(const VisibleFunctionTable* const visibleFunctionTables[],
                                NS::Range range);

  /// Where the bytes of a constant member go; null when there is no such member.
  void* constantData(NS::UInteger index);
};

}  // namespace MTL
