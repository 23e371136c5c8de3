#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class CommandBuffer;
class CommandBufferDescriptor;
class Device;
class LogState;
class ResidencySet;

class _MTL_EXPORT CommandQueueDescriptor : public NS::Copying<CommandQueueDescriptor> {
 public:
  static CommandQueueDescriptor* alloc();
  CommandQueueDescriptor* init();

  NS::UInteger maxCommandBufferCount() const;
  void setMaxCommandBufferCount(NS::UInteger maxCommandBufferCount);

  /// Takes the messages of kernels, unless a command buffer has a log state of its own.
  LogState* logState() const;
  void setLogState(const LogState* logState);
};

/// Runs command buffers in the order in which they were enqueued.
class _MTL_EXPORT CommandQueue : public NS::Referencing<CommandQueue> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);

  Device* device() const;

  CommandBuffer* commandBuffer();
  CommandBuffer* commandBuffer(const CommandBufferDescriptor* descriptor);
  CommandBuffer* commandBufferWithUnretainedReferences();

  void insertDebugCaptureBoundary();

  void addResidencySet(const ResidencySet* residencySet);
  void addResidencySets(const ResidencySet* const residencySets[], NS::UInteger count);
  void removeResidencySet(const ResidencySet* residencySet);
  void removeResidencySets(const ResidencySet* const residencySets[], NS::UInteger count);
};

}  // namespace MTL
