#include "pewter/runtime/host_work.h"

#include <unistd.h>

#include <Metal/Metal.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "pewter/base/float_environment.h"
#include "pewter/base/worker_pool.h"
#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/device.h"

namespace pewter::runtime {
namespace {

// Who works raises the count and then reads the flag, the end does it the other way round: one of
// the two sees the other.
constinit std::atomic<std::uint32_t> running = 0;
constinit std::atomic<bool> has_program_ended = false;
// Work that has been committed and is not done.
constinit std::atomic<std::uint32_t> pending = 0;

/// Called before any library ends, also one that the program has loaded itself.
void finish_at_exit() {
  // Work may wait for a kernel that does not end.
  constexpr std::chrono::seconds kPatience(2);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!in_bad_fork() && pending.load() > 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void leave() {
  running.fetch_sub(1);
  running.notify_all();
}

/// Once the program has ended, the thread stays here for as long as the process lasts.
void run(const std::function<void()>& work) {
  running.fetch_add(1);
  if (has_program_ended.load()) {
    leave();
    while (true) {
      pause();
    }
  }
  {
    const FloatEnvironment float_environment;
    work();
  }
  leave();
}

/// Called after the destructors of static objects, and before those of libraries that were loaded
/// later, which the host may be computing with.
[[gnu::destructor]] void end_with_program() {
  has_program_ended.store(true);
  // A forked child has the count, but not the threads.
  if (!in_bad_fork()) {
    wait_until_zero(running);
  }
}

}  // namespace

void encode_host_work(Stream& stream,
                      std::span<const Buffer> reads,
                      const Buffer& writes,
                      std::function<void()> work) {
  static const int registered = std::atexit(&finish_at_exit);
  static_cast<void>(registered);
  const AutoreleaseScope scope;
  const auto done = NS::TransferPtr(device()->newSharedEvent());
  if (!done) {
    throw std::runtime_error("[metal::Stream] the device has no room for another event");
  }
  {
    const auto guard = stream.exclusive();
    std::vector<BufferUse> uses;
    for (const Buffer& buffer : reads) {
      uses.push_back({&buffer, Access::Read});
    }
    uses.push_back({&writes, Access::Write});
    stream.use(uses);
    stream.compute_on_completion([work = std::move(work), done] {
      run(work);
      pending.fetch_sub(1);
      done->setSignaledValue(1);
    });
    pending.fetch_add(1);
  }
  stream.commit();

  const auto guard = stream.exclusive();
  stream.end_encoding();
  stream.command_buffer()->encodeWait(done.get(), 1);
  stream.use(writes, Access::Write);
}

}  // namespace pewter::runtime
