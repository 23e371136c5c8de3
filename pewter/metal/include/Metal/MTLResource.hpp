#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLAllocation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Device;
class Heap;

_MTL_ENUM(NS::UInteger, PurgeableState){
    PurgeableStateKeepCurrent = 1,
    PurgeableStateNonVolatile = 2,
    PurgeableStateVolatile = 3,
    PurgeableStateEmpty = 4,
};

_MTL_ENUM(NS::UInteger, CPUCacheMode){
    CPUCacheModeDefaultCache = 0,
    CPUCacheModeWriteCombined = 1,
};

_MTL_ENUM(NS::UInteger, StorageMode){
    StorageModeShared = 0,
    StorageModeManaged = 1,
    StorageModePrivate = 2,
    StorageModeMemoryless = 3,
};

_MTL_ENUM(NS::UInteger, HazardTrackingMode){
    HazardTrackingModeDefault = 0,
    HazardTrackingModeUntracked = 1,
    HazardTrackingModeTracked = 2,
};

_MTL_OPTIONS(NS::UInteger, ResourceOptions){
    ResourceCPUCacheModeDefaultCache = 0,
    ResourceCPUCacheModeWriteCombined = 1,
    ResourceStorageModeShared = 0,
    ResourceStorageModeManaged = 16,
    ResourceStorageModePrivate = 32,
    ResourceStorageModeMemoryless = 48,
    ResourceHazardTrackingModeDefault = 0,
    ResourceHazardTrackingModeUntracked = 256,
    ResourceHazardTrackingModeTracked = 512,
    ResourceOptionCPUCacheModeDefault = 0,
    ResourceOptionCPUCacheModeWriteCombined = 1,
};

/// Memory that kernels read and write.
class _MTL_EXPORT Resource : public NS::Referencing<Resource, Allocation> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);

  Device* device() const;

  MTL::CPUCacheMode cpuCacheMode() const;
  MTL::StorageMode storageMode() const;
  MTL::HazardTrackingMode hazardTrackingMode() const;
  MTL::ResourceOptions resourceOptions() const;

  /// The state before the call. Contents are never dropped unless the state becomes Empty.
  MTL::PurgeableState setPurgeableState(MTL::PurgeableState state);

  /// The heap that this resource is part of; null when it has memory of its own.
  Heap* heap() const;
  NS::UInteger heapOffset() const;

  /// Lets later resources of the heap use the same memory.
  void makeAliasable();
  bool isAliasable();
};

}  // namespace MTL
