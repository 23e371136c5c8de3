#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLAllocation.hpp"
#include "MTLDefines.hpp"
#include "MTLDevice.hpp"
#include "MTLResource.hpp"

namespace MTL {

class Buffer;
class Texture;
class TextureDescriptor;

_MTL_ENUM(NS::Integer, HeapType){
    HeapTypeAutomatic = 0,
    HeapTypePlacement = 1,
    HeapTypeSparse = 2,
};

class _MTL_EXPORT HeapDescriptor : public NS::Copying<HeapDescriptor> {
 public:
  static HeapDescriptor* alloc();
  HeapDescriptor* init();

  NS::UInteger size() const;
  void setSize(NS::UInteger size);

  MTL::StorageMode storageMode() const;
  void setStorageMode(MTL::StorageMode storageMode);

  MTL::CPUCacheMode cpuCacheMode() const;
  void setCpuCacheMode(MTL::CPUCacheMode cpuCacheMode);

  MTL::SparsePageSize sparsePageSize() const;
  void setSparsePageSize(MTL::SparsePageSize sparsePageSize);

  MTL::HazardTrackingMode hazardTrackingMode() const;
  void setHazardTrackingMode(MTL::HazardTrackingMode hazardTrackingMode);

  MTL::ResourceOptions resourceOptions() const;
  void setResourceOptions(MTL::ResourceOptions resourceOptions);

  MTL::HeapType type() const;
  void setType(MTL::HeapType type);
};

/// A block of memory from which buffers are taken.
class _MTL_EXPORT Heap : public NS::Referencing<Heap, Allocation> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);

  Device* device() const;

  MTL::StorageMode storageMode() const;
  MTL::CPUCacheMode cpuCacheMode() const;
  MTL::HazardTrackingMode hazardTrackingMode() const;
  MTL::ResourceOptions resourceOptions() const;
  MTL::HeapType type() const;

  NS::UInteger size() const;
  NS::UInteger usedSize() const;
  NS::UInteger currentAllocatedSize() const;
  /// The largest resource of that alignment that still fits.
  NS::UInteger maxAvailableSize(NS::UInteger alignment);

  /// Null when the heap is full, or when `options` differ from the heap's.
  Buffer* newBuffer(NS::UInteger length, MTL::ResourceOptions options);
  /// At a given place; placement heaps only.
  Buffer* newBuffer(NS::UInteger length, MTL::ResourceOptions options, NS::UInteger offset);

  Texture* newTexture(const TextureDescriptor* descriptor);
  Texture* newTexture(const TextureDescriptor* descriptor, NS::UInteger offset);

  MTL::PurgeableState setPurgeableState(MTL::PurgeableState state);
};

}  // namespace MTL
