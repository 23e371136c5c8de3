#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

_MTL_ENUM(NS::UInteger, Mutability){
    MutabilityDefault = 0,
    MutabilityMutable = 1,
    MutabilityImmutable = 2,
};

_MTL_ENUM(NS::Integer, ShaderValidation){
    ShaderValidationDefault = 0,
    ShaderValidationEnabled = 1,
    ShaderValidationDisabled = 2,
};

class _MTL_EXPORT PipelineBufferDescriptor : public NS::Copying<PipelineBufferDescriptor> {
 public:
  static PipelineBufferDescriptor* alloc();
  PipelineBufferDescriptor* init();

  MTL::Mutability mutability() const;
  void setMutability(MTL::Mutability mutability);
};

/// One descriptor for each buffer index; made when first asked for.
class _MTL_EXPORT PipelineBufferDescriptorArray
    : public NS::Referencing<PipelineBufferDescriptorArray> {
 public:
  static PipelineBufferDescriptorArray* alloc();
  PipelineBufferDescriptorArray* init();

  PipelineBufferDescriptor* object(NS::UInteger bufferIndex);
  void setObject(const PipelineBufferDescriptor* buffer, NS::UInteger bufferIndex);
};

}  // namespace MTL
