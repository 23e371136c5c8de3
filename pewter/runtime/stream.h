#pragma once

#include <Metal/Metal.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pewter/runtime/buffer.h"
#include "pewter/runtime/outcome.h"

namespace pewter::runtime {

enum class Access { Read, Write };

/// What a command does with a buffer, which may be null.
struct BufferUse {
  const Buffer* buffer;
  Access access;
};

/// An ordered queue of work on the device, with the command buffer that is being filled.
///
/// Work is encoded into the open command buffer and starts at commit(). The first failure sticks to
/// the stream and surfaces at the next wait, once, unless whoever depends on that command buffer
/// has seen it. Every call locks the stream; hold exclusive() to
/// keep several calls together.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  /// Throws std::runtime_error without a device.
  static std::shared_ptr<Stream> create();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Keeps other threads out until it is destroyed, and the open command buffer open; the same
  /// thread may call on.
  class Exclusive {
   public:
    explicit Exclusive(Stream& stream);
    Exclusive(Exclusive&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
    Exclusive& operator=(Exclusive&&) = delete;
    ~Exclusive() { unlock(); }

    /// Ends it early.
    void unlock();

   private:
    Stream* stream_;
  };
  [[nodiscard]] Exclusive exclusive() { return Exclusive(*this); }

  /// The open command buffer, begun when there is none. Valid until commit().
  MTL::CommandBuffer* command_buffer();
  /// The open encoder of that kind in the open command buffer; the other kind is ended first. Valid
  /// until the next call that is not encoding of the same kind.
  MTL::ComputeCommandEncoder* compute_encoder();
  MTL::BlitCommandEncoder* blit_encoder();
  /// Ends the open encoder, for commands that stand between encoders.
  void end_encoding();

  /// Keeps the buffers of a command from being reused before the open command buffer has completed,
  /// and makes it wait for other streams' work on them: for writers, and for readers too where the
  /// command writes. To be called before the command is encoded, once for all of its buffers: where
  /// there is something to wait for, what was used before is submitted first.
  void use(std::span<const BufferUse> uses);
  void use(const Buffer& buffer, Access access = Access::Write);
  /// Runs once the open command buffer has completed, failed or not, on a thread of the driver or
  /// on one that waits for it. Must not throw or wait.
  void on_completion(std::function<void()> handler);
  /// Likewise, for work that later tasks wait for: a thread that waits for those does it itself.
  void compute_on_completion(std::function<void()> work);

  /// To be called after each operation that was encoded: submits the open command buffer once it
  /// holds enough operations or bytes, and waits while the memory limit is passed and tasks in
  /// flight may free some.
  void operation_encoded();

  /// Submits the open command buffer; does nothing when nothing was encoded. Blocks while too many
  /// tasks are in flight.
  void commit();
  /// commit(), then waits for everything submitted. Throws std::runtime_error with the first
  /// failure that nobody has seen, and forgets it.
  void synchronize();
  /// Whether everything submitted has completed and nothing is open.
  bool idle();

  /// Throws std::runtime_error with the first failure that nobody has seen, and forgets it; does
  /// not wait.
  void raise_failure();
  /// Records a failure that the device cannot know of; the first one counts.
  void fail(const std::string& message);

  /// Numbers count up from 1 for each command buffer; that of the open one, or of the next.
  std::uint64_t open_task();
  /// What becomes of the open command buffer, which is begun when there is none.
  std::shared_ptr<Outcome> open_outcome();
  /// Adds to `tasks`, until it is called with null, what becomes of each command buffer that
  /// something is encoded into.
  void note_tasks(std::vector<std::shared_ptr<const Outcome>>* tasks);
  /// Signalled by the device with the number of each task that completes.
  MTL::SharedEvent* completion_event() const;
  /// Makes later work of this stream wait until `other` has completed `task`, which is submitted
  /// first if it is still open.
  void wait_for(Stream& other, std::uint64_t task);
  /// Blocks the host until `task` has completed; submits it if it is still open. Throws nothing of
  /// what the task did.
  void wait_on_host(std::uint64_t task);

 private:
  struct State;

  Stream();
  /// Makes it known that the open command buffer uses them; nobody else may look meanwhile.
  void note(std::span<const BufferUse> uses);
  void submit_through(std::uint64_t task);
  bool submit_if_free();
  friend void submit_open_work();

  std::unique_ptr<State> state_;
};

/// One stream for all threads: what the mps front door works on.
std::shared_ptr<Stream> shared_stream();

/// Submits the open work of every stream that no thread is encoding on.
void submit_open_work();

/// Submits the open work of every stream and waits for all of it. Throws the first failure.
void synchronize_all();

}  // namespace pewter::runtime
