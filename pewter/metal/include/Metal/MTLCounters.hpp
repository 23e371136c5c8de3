#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLResource.hpp"

namespace MTL {

class Device;

struct CounterResultTimestamp {
  std::uint64_t timestamp;
};

struct CounterResultStageUtilization {
  std::uint64_t totalCycles;
  std::uint64_t vertexCycles;
  std::uint64_t tessellationCycles;
  std::uint64_t postTessellationVertexCycles;
  std::uint64_t fragmentCycles;
  std::uint64_t renderTargetCycles;
};

struct CounterResultStatistic {
  std::uint64_t tessellationInputPatches;
  std::uint64_t vertexInvocations;
  std::uint64_t postTessellationVertexInvocations;
  std::uint64_t clipperInvocations;
  std::uint64_t clipperPrimitivesOut;
  std::uint64_t fragmentInvocations;
  std::uint64_t fragmentsPassed;
  std::uint64_t computeKernelInvocations;
};

_MTL_CONST(NS::ErrorDomain, CounterErrorDomain);

using CommonCounter = NS::String*;

_MTL_CONST(CommonCounter, CommonCounterTimestamp);
_MTL_CONST(CommonCounter, CommonCounterTessellationInputPatches);
_MTL_CONST(CommonCounter, CommonCounterVertexInvocations);
_MTL_CONST(CommonCounter, CommonCounterPostTessellationVertexInvocations);
_MTL_CONST(CommonCounter, CommonCounterClipperInvocations);
_MTL_CONST(CommonCounter, CommonCounterClipperPrimitivesOut);
_MTL_CONST(CommonCounter, CommonCounterFragmentInvocations);
_MTL_CONST(CommonCounter, CommonCounterFragmentsPassed);
_MTL_CONST(CommonCounter, CommonCounterComputeKernelInvocations);
_MTL_CONST(CommonCounter, CommonCounterTotalCycles);
_MTL_CONST(CommonCounter, CommonCounterVertexCycles);
_MTL_CONST(CommonCounter, CommonCounterTessellationCycles);
_MTL_CONST(CommonCounter, CommonCounterPostTessellationVertexCycles);
_MTL_CONST(CommonCounter, CommonCounterFragmentCycles);
_MTL_CONST(CommonCounter, CommonCounterRenderTargetWriteCycles);

using CommonCounterSet = NS::String*;

_MTL_CONST(CommonCounterSet, CommonCounterSetTimestamp);
_MTL_CONST(CommonCounterSet, CommonCounterSetStageUtilization);
_MTL_CONST(CommonCounterSet, CommonCounterSetStatistic);

_MTL_ENUM(NS::Integer, CounterSampleBufferError){
    CounterSampleBufferErrorOutOfMemory = 0,
    CounterSampleBufferErrorInvalid = 1,
    CounterSampleBufferErrorInternal = 2,
};

const NS::UInteger CounterErrorValue = ~NS::UInteger(0);
const NS::UInteger CounterDontSample = NS::UIntegerMax;

class _MTL_EXPORT Counter : public NS::Referencing<Counter> {
 public:
  NS::String* name() const;
};

class _MTL_EXPORT CounterSet : public NS::Referencing<CounterSet> {
 public:
  NS::String* name() const;
  NS::Array* counters() const;
};

class _MTL_EXPORT CounterSampleBufferDescriptor
    : public NS::Copying<CounterSampleBufferDescriptor> {
 public:
  static CounterSampleBufferDescriptor* alloc();
  CounterSampleBufferDescriptor* init();

  CounterSet* counterSet() const;
  void setCounterSet(const CounterSet* counterSet);

  NS::String* label() const;
  void setLabel(const NS::String* label);

  MTL::StorageMode storageMode() const;
  void setStorageMode(MTL::StorageMode storageMode);

  NS::UInteger sampleCount() const;
  void setSampleCount(NS::UInteger sampleCount);
};

/// Times that encoders take, in nanoseconds of the clock of Device::sampleTimestamps.
class _MTL_EXPORT CounterSampleBuffer : public NS::Referencing<CounterSampleBuffer> {
 public:
  Device* device() const;
  NS::String* label() const;
  NS::UInteger sampleCount() const;
  /// A CounterResultTimestamp for each sample; CounterErrorValue where none was taken.
  NS::Data* resolveCounterRange(NS::Range range);
};

}  // namespace MTL
