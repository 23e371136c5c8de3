#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLAllocation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Device;

class _MTL_EXPORT ResidencySetDescriptor : public NS::Copying<ResidencySetDescriptor> {
 public:
  static ResidencySetDescriptor* alloc();
  ResidencySetDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  NS::UInteger initialCapacity() const;
  void setInitialCapacity(NS::UInteger initialCapacity);
};

/// Allocations that are to stay in the device's memory. Additions and removals count from commit()
/// on.
class _MTL_EXPORT ResidencySet : public NS::Referencing<ResidencySet> {
 public:
  Device* device() const;
  NS::String* label() const;

  /// Bytes of the committed allocations.
  std::uint64_t allocatedSize() const;

  void requestResidency();
  void endResidency();

  void addAllocation(const Allocation* allocation);
  void addAllocations(const Allocation* const allocations[], NS::UInteger count);
  void removeAllocation(const Allocation* allocation);
  void removeAllocations(const Allocation* const allocations[], NS::UInteger count);
  void removeAllAllocations();

  bool containsAllocation(const Allocation* anAllocation);
  NS::Array* allAllocations() const;
  NS::UInteger allocationCount() const;

  void commit();
};

}  // namespace MTL
