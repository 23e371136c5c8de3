#pragma once

#include <Foundation/Foundation.hpp>
#include <functional>

#include "MTLDefines.hpp"

namespace MTL {

class BlitCommandEncoder;
class BlitPassDescriptor;
class CommandBuffer;
class CommandQueue;
class ComputeCommandEncoder;
class ComputePassDescriptor;
class Device;
class Event;
class LogState;
class ResidencySet;

_MTL_ENUM(NS::UInteger, CommandBufferStatus){
    CommandBufferStatusNotEnqueued = 0, CommandBufferStatusEnqueued = 1,
    CommandBufferStatusCommitted = 2,   CommandBufferStatusScheduled = 3,
    CommandBufferStatusCompleted = 4,   CommandBufferStatusError = 5,
};

_MTL_ENUM(NS::UInteger, CommandBufferError){
    CommandBufferErrorNone = 0,
    CommandBufferErrorInternal = 1,
    CommandBufferErrorTimeout = 2,
    CommandBufferErrorPageFault = 3,
    CommandBufferErrorBlacklisted = 4,
    CommandBufferErrorAccessRevoked = 4,
    CommandBufferErrorNotPermitted = 7,
    CommandBufferErrorOutOfMemory = 8,
    CommandBufferErrorInvalidResource = 9,
    CommandBufferErrorMemoryless = 10,
    CommandBufferErrorDeviceRemoved = 11,
    CommandBufferErrorStackOverflow = 12,
};

_MTL_OPTIONS(NS::UInteger, CommandBufferErrorOption){
    CommandBufferErrorOptionNone = 0,
    CommandBufferErrorOptionEncoderExecutionStatus = 1,
};

_MTL_ENUM(NS::Integer, CommandEncoderErrorState){
    CommandEncoderErrorStateUnknown = 0,  CommandEncoderErrorStateCompleted = 1,
    CommandEncoderErrorStateAffected = 2, CommandEncoderErrorStatePending = 3,
    CommandEncoderErrorStateFaulted = 4,
};

_MTL_ENUM(NS::UInteger, DispatchType){
    DispatchTypeSerial = 0,
    DispatchTypeConcurrent = 1,
};

_MTL_CONST(NS::ErrorDomain, CommandBufferErrorDomain);
/// Array of CommandBufferEncoderInfo in the user information of a command buffer's error.
_MTL_CONST(NS::ErrorUserInfoKey, CommandBufferEncoderInfoErrorKey);

using HandlerFunction = std::function<void(CommandBuffer*)>;
using CommandBufferHandlerFunction = HandlerFunction;

class _MTL_EXPORT CommandBufferDescriptor : public NS::Copying<CommandBufferDescriptor> {
 public:
  static CommandBufferDescriptor* alloc();
  CommandBufferDescriptor* init();

  bool retainedReferences() const;
  void setRetainedReferences(bool retainedReferences);

  MTL::CommandBufferErrorOption errorOptions() const;
  void setErrorOptions(MTL::CommandBufferErrorOption errorOptions);

  /// Takes the messages of kernels; null for the log state of the queue.
  LogState* logState() const;
  void setLogState(const LogState* logState);
};

/// How far an encoder of a failed command buffer came.
class _MTL_EXPORT CommandBufferEncoderInfo : public NS::Referencing<CommandBufferEncoderInfo> {
 public:
  NS::String* label() const;
  NS::Array* debugSignposts() const;
  MTL::CommandEncoderErrorState errorState() const;
};

/// A list of commands that is recorded, committed once, and then executed.
class _MTL_EXPORT CommandBuffer : public NS::Referencing<CommandBuffer> {
 public:
  Device* device() const;
  CommandQueue* commandQueue() const;

  bool retainedReferences() const;
  MTL::CommandBufferErrorOption errorOptions() const;

  NS::String* label() const;
  void setLabel(const NS::String* label);

  void enqueue();
  void commit();
  void waitUntilScheduled();
  void waitUntilCompleted();

  /// Handlers run on a thread of the driver; they must not wait for this command buffer.
  void addScheduledHandler(const HandlerFunction& function);
  void addCompletedHandler(const HandlerFunction& function);

  MTL::CommandBufferStatus status() const;
  NS::Error* error() const;

  CFTimeInterval kernelStartTime() const;
  CFTimeInterval kernelEndTime() const;
  CFTimeInterval GPUStartTime() const;
  CFTimeInterval GPUEndTime() const;

  BlitCommandEncoder* blitCommandEncoder();
  BlitCommandEncoder* blitCommandEncoder(const BlitPassDescriptor* blitPassDescriptor);
  ComputeCommandEncoder* computeCommandEncoder();
  ComputeCommandEncoder* computeCommandEncoder(MTL::DispatchType dispatchType);
  ComputeCommandEncoder* computeCommandEncoder(const ComputePassDescriptor* computePassDescriptor);

  void encodeWait(const Event* event, std::uint64_t value);
  void encodeSignalEvent(const Event* event, std::uint64_t value);

  void pushDebugGroup(const NS::String* string);
  void popDebugGroup();

  void useResidencySet(const ResidencySet* residencySet);
  void useResidencySets(const ResidencySet* const residencySets[], NS::UInteger count);
};

}  // namespace MTL
