#include "pewter/metal/driver/command_buffer.h"

#include <chrono>

#include "pewter/base/log.h"
#include "pewter/base/spin.h"
#include "pewter/base/worker_pool.h"
#include "pewter/metal/driver/command_buffer_encoder_info.h"
#include "pewter/metal/driver/command_encoder.h"
#include "pewter/metal/driver/command_queue.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/event.h"
#include "pewter/metal/driver/log_state.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/driver/residency_set.h"

namespace pewter::driver {

double CommandBuffer::now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

CommandBuffer::CommandBuffer(Ref<CommandQueue> queue,
                             std::unique_ptr<CommandStorage> storage,
                             bool retains_references,
                             MTL::CommandBufferErrorOption error_options)
    : Object(kClass),
      queue_(std::move(queue)),
      retains_references_(retains_references),
      error_options_(error_options),
      storage_(std::move(storage)) {}

CommandBuffer::~CommandBuffer() {
  if (!is_committed()) {
    queue_->forget(*this);
  }
}

bool CommandBuffer::is_recording(const char* action) {
  if (is_committed()) {
    logging::error("validation", "{} on a command buffer that is already committed", action);
    return false;
  }
  return true;
}

void CommandBuffer::keep(Object* object) {
  if (retains_references_) {
    storage_->keep(object);
  }
}

void CommandBuffer::reject_text(MTL::CommandBufferError code, const std::string& text) {
  logging::error("validation", "{}{}",
                 label ? fmt::format("command buffer '{}': ", label->text) : "", text);
  // A command buffer that is committed belongs to the thread that runs it.
  if (!is_committed() && !error_) {
    error_ = command_buffer_error(code, text);
  }
}

std::uint32_t CommandBuffer::open(CommandEncoder& encoder) {
  if (open_encoder_ != nullptr) {
    reject(MTL::CommandBufferErrorInternal,
           "an encoder is opened before endEncoding of the one before it");
  }
  open_encoder_ = &encoder;
  return encoder_count_++;
}

void CommandBuffer::close(CommandEncoder& encoder) {
  if (open_encoder_ == &encoder) {
    open_encoder_ = nullptr;
  }
  if ((error_options_ & MTL::CommandBufferErrorOptionEncoderExecutionStatus) != 0 &&
      !is_committed()) {
    encoders_.resize(encoder_count_);
    encoders_[encoder.number()] = {encoder.label, encoder.signposts()};
  }
}

void CommandBuffer::signal(Event* event, std::uint64_t value) {
  if (!is_recording("encodeSignalEvent")) {
    return;
  }
  if (event == nullptr || open_encoder_ != nullptr) {
    reject(MTL::CommandBufferErrorInternal, "encodeSignalEvent {}",
           event == nullptr ? "without an event" : "while an encoder is open");
    return;
  }
  storage_->keep(event);
  auto& command = storage_->append<SignalCommand>(encoder_count_);
  command.event = event;
  command.value = value;
}

void CommandBuffer::wait(Event* event, std::uint64_t value) {
  if (!is_recording("encodeWait")) {
    return;
  }
  if (event == nullptr || open_encoder_ != nullptr) {
    reject(MTL::CommandBufferErrorInternal, "encodeWait {}",
           event == nullptr ? "without an event" : "while an encoder is open");
    return;
  }
  // Kept even if references are not: the event must be there when the wait is called off.
  storage_->keep(event);
  auto& command = storage_->append<WaitCommand>(encoder_count_);
  command.event = event;
  command.value = value;
}

void CommandBuffer::pop_debug_group() {
  if (debug_groups_ == 0) {
    logging::error("validation", "popDebugGroup without a matching pushDebugGroup");
    return;
  }
  --debug_groups_;
}

void CommandBuffer::add_handler(bool scheduled, MTL::HandlerFunction handler) {
  if (is_recording(scheduled ? "addScheduledHandler" : "addCompletedHandler") && handler) {
    (scheduled ? scheduled_handlers_ : completed_handlers_).push_back(std::move(handler));
  }
}

void CommandBuffer::enqueue() {
  if (is_recording("enqueue")) {
    queue_->enqueue(*this);
  }
}

void CommandBuffer::commit() {
  if (!is_recording("commit")) {
    return;
  }
  if (open_encoder_ != nullptr) {
    reject(MTL::CommandBufferErrorInternal, "commit before endEncoding of an encoder");
    open_encoder_->detach();
    open_encoder_ = nullptr;
  }
  kernel_start = now_seconds();
  queue_->commit(*this);
}

void CommandBuffer::wait_until_scheduled() {
  if (!is_committed()) {
    logging::error("validation", "waitUntilScheduled on a command buffer that is not committed");
    return;
  }
  // A handler cannot wait for handlers: they run one after another.
  if (CallbackThread::is_current()) {
    return;
  }
  wait_until_zero(scheduled_pending_);
}

void CommandBuffer::wait_until_completed() {
  if (!is_committed()) {
    logging::error("validation", "waitUntilCompleted on a command buffer that is not committed");
    return;
  }
  // A handler may let go of the last reference but this one.
  const Ref<CommandBuffer> self(this);
  // A handler cannot wait for handlers: they run one after another.
  const bool waits_for_handlers = !CallbackThread::is_current();
  waiters_ += waits_for_handlers ? 1 : 0;
  const CommandQueue::Waiting waiting(*queue_);
  if (!is_completed()) {
    queue_->expect_waiter();
    queue_->drive(this);
  }
  if (!spin_until([this] { return is_completed(); })) {
    for (auto seen = status(); seen < MTL::CommandBufferStatusCompleted; seen = status()) {
      status_.wait(seen);
    }
  }
  if (waits_for_handlers) {
    if (completed_pending_.load(std::memory_order_acquire) != 0) {
      queue_->callbacks().help_until_zero(completed_pending_);
    }
    --waiters_;
  }
}

void CommandBuffer::set_committed() {
  next_command_ = storage_->first();
  is_committed_.store(true, std::memory_order_release);
  status_.store(MTL::CommandBufferStatusCommitted, std::memory_order_release);
}

void CommandBuffer::set_scheduled() {
  kernel_end = now_seconds();
  status_.store(MTL::CommandBufferStatusScheduled, std::memory_order_release);
  run_handlers(scheduled_handlers_, scheduled_pending_, CallbackThread::Caller::Thread);
}

void CommandBuffer::run_handlers(std::vector<MTL::HandlerFunction>& handlers,
                                 std::atomic<std::uint32_t>& pending,
                                 CallbackThread::Caller caller) {
  if (handlers.empty()) {
    pending.store(0, std::memory_order_release);
    pending.notify_all();
    return;
  }
  queue_->callbacks().call(
      [self = Ref<CommandBuffer>(this), &pending, functions = std::move(handlers)]() mutable {
        for (const MTL::HandlerFunction& function : functions) {
          function(handle(self));
        }
        // What the handlers hold goes before the waiting thread goes on.
        functions.clear();
        pending.store(0, std::memory_order_release);
        pending.notify_all();
      },
      caller);
}

abi::LogBuffer* CommandBuffer::log_buffer() {
  if (!log_memory_) {
    const std::uint64_t bytes = log_state ? log_state->buffer_size : LogState::kDefaultBufferSize;
    log_memory_ = std::make_unique<std::byte[]>(sizeof(abi::LogBuffer) + bytes);
    auto* fresh = new (log_memory_.get()) abi::LogBuffer{};
    fresh->capacity = bytes;
    fresh->level = static_cast<std::uint32_t>(log_state ? log_state->level : MTL::LogLevelInfo);
  }
  return reinterpret_cast<abi::LogBuffer*>(log_memory_.get());
}

// Texts are in the code of kernels, which this command buffer keeps alive until it ends.
void CommandBuffer::deliver_messages() {
  if (!log_memory_) {
    return;
  }
  auto messages = read_messages(*log_buffer());
  log_memory_.reset();
  if (messages.empty()) {
    return;
  }
  completed_handlers_.insert(completed_handlers_.begin(),
                             [state = log_state, list = std::move(messages)](MTL::CommandBuffer*) {
                               LogState::deliver(state.get(), list);
                             });
}

std::unique_ptr<CommandStorage> CommandBuffer::finish() {
  if (gpu_end == 0) {
    gpu_end = now_seconds();
  }
  deliver_messages();
  if (error_ && (error_options_ & MTL::CommandBufferErrorOptionEncoderExecutionStatus) != 0) {
    attach_encoder_infos();
  }
  storage_->clear();
  auto storage = std::move(storage_);
  const bool has_failed = static_cast<bool>(error_);
  const bool has_handlers = !completed_handlers_.empty();
  if (!has_handlers) {
    completed_pending_.store(0, std::memory_order_release);
  }
  status_.store(has_failed ? MTL::CommandBufferStatusError : MTL::CommandBufferStatusCompleted);
  const bool is_waited_for = waiters_.load() > 0;
  if (!is_waited_for) {
    queue_->expect_no_waiter();
  }
  if (has_handlers) {
    // Who is counted comes to call them, and stays until they have been called.
    run_handlers(
        completed_handlers_, completed_pending_,
        is_waited_for ? CallbackThread::Caller::WaitingThread : CallbackThread::Caller::Thread);
  }
  status_.notify_all();
  return storage;
}

void CommandBuffer::attach_encoder_infos() {
  auto infos = make_ref<foundation::Array>();
  for (std::uint32_t i = 0; i < encoders_.size(); ++i) {
    auto info = make_ref<CommandBufferEncoderInfo>();
    info->label = encoders_[i].label;
    info->signposts = std::move(encoders_[i].signposts);
    if (!has_begun_commands_) {
      info->state = MTL::CommandEncoderErrorStatePending;
    } else if (i == faulted_encoder_) {
      info->state = MTL::CommandEncoderErrorStateFaulted;
    } else {
      info->state = i < faulted_encoder_ ? MTL::CommandEncoderErrorStateCompleted
                                         : MTL::CommandEncoderErrorStatePending;
    }
    infos->items.emplace_back(info.get());
  }
  error_->user_info->insert(impl<String>(MTL::CommandBufferEncoderInfoErrorKey), infos.get());
}

foundation::Error* CommandBuffer::error() const {
  return is_completed() ? error_.get() : nullptr;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::CommandBuffer;
using driver::get;
using driver::handle;
using driver::impl;

MTL::Device* MTL::CommandBuffer::device() const {
  return driver::device_of(impl<Body>(this));
}

MTL::CommandQueue* MTL::CommandBuffer::commandQueue() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? handle(&self->queue()) : nullptr;
}

bool MTL::CommandBuffer::retainedReferences() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->retains_references();
}

MTL::CommandBufferErrorOption MTL::CommandBuffer::errorOptions() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->error_options() : CommandBufferErrorOptionNone;
}

NS::String* MTL::CommandBuffer::label() const {
  return get(this, &Body::label);
}

void MTL::CommandBuffer::setLabel(const NS::String* label) {
  driver::set_copy(this, &Body::label, label);
}

void MTL::CommandBuffer::enqueue() {
  if (auto* self = impl<Body>(this)) {
    self->enqueue();
  }
}

void MTL::CommandBuffer::commit() {
  if (auto* self = impl<Body>(this)) {
    self->commit();
  }
}

void MTL::CommandBuffer::waitUntilScheduled() {
  if (auto* self = impl<Body>(this)) {
    self->wait_until_scheduled();
  }
}

void MTL::CommandBuffer::waitUntilCompleted() {
  if (auto* self = impl<Body>(this)) {
    self->wait_until_completed();
  }
}

void MTL::CommandBuffer::addScheduledHandler(const HandlerFunction& function) {
  if (auto* self = impl<Body>(this)) {
    self->add_handler(true, function);
  }
}

void MTL::CommandBuffer::addCompletedHandler(const HandlerFunction& function) {
  if (auto* self = impl<Body>(this)) {
    self->add_handler(false, function);
  }
}

MTL::CommandBufferStatus MTL::CommandBuffer::status() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->status() : CommandBufferStatusNotEnqueued;
}

NS::Error* MTL::CommandBuffer::error() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? handle(self->error()) : nullptr;
}

CFTimeInterval MTL::CommandBuffer::kernelStartTime() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->status() >= CommandBufferStatusScheduled ? self->kernel_start : 0;
}

CFTimeInterval MTL::CommandBuffer::kernelEndTime() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->status() >= CommandBufferStatusScheduled ? self->kernel_end : 0;
}

CFTimeInterval MTL::CommandBuffer::GPUStartTime() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->is_completed() ? self->gpu_start : 0;
}

CFTimeInterval MTL::CommandBuffer::GPUEndTime() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->is_completed() ? self->gpu_end : 0;
}

void MTL::CommandBuffer::encodeWait(const MTL::Event* event, std::uint64_t value) {
  if (auto* self = impl<Body>(this)) {
    self->wait(impl<driver::Event>(event), value);
  }
}

void MTL::CommandBuffer::encodeSignalEvent(const MTL::Event* event, std::uint64_t value) {
  if (auto* self = impl<Body>(this)) {
    self->signal(impl<driver::Event>(event), value);
  }
}

void MTL::CommandBuffer::pushDebugGroup(const NS::String* string) {
  if (auto* self = impl<Body>(this)) {
    impl<driver::String>(string);
    self->push_debug_group();
  }
}

void MTL::CommandBuffer::popDebugGroup() {
  if (auto* self = impl<Body>(this)) {
    self->pop_debug_group();
  }
}

// All memory is resident all the time; sets are only checked for being sets.

void MTL::CommandBuffer::useResidencySet(const MTL::ResidencySet* residencySet) {
  impl<Body>(this);
  impl<driver::ResidencySet>(residencySet);
}

void MTL::CommandBuffer::useResidencySets(const MTL::ResidencySet* const residencySets[],
                                          NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) {
    useResidencySet(residencySets[i]);
  }
}
