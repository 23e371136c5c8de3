#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLPipeline.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;
class Function;
class FunctionHandle;
class LinkedFunctions;
class VisibleFunctionTable;
class VisibleFunctionTableDescriptor;

/// What a kernel expects to be bound.
class _MTL_EXPORT ComputePipelineReflection : public NS::Referencing<ComputePipelineReflection> {
 public:
  static ComputePipelineReflection* alloc();
  ComputePipelineReflection* init();

  /// Of MTL::Binding.
  NS::Array* bindings() const;
  /// Of MTL::Argument, the older form of the same.
  NS::Array* arguments() const;
};

class _MTL_EXPORT ComputePipelineDescriptor : public NS::Copying<ComputePipelineDescriptor> {
 public:
  static ComputePipelineDescriptor* alloc();
  ComputePipelineDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  Function* computeFunction() const;
  void setComputeFunction(const Function* computeFunction);

  bool threadGroupSizeIsMultipleOfThreadExecutionWidth() const;
  void setThreadGroupSizeIsMultipleOfThreadExecutionWidth(
      bool threadGroupSizeIsMultipleOfThreadExecutionWidth);

  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  void setMaxTotalThreadsPerThreadgroup(NS::UInteger maxTotalThreadsPerThreadgroup);

  PipelineBufferDescriptorArray* buffers() const;

  bool supportIndirectCommandBuffers() const;
  void setSupportIndirectCommandBuffers(bool supportIndirectCommandBuffers);

  NS::Array* insertLibraries() const;
  void setInsertLibraries(const NS::Array* insertLibraries);

  NS::Array* preloadedLibraries() const;
  void setPreloadedLibraries(const NS::Array* preloadedLibraries);

  NS::Array* binaryArchives() const;
  void setBinaryArchives(const NS::Array* binaryArchives);

  LinkedFunctions* linkedFunctions() const;
  void setLinkedFunctions(const LinkedFunctions* linkedFunctions);

  bool supportAddingBinaryFunctions() const;
  void setSupportAddingBinaryFunctions(bool supportAddingBinaryFunctions);

  NS::UInteger maxCallStackDepth() const;
  void setMaxCallStackDepth(NS::UInteger maxCallStackDepth);

  MTL::ShaderValidation shaderValidation() const;
  void setShaderValidation(MTL::ShaderValidation shaderValidation);

  void reset();
};

/// A compiled kernel, ready to be dispatched.
class _MTL_EXPORT ComputePipelineState : public NS::Referencing<ComputePipelineState> {
 public:
  NS::String* label() const;
  Device* device() const;

  NS::UInteger maxTotalThreadsPerThreadgroup() const;
  NS::UInteger threadExecutionWidth() const;
  NS::UInteger staticThreadgroupMemoryLength() const;
  NS::UInteger imageblockMemoryLength(MTL::Size imageblockDimensions);

  bool supportIndirectCommandBuffers() const;
  MTL::ResourceID gpuResourceID() const;
  MTL::ShaderValidation shaderValidation() const;

  /// A function that the pipeline is linked with; null when it is not.
  FunctionHandle* functionHandle(const Function* function);
  FunctionHandle* functionHandle(const NS::String* name);
  /// The same pipeline, linked with more functions; its tables serve this one as well.
  ComputePipelineState* newComputePipelineState(const NS::Array* functions, NS::Error** error);
  VisibleFunctionTable* newVisibleFunctionTable(const VisibleFunctionTableDescriptor* descriptor);
};

}  // namespace MTL
