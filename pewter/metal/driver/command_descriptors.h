#pragma once

#include <Metal/MTLBlitPass.hpp>
#include <Metal/MTLCommandBuffer.hpp>
#include <Metal/MTLCommandQueue.hpp>
#include <Metal/MTLComputePass.hpp>
#include <Metal/MTLCounters.hpp>
#include <map>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/counters.h"
#include "pewter/metal/driver/log_state.h"

namespace pewter::driver {

/// The body of MTL::CommandQueueDescriptor.
class CommandQueueDescriptor final : public Object {
 public:
  using Public = MTL::CommandQueueDescriptor;
  static constexpr ClassInfo kClass{"MTL::CommandQueueDescriptor", &Object::kClass};

  CommandQueueDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<CommandQueueDescriptor>(*this); }

  NS::UInteger max_command_buffer_count = 64;
  Ref<LogState> log_state;
};

/// The body of MTL::CommandBufferDescriptor.
class CommandBufferDescriptor final : public Object {
 public:
  using Public = MTL::CommandBufferDescriptor;
  static constexpr ClassInfo kClass{"MTL::CommandBufferDescriptor", &Object::kClass};

  CommandBufferDescriptor() : Object(kClass) {}

  Object* copy() const override { return make<CommandBufferDescriptor>(*this); }

  bool retained_references = true;
  MTL::CommandBufferErrorOption error_options = MTL::CommandBufferErrorOptionNone;
  Ref<LogState> log_state;
};

/// Where an encoder would store counter samples; the same for every kind of pass.
template <class Public_, const char* kName>
class SampleAttachment final : public Object {
 public:
  using Public = Public_;
  static constexpr ClassInfo kClass{kName, &Object::kClass};

  SampleAttachment() : Object(kClass) {}

  Object* copy() const override { return make<SampleAttachment>(*this); }

  Ref<CounterSampleBuffer> sample_buffer;
  NS::UInteger start_index = MTL::CounterDontSample;
  NS::UInteger end_index = MTL::CounterDontSample;
};

template <class Public_, class Attachment_, const char* kName>
class SampleAttachments final : public Object {
 public:
  using Public = Public_;
  using Attachment = Attachment_;
  static constexpr ClassInfo kClass{kName, &Object::kClass};

  SampleAttachments() : Object(kClass) {}

  Object* copy() const override { return make<SampleAttachments>(*this); }

  std::map<NS::UInteger, Ref<Attachment>> items;
};

inline constexpr char kComputeAttachmentName[] = "MTL::ComputePassSampleBufferAttachmentDescriptor";
inline constexpr char kComputeAttachmentsName[] =
    "MTL::ComputePassSampleBufferAttachmentDescriptorArray";
inline constexpr char kBlitAttachmentName[] = "MTL::BlitPassSampleBufferAttachmentDescriptor";
inline constexpr char kBlitAttachmentsName[] = "MTL::BlitPassSampleBufferAttachmentDescriptorArray";

using ComputeAttachment =
    SampleAttachment<MTL::ComputePassSampleBufferAttachmentDescriptor, kComputeAttachmentName>;
using ComputeAttachments = SampleAttachments<MTL::ComputePassSampleBufferAttachmentDescriptorArray,
                                             ComputeAttachment,
                                             kComputeAttachmentsName>;
using BlitAttachment =
    SampleAttachment<MTL::BlitPassSampleBufferAttachmentDescriptor, kBlitAttachmentName>;
using BlitAttachments = SampleAttachments<MTL::BlitPassSampleBufferAttachmentDescriptorArray,
                                          BlitAttachment,
                                          kBlitAttachmentsName>;

/// The body of MTL::ComputePassDescriptor.
class ComputePassDescriptor final : public Object {
 public:
  using Public = MTL::ComputePassDescriptor;
  static constexpr ClassInfo kClass{"MTL::ComputePassDescriptor", &Object::kClass};

  ComputePassDescriptor() : Object(kClass), attachments(make_ref<ComputeAttachments>()) {}

  Object* copy() const override;

  MTL::DispatchType dispatch_type = MTL::DispatchTypeSerial;
  Ref<ComputeAttachments> attachments;
};

/// The body of MTL::BlitPassDescriptor.
class BlitPassDescriptor final : public Object {
 public:
  using Public = MTL::BlitPassDescriptor;
  static constexpr ClassInfo kClass{"MTL::BlitPassDescriptor", &Object::kClass};

  BlitPassDescriptor() : Object(kClass), attachments(make_ref<BlitAttachments>()) {}

  Object* copy() const override;

  Ref<BlitAttachments> attachments;
};

}  // namespace pewter::driver
