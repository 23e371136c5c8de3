#pragma once

#include <fmt/core.h>
#include <Metal/MTLCommandBuffer.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pewter/metal/driver/body.h"
#include "pewter/metal/driver/callback_thread.h"
#include "pewter/metal/driver/command_storage.h"
#include "pewter/metal/foundation/error.h"

namespace pewter::driver {

class CommandEncoder;
class CommandQueue;
class LogState;

/// The body of MTL::CommandBuffer.
///
/// Recorded by one thread, committed, then executed by whoever drives the queue. A mistake in
/// recording is logged at once; the command buffer then runs nothing and ends with that error.
class CommandBuffer final : public Object {
 public:
  using Public = MTL::CommandBuffer;
  static constexpr ClassInfo kClass{"MTL::CommandBuffer", &Object::kClass};

  CommandBuffer(Ref<CommandQueue> queue,
                std::unique_ptr<CommandStorage> storage,
                bool retains_references,
                MTL::CommandBufferErrorOption error_options);
  ~CommandBuffer() override;

  // Recording.

  /// Whether commands may still be added; says so in the log, as done by `action`, when not.
  bool is_recording(const char* action);
  CommandStorage& storage() { return *storage_; }
  /// Holds a reference until the commands have run, unless that was declined.
  void keep(Object* object);
  /// Notes a mistake of the program's; the first one becomes the error of the command buffer.
  template <typename... Arguments>
  void reject(MTL::CommandBufferError code,
              fmt::format_string<Arguments...> format,
              Arguments&&... arguments) {
    reject_text(code, fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  /// Makes an encoder the open one; returns its number.
  std::uint32_t open(CommandEncoder& encoder);
  /// Where the messages of its kernels go; null when nobody wants them.
  abi::LogBuffer* log_buffer();
  void close(CommandEncoder& encoder);
  void signal(Event* event, std::uint64_t value);
  void wait(Event* event, std::uint64_t value);
  void push_debug_group() { ++debug_groups_; }
  void pop_debug_group();

  // The life of a command buffer.

  void add_handler(bool scheduled, MTL::HandlerFunction handler);
  void enqueue();
  void commit();
  void wait_until_scheduled();
  void wait_until_completed();

  // For the queue.

  bool is_committed() const { return is_committed_.load(std::memory_order_acquire); }
  bool is_completed() const { return status() >= MTL::CommandBufferStatusCompleted; }
  void set_enqueued() { status_.store(MTL::CommandBufferStatusEnqueued); }
  void set_committed();
  void set_scheduled();
  enum class Progress : std::uint8_t { Completed, WaitsForEvent, Yielded };
  /// Runs what is left, grids through `run`. With `may_yield` it makes way for other work on the
  /// way.
  Progress execute(executor::GridRun& run, bool may_yield);
  /// Makes the result known. Returns the storage, emptied.
  std::unique_ptr<CommandStorage> finish();

  CommandQueue& queue() const { return *queue_; }
  bool retains_references() const { return retains_references_; }
  MTL::CommandBufferErrorOption error_options() const { return error_options_; }
  MTL::CommandBufferStatus status() const { return status_.load(std::memory_order_acquire); }
  foundation::Error* error() const;

  double kernel_start = 0;
  double kernel_end = 0;
  double gpu_start = 0;
  /// Zero until the last work is done; events that are signalled after it do not count.
  double gpu_end = 0;
  Ref<String> label;
  /// Null for messages that go to the log of the process.
  Ref<LogState> log_state;

  // Places in the queue, guarded by its mutex.
  CommandBuffer* previous_in_queue = nullptr;
  CommandBuffer* next_in_queue = nullptr;
  bool is_in_queue = false;

 private:
  /// What is left of an encoder when its command buffer fails.
  struct EncoderRecord {
    Ref<String> label;
    std::vector<Ref<String>> signposts;
  };

  static double now_seconds();

  void reject_text(MTL::CommandBufferError code, const std::string& text);
  void begin();
  // These return whether the next command may run.
  bool start_grids(executor::GridRun& run, DispatchCommand& first);
  bool check_grids(const executor::GridRun& run);
  bool read_grid(IndirectDispatchCommand& command);
  /// Puts the dispatches of an indirect command buffer behind the command.
  bool expand(ExecuteCommandsCommand& execute);
  bool check(const executor::Fault& fault, const ComputePipelineState& pipeline);
  bool check(const executor::Fault& fault, const char* action);
  bool fail_wait(const WaitCommand& wait);
  bool fail(MTL::CommandBufferError code, const std::string& text);
  void attach_encoder_infos();
  void deliver_messages();
  void run_handlers(std::vector<MTL::HandlerFunction>& handlers,
                    std::atomic<std::uint32_t>& pending,
                    CallbackThread::Caller caller);

  const Ref<CommandQueue> queue_;
  const bool retains_references_;
  const MTL::CommandBufferErrorOption error_options_;
  std::unique_ptr<CommandStorage> storage_;
  CommandEncoder* open_encoder_ = nullptr;
  std::uint32_t encoder_count_ = 0;
  std::uint32_t debug_groups_ = 0;
  std::vector<EncoderRecord> encoders_;
  std::unique_ptr<std::byte[]> log_memory_;
  std::vector<MTL::HandlerFunction> scheduled_handlers_;
  std::vector<MTL::HandlerFunction> completed_handlers_;

  // Belong to the thread that drives the queue once the command buffer is committed.
  Command* next_command_ = nullptr;
  // The dispatches that are running, and what follows them; null when none is.
  DispatchCommand* running_ = nullptr;
  Command* after_running_ = nullptr;
  bool has_begun_ = false;
  bool has_begun_commands_ = false;
  std::uint32_t faulted_encoder_ = 0;
  Ref<foundation::Error> error_;

  std::atomic<bool> is_committed_ = false;
  std::atomic<MTL::CommandBufferStatus> status_ = MTL::CommandBufferStatusNotEnqueued;
  // Zero once the state is reached and its handlers have run.
  std::atomic<std::uint32_t> scheduled_pending_ = 1;
  std::atomic<std::uint32_t> completed_pending_ = 1;
  // Threads that wait for the handlers of completion too, and call them.
  std::atomic<std::uint32_t> waiters_ = 0;
};

}  // namespace pewter::driver
