#include "pewter/metal/driver/command_descriptors.h"

#include "pewter/base/log.h"

namespace pewter::driver {
namespace {

constexpr NS::UInteger kMaxAttachments = 4;

template <class Attachments>
typename Attachments::Attachment::Public* attachment(
    void* array,
    NS::UInteger index,
    const std::source_location& where = std::source_location::current()) {
  auto* self = impl<Attachments>(array, where);
  if (self == nullptr) {
    return nullptr;
  }
  if (index >= kMaxAttachments) {
    logging::error("metal", "sample buffer attachment {} exceeds the limit of {}", index,
                   kMaxAttachments - 1);
    return nullptr;
  }
  auto& item = self->items[index];
  if (!item) {
    item = make_ref<typename Attachments::Attachment>();
  }
  return handle(item);
}

template <class Attachments>
void set_attachment(void* array,
                    const typename Attachments::Attachment::Public* attachment,
                    NS::UInteger index) {
  using Attachment = typename Attachments::Attachment;
  auto* self = impl<Attachments>(array);
  if (self != nullptr && index < kMaxAttachments) {
    auto* item = impl<Attachment>(attachment);
    self->items[index] =
        Ref<Attachment>::adopt(item != nullptr ? static_cast<Attachment*>(item->copy()) : nullptr);
  }
}

}  // namespace

Object* ComputePassDescriptor::copy() const {
  auto* descriptor = make<ComputePassDescriptor>(*this);
  descriptor->attachments =
      Ref<ComputeAttachments>::adopt(static_cast<ComputeAttachments*>(attachments->copy()));
  return descriptor;
}

Object* BlitPassDescriptor::copy() const {
  auto* descriptor = make<BlitPassDescriptor>(*this);
  descriptor->attachments =
      Ref<BlitAttachments>::adopt(static_cast<BlitAttachments*>(attachments->copy()));
  return descriptor;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using driver::get;
using driver::handle;
using driver::make;

MTL::LogState* MTL::CommandQueueDescriptor::logState() const {
  return get(this, &driver::CommandQueueDescriptor::log_state);
}

void MTL::CommandQueueDescriptor::setLogState(const MTL::LogState* logState) {
  driver::set(this, &driver::CommandQueueDescriptor::log_state, logState);
}

MTL::LogState* MTL::CommandBufferDescriptor::logState() const {
  return get(this, &driver::CommandBufferDescriptor::log_state);
}

void MTL::CommandBufferDescriptor::setLogState(const MTL::LogState* logState) {
  driver::set(this, &driver::CommandBufferDescriptor::log_state, logState);
}

MTL::CommandQueueDescriptor* MTL::CommandQueueDescriptor::alloc() {
  return handle(make<driver::CommandQueueDescriptor>());
}

MTL::CommandQueueDescriptor* MTL::CommandQueueDescriptor::init() {
  return this;
}

NS::UInteger MTL::CommandQueueDescriptor::maxCommandBufferCount() const {
  return get(this, &driver::CommandQueueDescriptor::max_command_buffer_count);
}

void MTL::CommandQueueDescriptor::setMaxCommandBufferCount(NS::UInteger maxCommandBufferCount) {
  driver::set(this, &driver::CommandQueueDescriptor::max_command_buffer_count,
              maxCommandBufferCount);
}

MTL::CommandBufferDescriptor* MTL::CommandBufferDescriptor::alloc() {
  return handle(make<driver::CommandBufferDescriptor>());
}

MTL::CommandBufferDescriptor* MTL::CommandBufferDescriptor::init() {
  return this;
}

bool MTL::CommandBufferDescriptor::retainedReferences() const {
  return get(this, &driver::CommandBufferDescriptor::retained_references);
}

void MTL::CommandBufferDescriptor::setRetainedReferences(bool retainedReferences) {
  driver::set(this, &driver::CommandBufferDescriptor::retained_references, retainedReferences);
}

MTL::CommandBufferErrorOption MTL::CommandBufferDescriptor::errorOptions() const {
  return get(this, &driver::CommandBufferDescriptor::error_options);
}

void MTL::CommandBufferDescriptor::setErrorOptions(MTL::CommandBufferErrorOption errorOptions) {
  driver::set(this, &driver::CommandBufferDescriptor::error_options, errorOptions);
}

MTL::ComputePassSampleBufferAttachmentDescriptor*
MTL::ComputePassSampleBufferAttachmentDescriptor::alloc() {
  return handle(make<driver::ComputeAttachment>());
}

MTL::ComputePassSampleBufferAttachmentDescriptor*
MTL::ComputePassSampleBufferAttachmentDescriptor::init() {
  return this;
}

MTL::CounterSampleBuffer* MTL::ComputePassSampleBufferAttachmentDescriptor::sampleBuffer() const {
  return get(this, &driver::ComputeAttachment::sample_buffer);
}

void MTL::ComputePassSampleBufferAttachmentDescriptor::setSampleBuffer(
    const MTL::CounterSampleBuffer* sampleBuffer) {
  driver::set(this, &driver::ComputeAttachment::sample_buffer, sampleBuffer);
}

NS::UInteger MTL::ComputePassSampleBufferAttachmentDescriptor::startOfEncoderSampleIndex() const {
  return get(this, &driver::ComputeAttachment::start_index);
}

void MTL::ComputePassSampleBufferAttachmentDescriptor::setStartOfEncoderSampleIndex(
    NS::UInteger startOfEncoderSampleIndex) {
  driver::set(this, &driver::ComputeAttachment::start_index, startOfEncoderSampleIndex);
}

NS::UInteger MTL::ComputePassSampleBufferAttachmentDescriptor::endOfEncoderSampleIndex() const {
  return get(this, &driver::ComputeAttachment::end_index);
}

void MTL::ComputePassSampleBufferAttachmentDescriptor::setEndOfEncoderSampleIndex(
    NS::UInteger endOfEncoderSampleIndex) {
  driver::set(this, &driver::ComputeAttachment::end_index, endOfEncoderSampleIndex);
}

MTL::ComputePassSampleBufferAttachmentDescriptorArray*
MTL::ComputePassSampleBufferAttachmentDescriptorArray::alloc() {
  return handle(make<driver::ComputeAttachments>());
}

MTL::ComputePassSampleBufferAttachmentDescriptorArray*
MTL::ComputePassSampleBufferAttachmentDescriptorArray::init() {
  return this;
}

MTL::ComputePassSampleBufferAttachmentDescriptor*
MTL::ComputePassSampleBufferAttachmentDescriptorArray::object(NS::UInteger attachmentIndex) {
  return driver::attachment<driver::ComputeAttachments>(this, attachmentIndex);
}

void MTL::ComputePassSampleBufferAttachmentDescriptorArray::setObject(
    const ComputePassSampleBufferAttachmentDescriptor* attachment, NS::UInteger attachmentIndex) {
  driver::set_attachment<driver::ComputeAttachments>(this, attachment, attachmentIndex);
}

MTL::ComputePassDescriptor* MTL::ComputePassDescriptor::alloc() {
  return handle(make<driver::ComputePassDescriptor>());
}

MTL::ComputePassDescriptor* MTL::ComputePassDescriptor::init() {
  return this;
}

MTL::ComputePassDescriptor* MTL::ComputePassDescriptor::computePassDescriptor() {
  return alloc()->init()->autorelease();
}

MTL::DispatchType MTL::ComputePassDescriptor::dispatchType() const {
  return get(this, &driver::ComputePassDescriptor::dispatch_type);
}

void MTL::ComputePassDescriptor::setDispatchType(MTL::DispatchType dispatchType) {
  driver::set(this, &driver::ComputePassDescriptor::dispatch_type, dispatchType);
}

MTL::ComputePassSampleBufferAttachmentDescriptorArray*
MTL::ComputePassDescriptor::sampleBufferAttachments() const {
  return get(this, &driver::ComputePassDescriptor::attachments);
}

MTL::BlitPassSampleBufferAttachmentDescriptor*
MTL::BlitPassSampleBufferAttachmentDescriptor::alloc() {
  return handle(make<driver::BlitAttachment>());
}

MTL::BlitPassSampleBufferAttachmentDescriptor*
MTL::BlitPassSampleBufferAttachmentDescriptor::init() {
  return this;
}

MTL::CounterSampleBuffer* MTL::BlitPassSampleBufferAttachmentDescriptor::sampleBuffer() const {
  return get(this, &driver::BlitAttachment::sample_buffer);
}

void MTL::BlitPassSampleBufferAttachmentDescriptor::setSampleBuffer(
    const MTL::CounterSampleBuffer* sampleBuffer) {
  driver::set(this, &driver::BlitAttachment::sample_buffer, sampleBuffer);
}

NS::UInteger MTL::BlitPassSampleBufferAttachmentDescriptor::startOfEncoderSampleIndex() const {
  return get(this, &driver::BlitAttachment::start_index);
}

void MTL::BlitPassSampleBufferAttachmentDescriptor::setStartOfEncoderSampleIndex(
    NS::UInteger startOfEncoderSampleIndex) {
  driver::set(this, &driver::BlitAttachment::start_index, startOfEncoderSampleIndex);
}

NS::UInteger MTL::BlitPassSampleBufferAttachmentDescriptor::endOfEncoderSampleIndex() const {
  return get(this, &driver::BlitAttachment::end_index);
}

void MTL::BlitPassSampleBufferAttachmentDescriptor::setEndOfEncoderSampleIndex(
    NS::UInteger endOfEncoderSampleIndex) {
  driver::set(this, &driver::BlitAttachment::end_index, endOfEncoderSampleIndex);
}

MTL::BlitPassSampleBufferAttachmentDescriptorArray*
MTL::BlitPassSampleBufferAttachmentDescriptorArray::alloc() {
  return handle(make<driver::BlitAttachments>());
}

MTL::BlitPassSampleBufferAttachmentDescriptorArray*
MTL::BlitPassSampleBufferAttachmentDescriptorArray::init() {
  return this;
}

MTL::BlitPassSampleBufferAttachmentDescriptor*
MTL::BlitPassSampleBufferAttachmentDescriptorArray::object(NS::UInteger attachmentIndex) {
  return driver::attachment<driver::BlitAttachments>(this, attachmentIndex);
}

void MTL::BlitPassSampleBufferAttachmentDescriptorArray::setObject(
    const BlitPassSampleBufferAttachmentDescriptor* attachment, NS::UInteger attachmentIndex) {
  driver::set_attachment<driver::BlitAttachments>(this, attachment, attachmentIndex);
}

MTL::BlitPassDescriptor* MTL::BlitPassDescriptor::alloc() {
  return handle(make<driver::BlitPassDescriptor>());
}

MTL::BlitPassDescriptor* MTL::BlitPassDescriptor::init() {
  return this;
}

MTL::BlitPassDescriptor* MTL::BlitPassDescriptor::blitPassDescriptor() {
  return alloc()->init()->autorelease();
}

MTL::BlitPassSampleBufferAttachmentDescriptorArray*
MTL::BlitPassDescriptor::sampleBufferAttachments() const {
  return get(this, &driver::BlitPassDescriptor::attachments);
}
