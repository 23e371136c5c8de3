#include "pewter/metal/driver/command_encoder.h"

#include "pewter/base/log.h"
#include "pewter/metal/driver/counters.h"
#include "pewter/metal/driver/device.h"

namespace pewter::driver {

CommandEncoder::CommandEncoder(const ClassInfo& class_info, Ref<CommandBuffer> buffer)
    : Object(class_info), buffer_(std::move(buffer)) {
  number_ = buffer_->open(*this);
}

CommandEncoder::~CommandEncoder() {
  if (is_open_) {
    buffer_->reject(MTL::CommandBufferErrorInternal, "an encoder is released before endEncoding");
    buffer_->close(*this);
  }
}

void CommandEncoder::end() {
  if (is_open("endEncoding")) {
    for (const auto& [samples, index] : end_samples_) {
      sample_unless_declined(samples, index);
    }
    is_open_ = false;
    buffer_->close(*this);
  }
}

bool CommandEncoder::is_open(const char* action) {
  if (!is_open_) {
    buffer_->reject(MTL::CommandBufferErrorInternal, "{} after endEncoding", action);
  }
  return is_open_;
}

void CommandEncoder::insert_signpost(String* text) {
  // Nobody can ask for them unless encoders are accounted for.
  const bool is_wanted =
      (buffer_->error_options() & MTL::CommandBufferErrorOptionEncoderExecutionStatus) != 0;
  if (is_open("insertDebugSignpost") && is_wanted && text != nullptr) {
    signposts_.emplace_back(text);
  }
}

void CommandEncoder::sample(CounterSampleBuffer* samples, std::uint64_t index) {
  if (!is_open("sampleCountersInBuffer")) {
    return;
  }
  if (samples == nullptr || index >= samples->sample_count) {
    buffer_->reject(MTL::CommandBufferErrorInvalidResource,
                    "sampleCountersInBuffer at index {} of a buffer of {} samples", index,
                    samples != nullptr ? samples->sample_count : 0);
    return;
  }
  buffer_->keep(samples);
  auto& command = append<SampleCommand>();
  command.samples = samples;
  command.index = index;
}

void CommandEncoder::sample_unless_declined(CounterSampleBuffer* samples, std::uint64_t index) {
  if (index != MTL::CounterDontSample) {
    sample(samples, index);
  }
}

void CommandEncoder::push_debug_group() {
  if (is_open("pushDebugGroup")) {
    ++debug_groups_;
  }
}

void CommandEncoder::pop_debug_group() {
  if (!is_open("popDebugGroup")) {
    return;
  }
  if (debug_groups_ == 0) {
    logging::error("validation", "popDebugGroup without a matching pushDebugGroup");
    return;
  }
  --debug_groups_;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::CommandEncoder;
using driver::impl;

MTL::Device* MTL::CommandEncoder::device() const {
  return driver::device_of(impl<Body>(this));
}

NS::String* MTL::CommandEncoder::label() const {
  return driver::get(this, &Body::label);
}

void MTL::CommandEncoder::setLabel(const NS::String* label) {
  driver::set_copy(this, &Body::label, label);
}

void MTL::CommandEncoder::endEncoding() {
  if (auto* self = impl<Body>(this)) {
    self->end();
  }
}

void MTL::CommandEncoder::insertDebugSignpost(const NS::String* string) {
  if (auto* self = impl<Body>(this)) {
    self->insert_signpost(impl<driver::String>(string));
  }
}

void MTL::CommandEncoder::pushDebugGroup(const NS::String* string) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::String>(string);
    self->push_debug_group();
  }
}

void MTL::CommandEncoder::popDebugGroup() {
  if (auto* self = impl<Body>(this)) {
    self->pop_debug_group();
  }
}
