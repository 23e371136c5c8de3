#include "pewter/runtime/stream.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "pewter/base/environment.h"
#include "pewter/runtime/allocator.h"
#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/block.h"
#include "pewter/runtime/completion.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/scheduler.h"

namespace pewter::runtime {
namespace {

constexpr std::chrono::milliseconds kSubmitPatience(100);
constexpr std::chrono::microseconds kSubmitPause(50);

/// Operations in a command buffer before it is submitted by itself.
std::size_t max_operations() {
  static const std::size_t count = environment::number("MLX_MAX_OPS_PER_BUFFER").value_or(40);
  return count;
}

/// Bytes of the buffers that a command buffer may use before it is submitted by itself.
std::size_t max_bytes() {
  static const std::size_t count = environment::number("MLX_MAX_MB_PER_BUFFER").value_or(40) << 20;
  return count;
}

/// Every stream of the process, and the completions of those that ended with work in flight.
struct Registry {
  std::mutex mutex;
  std::vector<std::weak_ptr<Stream>> streams;            // guarded by mutex
  std::vector<std::shared_ptr<Completion>> completions;  // guarded by mutex

  std::vector<std::shared_ptr<Stream>> live_streams() {
    const std::scoped_lock lock(mutex);
    std::vector<std::shared_ptr<Stream>> live;
    for (const auto& entry : streams) {
      if (auto stream = entry.lock()) {
        live.push_back(std::move(stream));
      }
    }
    return live;
  }

  static Registry& instance() {
    // Never destroyed: threads may end after main.
    static auto* const instance = new Registry;
    return *instance;
  }
};

/// Held while a stream looks for others' uses of buffers and makes its own known.
std::mutex& use_order() {
  // Never destroyed: threads may end after main.
  static auto* const mutex = new std::mutex;
  return *mutex;
}

/// Adds what a stream has to wait for before it may use a buffer, unless that is `known` or among
/// `others` already. Takes no share in any stream: the last one submits its work.
void add_pending(const BufferUse& wanted,
                 const std::weak_ptr<const Stream>& stream,
                 const std::vector<BlockDetails::Use>& known,
                 std::vector<BlockDetails::Use>& others) {
  if (!*wanted.buffer) {
    return;
  }
  const auto has = [](const std::vector<BlockDetails::Use>& uses, const BlockDetails::Use& use) {
    return std::any_of(uses.begin(), uses.end(), [&](const BlockDetails::Use& other) {
      return other.outcome == use.outcome;
    });
  };
  BlockDetails& details = wanted.buffer->block()->ensure_details();
  const std::scoped_lock lock(details.mutex);
  std::erase_if(details.uses, [](const BlockDetails::Use& use) {
    const Outcome::State state = use.outcome->state();
    return state == Outcome::State::Done ||
           (state == Outcome::State::Failed && use.outcome->was_seen());
  });
  for (const BlockDetails::Use& use : details.uses) {
    const bool is_own = !use.stream.owner_before(stream) && !stream.owner_before(use.stream);
    if (use.outcome->state() == Outcome::State::Pending && !is_own &&
        (wanted.access == Access::Write || use.writes) && !has(known, use) && !has(others, use)) {
      others.push_back(use);
    }
  }
}

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
  std::vector<std::shared_ptr<const Outcome>>* noted_tasks = nullptr;
  std::size_t operations = 0;
  // Of the buffers that the open command buffer uses.
  std::size_t bytes = 0;
  // Nested Exclusives of the thread that holds the mutex.
  int exclusive_depth = 0;
  const std::shared_ptr<Completion> completion = std::make_shared<Completion>();
};

Stream::Stream() : state_(std::make_unique<State>()) {}

std::shared_ptr<Stream> Stream::create() {
  const AutoreleaseScope scope;
  MTL::Device* metal = device();
  std::shared_ptr<Stream> stream(new Stream);
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

Stream::Exclusive::Exclusive(Stream& stream) : stream_(&stream) {
  stream.state_->mutex.lock();
  ++stream.state_->exclusive_depth;
}

void Stream::Exclusive::unlock() {
  if (Stream* stream = std::exchange(stream_, nullptr)) {
    --stream->state_->exclusive_depth;
    stream->state_->mutex.unlock();
  }
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
    state_->task = Task{.number = state_->open_task,
                        .outcome = std::make_shared<Outcome>(),
                        .buffers = {},
                        .handlers = {},
                        .computes_on_host = false};
  }
  if (state_->noted_tasks != nullptr &&
      (state_->noted_tasks->empty() || state_->noted_tasks->back() != state_->task.outcome)) {
    state_->noted_tasks->push_back(state_->task.outcome);
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

// What other streams may be waiting for must not wait for them in turn: each of two threads would
// have used what the other comes to, and neither command buffer would ever start. So a command
// buffer waits only as long as nobody can know what it uses, and all that a command uses becomes
// known at once.
void Stream::use(std::span<const BufferUse> uses) {
  const std::scoped_lock lock(state_->mutex);
  std::vector<BlockDetails::Use> waited_for;
  for (;;) {
    if (!state_->command_buffer) {
      command_buffer();
    }
    std::vector<BlockDetails::Use> others;
    {
      const std::scoped_lock order(use_order());
      for (const BufferUse& use : uses) {
        add_pending(use, weak_from_this(), waited_for, others);
      }
      if (others.empty()) {
        note(uses);
        return;
      }
    }
    if (!state_->task.buffers.empty()) {
      commit();
    }
    for (const BlockDetails::Use& other : others) {
      if (const auto stream = other.stream.lock()) {
        wait_for(*stream, other.task);
      } else {
        // Whoever destroyed the stream has submitted its work.
        other.outcome->wait();
      }
      waited_for.push_back(other);
    }
  }
}

void Stream::use(const Buffer& buffer, Access access) {
  const BufferUse only{&buffer, access};
  if (buffer) {
    use(std::span(&only, 1));
  }
}

void Stream::note(std::span<const BufferUse> uses) {
  command_buffer();
  for (const BufferUse& use : uses) {
    if (!*use.buffer) {
      continue;
    }
    state_->task.buffers.push_back(*use.buffer);
    BlockDetails& details = use.buffer->block()->ensure_details();
    const std::scoped_lock lock(details.mutex);
    const auto known = std::find_if(
        details.uses.begin(), details.uses.end(),
        [&](const BlockDetails::Use& noted) { return noted.outcome == state_->task.outcome; });
    const bool writes = use.access == Access::Write;
    if (known != details.uses.end()) {
      known->writes = known->writes || writes;
    } else {
      details.uses.push_back({weak_from_this(), state_->open_task, writes, state_->task.outcome});
      state_->bytes += use.buffer->length();
    }
  }
}

void Stream::on_completion(std::function<void()> handler) {
  const std::scoped_lock lock(state_->mutex);
  command_buffer();
  state_->task.handlers.push_back(std::move(handler));
}

void Stream::compute_on_completion(std::function<void()> work) {
  const std::scoped_lock lock(state_->mutex);
  on_completion(std::move(work));
  state_->task.computes_on_host = true;
}

void Stream::operation_encoded() {
  const std::scoped_lock lock(state_->mutex);
  ++state_->operations;
  const bool full = state_->operations >= max_operations() || state_->bytes > max_bytes() ||
                    allocator().under_pressure();
  if (full && state_->exclusive_depth == 0) {
    commit();
  }
  allocator().wait_for_memory_limit();
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
    state_->operations = 0;
    state_->bytes = 0;
    state_->completion->submitted(*task, command_buffer);
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

void Stream::raise_failure() {
  state_->completion->raise_failure();
}

void Stream::fail(const std::string& message) {
  state_->completion->fail(message);
}

std::uint64_t Stream::open_task() {
  const std::scoped_lock lock(state_->mutex);
  return state_->open_task;
}

std::shared_ptr<Outcome> Stream::open_outcome() {
  const std::scoped_lock lock(state_->mutex);
  command_buffer();
  return state_->task.outcome;
}

void Stream::note_tasks(std::vector<std::shared_ptr<const Outcome>>* tasks) {
  const std::scoped_lock lock(state_->mutex);
  state_->noted_tasks = tasks;
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
  // Two threads may each hold a stream whose work the other's depends on. Then this one goes on:
  // the wait is encoded all the same, and ends when the other thread submits.
  std::unique_lock lock(state_->mutex, std::defer_lock);
  const auto end = std::chrono::steady_clock::now() + kSubmitPatience;
  while (!lock.try_lock()) {
    if (state_->completion->last_submitted() >= task) {
      return;
    }
    if (std::chrono::steady_clock::now() > end) {
      return;
    }
    std::this_thread::sleep_for(kSubmitPause);
  }
  if (state_->open_task <= task) {
    commit();
  }
}

bool Stream::submit_if_free() {
  const std::unique_lock lock(state_->mutex, std::try_to_lock);
  // The thread that is encoding holds pointers into the open command buffer, even if it is this
  // one.
  if (!lock || state_->exclusive_depth != 0) {
    return false;
  }
  commit();
  return true;
}

std::shared_ptr<Stream> shared_stream() {
  static auto* const stream = new std::shared_ptr<Stream>(Stream::create());
  return *stream;
}

void submit_open_work() {
  for (const auto& stream : Registry::instance().live_streams()) {
    stream->submit_if_free();
  }
}

void synchronize_all() {
  refuse_bad_fork("[metal::synchronize]");
  Registry& registry = Registry::instance();
  for (const auto& stream : registry.live_streams()) {
    stream->commit();
  }
  std::vector<std::shared_ptr<Completion>> completions;
  {
    const std::scoped_lock lock(registry.mutex);
    completions = registry.completions;
  }
  for (const auto& completion : completions) {
    completion->wait(completion->last_submitted());
  }
  for (const auto& completion : completions) {
    completion->raise_failure();
  }
}

}  // namespace pewter::runtime
