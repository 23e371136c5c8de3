#include "pewter/runtime/stream.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/completion.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/scheduler.h"

namespace pewter::runtime {
namespace {

/// Every stream of the process, and the completions of those that ended with work in flight.
struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<Stream>> streams;            // guarded by mutex
  std::vector<std::shared_ptr<Completion>> completions;  // guarded by mutex

  static Registry& instance() {
    // Never destroyed: threads may end after main.
    static auto* const instance = new Registry;
    return *instance;
  }
};

}  // namespace

struct Stream::State {
  std::recursive_mutex mutex;  // guards the members below, but for completion
  NS::SharedPtr<MTL::CommandQueue> queue;
  NS::SharedPtr<MTL::SharedEvent> event;
  NS::SharedPtr<MTL::CommandBuffer> command_buffer;
  NS::SharedPtr<MTL::ComputeCommandEncoder> compute;
  NS::SharedPtr<MTL::BlitCommandEncoder> blit;
  std::uint64_t open_task = 1;
  Task task;
  const std::shared_ptr<Completion> completion = std::make_shared<Completion>();
};

Stream::Stream() : state_(std::make_unique<State>()) {}

std::shared_ptr<Stream> Stream::create() {
  const AutoreleaseScope scope;
  MTL::Device* metal = device();
  std::shared_ptr<Stream> stream(new Stream);
  // Room for what hold_back() lets pass on every stream at once, so that Metal never blocks first.
  stream->state_->queue = NS::TransferPtr(metal->newCommandQueue());
  stream->state_->event = NS::TransferPtr(metal->newSharedEvent());
  if (!stream->state_->queue || !stream->state_->event) {
    throw std::runtime_error("[metal::Stream] the device has no room for another command queue");
  }

  Registry& registry = Registry::instance();
  const std::scoped_lock lock(registry.mutex);
  std::erase_if(registry.streams, [](const auto& entry) { return entry.expired(); });
  std::erase_if(registry.completions,
                [](const auto& entry) { return entry.use_count() == 1 && entry->settled(); });
  registry.streams.push_back(stream);
  registry.completions.push_back(stream->state_->completion);
  return stream;
}

Stream::~Stream() {
  if (state_->command_buffer && !in_bad_fork()) {
    commit();
  }
}

std::unique_lock<std::recursive_mutex> Stream::exclusive() {
  return std::unique_lock(state_->mutex);
}

MTL::CommandBuffer* Stream::command_buffer() {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->command_buffer) {
    refuse_bad_fork("[metal::Stream]");
    const AutoreleaseScope scope;
    state_->command_buffer = NS::RetainPtr(state_->queue->commandBuffer());
    if (!state_->command_buffer) {
      throw std::runtime_error("[metal::Stream] the device gave no command buffer");
    }
    state_->task = Task{.number = state_->open_task, .buffers = {}, .handlers = {}};
  }
  return state_->command_buffer.get();
}

MTL::ComputeCommandEncoder* Stream::compute_encoder() {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->compute) {
    end_encoding();
    const AutoreleaseScope scope;
    state_->compute = NS::RetainPtr(command_buffer()->computeCommandEncoder());
  }
  return state_->compute.get();
}

MTL::BlitCommandEncoder* Stream::blit_encoder() {
  const std::scoped_lock lock(state_->mutex);
  if (!state_->blit) {
    end_encoding();
    const AutoreleaseScope scope;
    state_->blit = NS::RetainPtr(command_buffer()->blitCommandEncoder());
  }
  return state_->blit.get();
}

void Stream::end_encoding() {
  const std::scoped_lock lock(state_->mutex);
  if (state_->compute) {
    state_->compute->endEncoding();
    state_->compute.reset();
  }
  if (state_->blit) {
    state_->blit->endEncoding();
    state_->blit.reset();
  }
}

void Stream::use(const Buffer& buffer, Access) {
  if (!buffer) {
    return;
  }
  const std::scoped_lock lock(state_->mutex);
  command_buffer();
  state_->task.buffers.push_back(buffer);
}

void Stream::on_completion(std::function<void()> handler) {
  const std::scoped_lock lock(state_->mutex);
  command_buffer();
  state_->task.handlers.push_back(std::move(handler));
}

void Stream::commit() {
  {
    const std::scoped_lock lock(state_->mutex);
    if (!state_->command_buffer) {
      return;
    }
    refuse_bad_fork("[metal::Stream]");
    const AutoreleaseScope scope;
    end_encoding();
    auto command_buffer = std::exchange(state_->command_buffer, {});
    command_buffer->encodeSignalEvent(state_->event.get(), state_->open_task);
    auto task = std::make_shared<Task>(std::exchange(state_->task, {}));
    command_buffer->addCompletedHandler(
        [task, completion = state_->completion, event = state_->event](MTL::CommandBuffer* done) {
          const Scheduler::CompletionScope completing;
          // A command buffer that failed has signalled nothing, and others wait for it.
          if (event->signaledValue() < task->number) {
            event->setSignaledValue(task->number);
          }
          completion->completed(*task, *done);
          Scheduler::instance().task_completed();
        });
    ++state_->open_task;
    state_->completion->submitted(task->number, command_buffer);
    Scheduler::instance().task_submitted();
    command_buffer->commit();
  }
  Scheduler::instance().hold_back();
}

void Stream::synchronize() {
  refuse_bad_fork("[metal::synchronize]");
  commit();
  state_->completion->wait(state_->completion->last_submitted());
  state_->completion->raise_failure();
}

bool Stream::idle() {
  const std::scoped_lock lock(state_->mutex);
  return !state_->command_buffer &&
         state_->completion->last_completed() == state_->completion->last_submitted();
}

void Stream::fail(const std::string& message) {
  state_->completion->fail(message);
}

std::uint64_t Stream::open_task() {
  const std::scoped_lock lock(state_->mutex);
  return state_->open_task;
}

MTL::SharedEvent* Stream::completion_event() const {
  return state_->event.get();
}

void Stream::wait_for(Stream& other, std::uint64_t task) {
  if (&other == this) {
    return;
  }
  other.submit_through(task);
  if (other.state_->completion->last_completed() >= task) {
    return;
  }
  const std::scoped_lock lock(state_->mutex);
  end_encoding();
  command_buffer()->encodeWait(other.state_->event.get(), task);
}

void Stream::wait_on_host(std::uint64_t task) {
  refuse_bad_fork("[metal::synchronize]");
  submit_through(task);
  state_->completion->wait(task);
}

void Stream::submit_through(std::uint64_t task) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->open_task <= task) {
    commit();
  }
}

std::shared_ptr<Stream> default_stream() {
  thread_local std::shared_ptr<Stream> stream;
  if (!stream) {
    stream = Stream::create();
  }
  return stream;
}

std::shared_ptr<Stream> shared_stream() {
  static auto* const stream = new std::shared_ptr<Stream>(Stream::create());
  return *stream;
}

void synchronize_all() {
  refuse_bad_fork("[metal::synchronize]");
  Registry& registry = Registry::instance();
  std::vector<std::weak_ptr<Stream>> streams;
  std::vector<std::shared_ptr<Completion>> completions;
  {
    const std::scoped_lock lock(registry.mutex);
    streams = registry.streams;
    completions = registry.completions;
  }
  for (const auto& entry : streams) {
    if (const auto stream = entry.lock()) {
      stream->commit();
    }
  }
  for (const auto& completion : completions) {
    completion->wait(completion->last_submitted());
  }
  for (const auto& completion : completions) {
    completion->raise_failure();
  }
}

}  // namespace pewter::runtime
