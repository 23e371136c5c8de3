#include "pewter/metal/driver/command_queue.h"

#include <Metal/MTLDevice.hpp>
#include <chrono>

#include "pewter/base/log.h"
#include "pewter/base/spin.h"
#include "pewter/metal/driver/command_buffer.h"
#include "pewter/metal/driver/command_descriptors.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/residency_set.h"

namespace pewter::driver {
namespace {

constexpr std::uint64_t kDefaultMaxCommandBuffers = 64;
constexpr std::size_t kMaxSpareStorage = 16;
// A program that waits for what it commits does so within this time.
constexpr std::chrono::microseconds kWaiterPatience(5);

}  // namespace

CommandQueue::CommandQueue(std::uint64_t max_command_buffers)
    : Object(kClass), max_command_buffers_(max_command_buffers) {
  task_.run = &run_task;
  task_.queue = this;
  waiter_.reached = &on_event;
  waiter_.queue = this;
  deadline_.expired = &on_deadline;
  deadline_.queue = this;
}

Ref<CommandBuffer> CommandQueue::new_command_buffer(bool retains_references,
                                                    MTL::CommandBufferErrorOption error_options) {
  while (true) {
    Ref<CommandBuffer> oldest;
    {
      std::scoped_lock lock(mutex_);
      if (in_flight_ >= max_command_buffers_ && first_ != nullptr && first_->is_committed()) {
        oldest = Ref<CommandBuffer>(first_);
      }
    }
    if (!oldest) {
      auto buffer = make_ref<CommandBuffer>(Ref<CommandQueue>(this), take_storage(),
                                            retains_references, error_options);
      buffer->log_state = log_state;
      return buffer;
    }
    oldest->wait_until_completed();
  }
}

void CommandQueue::enqueue(CommandBuffer& buffer) {
  std::scoped_lock lock(mutex_);
  if (!buffer.is_in_queue) {
    append(buffer);
    buffer.set_enqueued();
  }
}

void CommandQueue::commit(CommandBuffer& buffer) {
  buffer.retain();
  {
    std::scoped_lock lock(mutex_);
    if (!buffer.is_in_queue) {
      append(buffer);
    }
    ++in_flight_;
    buffer.set_committed();
    mark_scheduled();
    if (first_ != &buffer) {
      // Either somebody drives what stands before it, or that has to be committed first.
      return;
    }
  }
  hand_to_worker();
}

void CommandQueue::forget(CommandBuffer& buffer) {
  {
    std::scoped_lock lock(mutex_);
    if (!buffer.is_in_queue) {
      return;
    }
    remove(buffer);
    mark_scheduled();
  }
  if (ready() != nullptr) {
    hand_to_worker();
  }
}

void CommandQueue::append(CommandBuffer& buffer) {
  buffer.is_in_queue = true;
  buffer.previous_in_queue = last_;
  buffer.next_in_queue = nullptr;
  (last_ != nullptr ? last_->next_in_queue : first_) = &buffer;
  last_ = &buffer;
  if (first_unscheduled_ == nullptr) {
    first_unscheduled_ = &buffer;
  }
}

void CommandQueue::remove(CommandBuffer& buffer) {
  buffer.is_in_queue = false;
  if (first_unscheduled_ == &buffer) {
    first_unscheduled_ = buffer.next_in_queue;
  }
  (buffer.previous_in_queue != nullptr ? buffer.previous_in_queue->next_in_queue : first_) =
      buffer.next_in_queue;
  (buffer.next_in_queue != nullptr ? buffer.next_in_queue->previous_in_queue : last_) =
      buffer.previous_in_queue;
}

void CommandQueue::mark_scheduled() {
  while (first_unscheduled_ != nullptr && first_unscheduled_->is_committed()) {
    first_unscheduled_->set_scheduled();
    first_unscheduled_ = first_unscheduled_->next_in_queue;
  }
}

CommandBuffer* CommandQueue::ready() {
  std::scoped_lock lock(mutex_);
  const bool is_ready = first_ != nullptr && first_->is_committed() && !is_parked_.load();
  return is_ready ? first_ : nullptr;
}

void CommandQueue::hand_to_worker() {
  if (!is_posted_.exchange(true)) {
    retain();
    executor::post(task_);
  }
}

void CommandQueue::run_task(executor::Task& task) {
  CommandQueue& self = *static_cast<DriveTask&>(task).queue;
  self.is_posted_.store(false);
  if (self.expects_waiter_.load(std::memory_order_relaxed)) {
    // Threads that wait do the work better themselves: they need not be woken afterwards.
    spin_until([&] { return self.is_driven_.load(std::memory_order_relaxed); }, kWaiterPatience);
  }
  self.drive(nullptr, true);
  self.release();
}

void CommandQueue::drive(const CommandBuffer* until, bool is_worker) {
  foundation::PoolScope pool;
  // Who finds the flag taken leaves; the one who has it looks again after giving it up, so nothing
  // that became ready in between is forgotten.
  while (!is_driven_.exchange(true)) {
    const Outcome outcome = run_ready(until, is_worker);
    is_driven_.store(false);
    if (ready() == nullptr) {
      return;
    }
    if (outcome != Outcome::NothingReady) {
      hand_to_worker();
      return;
    }
  }
}

CommandQueue::Outcome CommandQueue::run_ready(const CommandBuffer* until, bool is_worker) {
  while (CommandBuffer* buffer = ready()) {
    if (until != nullptr && until->is_completed()) {
      return Outcome::TargetReached;
    }
    switch (buffer->execute(run_, is_worker)) {
      case CommandBuffer::Progress::Completed:
        finish(*buffer);
        break;
      case CommandBuffer::Progress::WaitsForEvent:
        return Outcome::NothingReady;
      case CommandBuffer::Progress::Yielded:
        // Before the flag is given up: afterwards the run may be another's.
        if (!is_posted_.exchange(true)) {
          retain();
          run_.post_continuation(task_);
        }
        return Outcome::Yielded;
    }
  }
  return until != nullptr && until->is_completed() ? Outcome::TargetReached : Outcome::NothingReady;
}

void CommandQueue::finish(CommandBuffer& buffer) {
  {
    std::scoped_lock lock(mutex_);
    remove(buffer);
    --in_flight_;
  }
  auto storage = buffer.finish();
  {
    std::scoped_lock lock(mutex_);
    if (spare_storage_.size() < kMaxSpareStorage) {
      spare_storage_.push_back(std::move(storage));
    }
  }
  buffer.release();
}

std::unique_ptr<CommandStorage> CommandQueue::take_storage() {
  {
    std::scoped_lock lock(mutex_);
    if (!spare_storage_.empty()) {
      auto storage = std::move(spare_storage_.back());
      spare_storage_.pop_back();
      return storage;
    }
  }
  return std::make_unique<CommandStorage>();
}

bool CommandQueue::wait_for(Event& event, std::uint64_t value) {
  if (event.value() >= value) {
    return true;
  }
  const std::uint64_t timeout_ms = executor::timeout_ms();
  awaited_ = &event;
  // Whoever wakes the queue needs it alive, and gives this reference back.
  retain();
  is_parked_.store(true);
  if (timeout_ms != 0) {
    add_deadline(deadline_, std::chrono::milliseconds(timeout_ms));
  }
  bool goes_on = event.wait(waiter_, value);
  if (goes_on) {
    remove_deadline(deadline_);
    has_expired_.store(false);
  } else if (has_expired_.load()) {
    // The deadline was too early to find the waiter.
    goes_on = event.cancel(waiter_);
  }
  if (goes_on) {
    is_parked_.store(false);
    release();
  }
  return goes_on;
}

void CommandQueue::on_event(EventWaiter& waiter) {
  CommandQueue& self = *static_cast<ParkedWaiter&>(waiter).queue;
  remove_deadline(self.deadline_);
  self.has_expired_.store(false);
  self.is_parked_.store(false);
  self.hand_to_worker();
  self.release();
}

void CommandQueue::on_deadline(Deadline& deadline) {
  CommandQueue& self = *static_cast<ParkedDeadline&>(deadline).queue;
  self.has_expired_.store(true);
  if (self.awaited_->cancel(self.waiter_)) {
    self.is_parked_.store(false);
    self.hand_to_worker();
    self.release();
  }
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::CommandQueue;
using driver::autoreleased;
using driver::handle;
using driver::impl;

MTL::CommandQueue* MTL::Device::newCommandQueue() {
  return newCommandQueue(driver::kDefaultMaxCommandBuffers);
}

MTL::CommandQueue* MTL::Device::newCommandQueue(NS::UInteger maxCommandBufferCount) {
  if (impl<driver::Device>(this) == nullptr) {
    return nullptr;
  }
  if (maxCommandBufferCount == 0) {
    pewter::logging::error("validation", "a command queue for 0 command buffers cannot be made");
    return nullptr;
  }
  return handle(driver::make<Body>(maxCommandBufferCount));
}

MTL::CommandQueue* MTL::Device::newCommandQueue(const MTL::CommandQueueDescriptor* descriptor) {
  auto* given = impl<driver::CommandQueueDescriptor>(descriptor);
  MTL::CommandQueue* queue = newCommandQueue(given != nullptr ? given->max_command_buffer_count
                                                              : driver::kDefaultMaxCommandBuffers);
  if (queue != nullptr && given != nullptr) {
    impl<Body>(queue)->log_state = given->log_state;
  }
  return queue;
}

NS::String* MTL::CommandQueue::label() const {
  return driver::get(this, &Body::label);
}

void MTL::CommandQueue::setLabel(const NS::String* label) {
  driver::set_copy(this, &Body::label, label);
}

MTL::Device* MTL::CommandQueue::device() const {
  return driver::device_of(impl<Body>(this));
}

MTL::CommandBuffer* MTL::CommandQueue::commandBuffer() {
  auto* self = impl<Body>(this);
  return self != nullptr
             ? autoreleased(self->new_command_buffer(true, CommandBufferErrorOptionNone))
             : nullptr;
}

MTL::CommandBuffer* MTL::CommandQueue::commandBuffer(
    const MTL::CommandBufferDescriptor* descriptor) {
  auto* self = impl<Body>(this);
  auto* given = impl<driver::CommandBufferDescriptor>(descriptor);
  if (self == nullptr || given == nullptr) {
    return commandBuffer();
  }
  auto buffer = self->new_command_buffer(given->retained_references, given->error_options);
  if (given->log_state) {
    buffer->log_state = given->log_state;
  }
  return autoreleased(std::move(buffer));
}

MTL::CommandBuffer* MTL::CommandQueue::commandBufferWithUnretainedReferences() {
  auto* self = impl<Body>(this);
  return self != nullptr
             ? autoreleased(self->new_command_buffer(false, CommandBufferErrorOptionNone))
             : nullptr;
}

void MTL::CommandQueue::insertDebugCaptureBoundary() {
  impl<Body>(this);
}

// All memory is resident all the time; sets are only checked for being sets.

void MTL::CommandQueue::addResidencySet(const MTL::ResidencySet* residencySet) {
  impl<Body>(this);
  impl<driver::ResidencySet>(residencySet);
}

void MTL::CommandQueue::addResidencySets(const MTL::ResidencySet* const residencySets[],
                                         NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) {
    addResidencySet(residencySets[i]);
  }
}

void MTL::CommandQueue::removeResidencySet(const MTL::ResidencySet* residencySet) {
  addResidencySet(residencySet);
}

void MTL::CommandQueue::removeResidencySets(const MTL::ResidencySet* const residencySets[],
                                            NS::UInteger count) {
  addResidencySets(residencySets, count);
}
