#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class CounterSampleBuffer;

class _MTL_EXPORT BlitPassSampleBufferAttachmentDescriptor
    : public NS::Copying<BlitPassSampleBufferAttachmentDescriptor> {
 public:
  static BlitPassSampleBufferAttachmentDescriptor* alloc();
  BlitPassSampleBufferAttachmentDescriptor* init();

  CounterSampleBuffer* sampleBuffer() const;
  void setSampleBuffer(const CounterSampleBuffer* sampleBuffer);

  NS::UInteger startOfEncoderSampleIndex() const;
  void setStartOfEncoderSampleIndex(NS::UInteger startOfEncoderSampleIndex);

  NS::UInteger endOfEncoderSampleIndex() const;
  void setEndOfEncoderSampleIndex(NS::UInteger endOfEncoderSampleIndex);
};

class _MTL_EXPORT BlitPassSampleBufferAttachmentDescriptorArray
    : public NS::Referencing<BlitPassSampleBufferAttachmentDescriptorArray> {
 public:
  static BlitPassSampleBufferAttachmentDescriptorArray* alloc();
  BlitPassSampleBufferAttachmentDescriptorArray* init();

  BlitPassSampleBufferAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const BlitPassSampleBufferAttachmentDescriptor* attachment,
                 NS::UInteger attachmentIndex);
};

class _MTL_EXPORT BlitPassDescriptor : public NS::Copying<BlitPassDescriptor> {
 public:
  static BlitPassDescriptor* alloc();
  BlitPassDescriptor* init();
  static BlitPassDescriptor* blitPassDescriptor();

  BlitPassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments() const;
};

}  // namespace MTL
