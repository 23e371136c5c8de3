#pragma once

#include <Foundation/Foundation.hpp>
#include <functional>

#include "MTLArgument.hpp"
#include "MTLDefines.hpp"
#include "MTLResource.hpp"
#include "MTLTexture.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class ArgumentEncoder;
class BinaryArchive;
class BinaryArchiveDescriptor;
class Buffer;
class CommandQueue;
class CommandQueueDescriptor;
class CompileOptions;
class ComputePipelineDescriptor;
class ComputePipelineReflection;
class ComputePipelineState;
class CounterSampleBuffer;
class CounterSampleBufferDescriptor;
class Device;
class Event;
class Fence;
class Function;
class Heap;
class HeapDescriptor;
class IndirectCommandBuffer;
class IndirectCommandBufferDescriptor;
class Library;
class LogState;
class LogStateDescriptor;
class ResidencySet;
class ResidencySetDescriptor;
class SamplerDescriptor;
class SamplerState;
class SharedEvent;
class SharedEventHandle;

_MTL_ENUM(NS::UInteger, FeatureSet){
    FeatureSet_iOS_GPUFamily1_v1 = 0,
    FeatureSet_iOS_GPUFamily2_v1 = 1,
    FeatureSet_iOS_GPUFamily1_v2 = 2,
    FeatureSet_iOS_GPUFamily2_v2 = 3,
    FeatureSet_iOS_GPUFamily3_v1 = 4,
    FeatureSet_iOS_GPUFamily1_v3 = 5,
    FeatureSet_iOS_GPUFamily2_v3 = 6,
    FeatureSet_iOS_GPUFamily3_v2 = 7,
    FeatureSet_iOS_GPUFamily1_v4 = 8,
    FeatureSet_iOS_GPUFamily2_v4 = 9,
    FeatureSet_iOS_GPUFamily3_v3 = 10,
    FeatureSet_iOS_GPUFamily4_v1 = 11,
    FeatureSet_iOS_GPUFamily1_v5 = 12,
    FeatureSet_iOS_GPUFamily2_v5 = 13,
    FeatureSet_iOS_GPUFamily3_v4 = 14,
    FeatureSet_iOS_GPUFamily4_v2 = 15,
    FeatureSet_iOS_GPUFamily5_v1 = 16,
    FeatureSet_macOS_GPUFamily1_v1 = 10000,
    FeatureSet_OSX_GPUFamily1_v1 = 10000,
    FeatureSet_macOS_GPUFamily1_v2 = 10001,
    FeatureSet_OSX_GPUFamily1_v2 = 10001,
    FeatureSet_macOS_ReadWriteTextureTier2 = 10002,
    FeatureSet_OSX_ReadWriteTextureTier2 = 10002,
    FeatureSet_macOS_GPUFamily1_v3 = 10003,
    FeatureSet_macOS_GPUFamily1_v4 = 10004,
    FeatureSet_macOS_GPUFamily2_v1 = 10005,
    FeatureSet_watchOS_GPUFamily1_v1 = 20000,
    FeatureSet_WatchOS_GPUFamily1_v1 = 20000,
    FeatureSet_watchOS_GPUFamily2_v1 = 20001,
    FeatureSet_WatchOS_GPUFamily2_v1 = 20001,
    FeatureSet_tvOS_GPUFamily1_v1 = 30000,
    FeatureSet_TVOS_GPUFamily1_v1 = 30000,
    FeatureSet_tvOS_GPUFamily1_v2 = 30001,
    FeatureSet_tvOS_GPUFamily1_v3 = 30002,
    FeatureSet_tvOS_GPUFamily2_v1 = 30003,
    FeatureSet_tvOS_GPUFamily1_v4 = 30004,
    FeatureSet_tvOS_GPUFamily2_v2 = 30005,
};

_MTL_ENUM(NS::Integer, GPUFamily){
    GPUFamilyApple1 = 1001,       GPUFamilyApple2 = 1002,       GPUFamilyApple3 = 1003,
    GPUFamilyApple4 = 1004,       GPUFamilyApple5 = 1005,       GPUFamilyApple6 = 1006,
    GPUFamilyApple7 = 1007,       GPUFamilyApple8 = 1008,       GPUFamilyApple9 = 1009,
    GPUFamilyApple10 = 1010,      GPUFamilyMac1 = 2001,         GPUFamilyMac2 = 2002,
    GPUFamilyCommon1 = 3001,      GPUFamilyCommon2 = 3002,      GPUFamilyCommon3 = 3003,
    GPUFamilyMacCatalyst1 = 4001, GPUFamilyMacCatalyst2 = 4002, GPUFamilyMetal3 = 5001,
    GPUFamilyMetal4 = 5002,
};

_MTL_ENUM(NS::UInteger, DeviceLocation){
    DeviceLocationBuiltIn = 0,
    DeviceLocationSlot = 1,
    DeviceLocationExternal = 2,
    DeviceLocationUnspecified = NS::UIntegerMax,
};

_MTL_OPTIONS(NS::UInteger, PipelineOption){
    PipelineOptionNone = 0,
    PipelineOptionArgumentInfo = 1,
    PipelineOptionBindingInfo = 1,
    PipelineOptionBufferTypeInfo = 2,
    PipelineOptionFailOnBinaryArchiveMiss = 4,
};

_MTL_ENUM(NS::UInteger, ReadWriteTextureTier){
    ReadWriteTextureTierNone = 0,
    ReadWriteTextureTier1 = 1,
    ReadWriteTextureTier2 = 2,
};

_MTL_ENUM(NS::UInteger, ArgumentBuffersTier){
    ArgumentBuffersTier1 = 0,
    ArgumentBuffersTier2 = 1,
};

_MTL_ENUM(NS::Integer, SparsePageSize){
    SparsePageSize16 = 101,
    SparsePageSize64 = 102,
    SparsePageSize256 = 103,
};

_MTL_ENUM(NS::UInteger, CounterSamplingPoint){
    CounterSamplingPointAtStageBoundary = 0,    CounterSamplingPointAtDrawBoundary = 1,
    CounterSamplingPointAtDispatchBoundary = 2, CounterSamplingPointAtTileDispatchBoundary = 3,
    CounterSamplingPointAtBlitBoundary = 4,
};

struct SizeAndAlign {
  NS::UInteger size;
  NS::UInteger align;
};

/// Describes one member of an argument buffer.
class _MTL_EXPORT ArgumentDescriptor : public NS::Copying<ArgumentDescriptor> {
 public:
  static ArgumentDescriptor* alloc();
  ArgumentDescriptor* init();
  static ArgumentDescriptor* argumentDescriptor();

  MTL::DataType dataType() const;
  void setDataType(MTL::DataType dataType);

  NS::UInteger index() const;
  void setIndex(NS::UInteger index);

  NS::UInteger arrayLength() const;
  void setArrayLength(NS::UInteger arrayLength);

  MTL::BindingAccess access() const;
  void setAccess(MTL::BindingAccess access);

  MTL::TextureType textureType() const;
  void setTextureType(MTL::TextureType textureType);

  NS::UInteger constantBlockAlignment() const;
  void setConstantBlockAlignment(NS::UInteger constantBlockAlignment);
};

class _MTL_EXPORT Architecture : public NS::Copying<Architecture> {
 public:
  static Architecture* alloc();
  Architecture* init();

  NS::String* name() const;
};

using DeviceNotificationName = NS::String*;

_MTL_CONST(DeviceNotificationName, DeviceWasAddedNotification);
_MTL_CONST(DeviceNotificationName, DeviceRemovalRequestedNotification);
_MTL_CONST(DeviceNotificationName, DeviceWasRemovedNotification);

using DeviceNotificationHandlerFunction =
    std::function<void(Device* pDevice, DeviceNotificationName notifyName)>;
using AutoreleasedComputePipelineReflection = ComputePipelineReflection*;
using NewLibraryCompletionHandlerFunction = std::function<void(Library*, NS::Error*)>;
using NewComputePipelineStateCompletionHandlerFunction =
    std::function<void(ComputePipelineState*, NS::Error*)>;
using NewComputePipelineStateWithReflectionCompletionHandlerFunction =
    std::function<void(ComputePipelineState*, ComputePipelineReflection*, NS::Error*)>;
using NewBufferDeallocatorFunction = std::function<void(void* pointer, NS::UInteger length)>;

using Timestamp = std::uint64_t;

/// The software device, which the caller releases; null when PEWTER_DEVICE=none.
_MTL_EXPORT Device* CreateSystemDefaultDevice();
/// Every device, in an array that the caller releases.
_MTL_EXPORT NS::Array* CopyAllDevices();
/// The same; devices neither come nor go, so `handler` is never called.
_MTL_EXPORT NS::Array* CopyAllDevicesWithObserver(NS::Object** pOutObserver,
                                                  const DeviceNotificationHandlerFunction& handler);
_MTL_EXPORT void RemoveDeviceObserver(const NS::Object* pObserver);

/// The software device. Safe to use from any thread.
class _MTL_EXPORT Device : public NS::Referencing<Device> {
 public:
  NS::String* name() const;
  std::uint64_t registryID() const;
  Architecture* architecture() const;

  MTL::Size maxThreadsPerThreadgroup() const;
  NS::UInteger maxThreadgroupMemoryLength() const;
  NS::UInteger maxBufferLength() const;
  std::uint64_t recommendedMaxWorkingSetSize() const;
  std::uint64_t maxTransferRate() const;
  NS::UInteger maxArgumentBufferSamplerCount() const;
  /// Bytes of all live buffers and heaps.
  NS::UInteger currentAllocatedSize() const;

  bool lowPower() const;
  bool isLowPower() const;
  bool headless() const;
  bool isHeadless() const;
  bool removable() const;
  bool isRemovable() const;
  bool hasUnifiedMemory() const;
  MTL::DeviceLocation location() const;
  NS::UInteger locationNumber() const;
  std::uint64_t peerGroupID() const;
  std::uint32_t peerIndex() const;
  std::uint32_t peerCount() const;

  bool supportsFamily(MTL::GPUFamily gpuFamily);
  bool supportsFeatureSet(MTL::FeatureSet featureSet);
  MTL::ArgumentBuffersTier argumentBuffersSupport() const;
  MTL::ReadWriteTextureTier readWriteTextureSupport() const;
  bool areRasterOrderGroupsSupported() const;
  bool rasterOrderGroupsSupported() const;
  bool supports32BitFloatFiltering() const;
  bool supports32BitMSAA() const;
  bool supportsQueryTextureLOD() const;
  bool supportsBCTextureCompression() const;
  bool supportsPullModelInterpolation() const;
  bool supportsShaderBarycentricCoordinates() const;
  bool supportsTextureSampleCount(NS::UInteger sampleCount);
  bool supportsRasterizationRateMap(NS::UInteger layerCount);
  bool supportsVertexAmplificationCount(NS::UInteger count);
  bool supportsDynamicLibraries() const;
  bool supportsRenderDynamicLibraries() const;
  bool supportsRaytracing() const;
  bool supportsRaytracingFromRender() const;
  bool supportsPrimitiveMotionBlur() const;
  bool supportsFunctionPointers() const;
  bool supportsFunctionPointersFromRender() const;

  bool shouldMaximizeConcurrentCompilation() const;
  void setShouldMaximizeConcurrentCompilation(bool shouldMaximizeConcurrentCompilation);
  NS::UInteger maximumConcurrentCompilationTaskCount() const;

  CommandQueue* newCommandQueue();
  CommandQueue* newCommandQueue(NS::UInteger maxCommandBufferCount);
  CommandQueue* newCommandQueue(const CommandQueueDescriptor* descriptor);

  /// Zero-filled. Null when `length` is 0 or passes maxBufferLength().
  Buffer* newBuffer(NS::UInteger length, MTL::ResourceOptions options);
  /// Holds a copy of `length` bytes.
  Buffer* newBuffer(const void* pointer, NS::UInteger length, MTL::ResourceOptions options);
  /// Uses the caller's memory, whose address and length are multiples of the page size, without a
  /// copy; `deallocator` is called when the buffer no longer needs it, and may be empty.
  Buffer* newBuffer(const void* pointer,
                    NS::UInteger length,
                    MTL::ResourceOptions options,
                    const NewBufferDeallocatorFunction& deallocator);

  /// Zero-filled. Null, with the reason in the log, when the device has no such texture.
  Texture* newTexture(const TextureDescriptor* descriptor);
  SamplerState* newSamplerState(const SamplerDescriptor* descriptor);
  NS::UInteger minimumLinearTextureAlignmentForPixelFormat(MTL::PixelFormat format);
  NS::UInteger minimumTextureBufferAlignmentForPixelFormat(MTL::PixelFormat format);
  MTL::SizeAndAlign heapTextureSizeAndAlign(const TextureDescriptor* desc);

  MTL::SizeAndAlign heapBufferSizeAndAlign(NS::UInteger length, MTL::ResourceOptions options);
  Heap* newHeap(const HeapDescriptor* descriptor);
  ResidencySet* newResidencySet(const ResidencySetDescriptor* desc, NS::Error** error);

  Library* newDefaultLibrary();
  Library* newDefaultLibrary(const NS::Bundle* bundle, NS::Error** error);
  Library* newLibrary(const NS::String* filepath, NS::Error** error);
  Library* newLibrary(const NS::URL* url, NS::Error** error);
  Library* newLibrary(const dispatch_data_t data, NS::Error** error);
  Library* newLibrary(const NS::String* source, const CompileOptions* options, NS::Error** error);
  /// The handler runs on a thread of the driver.
  void newLibrary(const NS::String* pSource,
                  const CompileOptions* pOptions,
                  const NewLibraryCompletionHandlerFunction& completionHandler);

  ComputePipelineState* newComputePipelineState(const Function* computeFunction, NS::Error** error);
  ComputePipelineState* newComputePipelineState(
      const Function* computeFunction,
      MTL::PipelineOption options,
      const AutoreleasedComputePipelineReflection* reflection,
      NS::Error** error);
  ComputePipelineState* newComputePipelineState(
      const ComputePipelineDescriptor* descriptor,
      MTL::PipelineOption options,
      const AutoreleasedComputePipelineReflection* reflection,
      NS::Error** error);
  void newComputePipelineState(
      const Function* pFunction,
      const NewComputePipelineStateCompletionHandlerFunction& completionHandler);
  void newComputePipelineState(
      const Function* pFunction,
      MTL::PipelineOption options,
      const NewComputePipelineStateWithReflectionCompletionHandlerFunction& completionHandler);
  void newComputePipelineState(
      const ComputePipelineDescriptor* pDescriptor,
      MTL::PipelineOption options,
      const NewComputePipelineStateWithReflectionCompletionHandlerFunction& completionHandler);

  ArgumentEncoder* newArgumentEncoder(const NS::Array* arguments);
  ArgumentEncoder* newArgumentEncoder(const BufferBinding* bufferBinding);

  /// For `maxCount` commands. Null, with the reason in the log, when the descriptor asks for what
  /// the device does not have.
  IndirectCommandBuffer* newIndirectCommandBuffer(const IndirectCommandBufferDescriptor* descriptor,
                                                  NS::UInteger maxCount,
                                                  MTL::ResourceOptions options);

  /// Empty when the descriptor has no URL; otherwise what is in the file.
  BinaryArchive* newBinaryArchive(const BinaryArchiveDescriptor* descriptor, NS::Error** error);

  Fence* newFence();
  Event* newEvent();
  SharedEvent* newSharedEvent();
  SharedEvent* newSharedEvent(const SharedEventHandle* sharedEventHandle);

  LogState* newLogState(const LogStateDescriptor* descriptor, NS::Error** error);

  NS::Array* counterSets() const;
  bool supportsCounterSampling(MTL::CounterSamplingPoint samplingPoint);
  CounterSampleBuffer* newCounterSampleBuffer(const CounterSampleBufferDescriptor* descriptor,
                                              NS::Error** error);
  /// Nanoseconds of the clock that command buffer times count in.
  void sampleTimestamps(MTL::Timestamp* cpuTimestamp, MTL::Timestamp* gpuTimestamp);
};

}  // namespace MTL
