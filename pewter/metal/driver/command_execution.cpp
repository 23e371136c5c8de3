#include <fmt/core.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <string_view>

#include "pewter/base/float_environment.h"
#include "pewter/base/log.h"
#include "pewter/metal/driver/command_buffer.h"
#include "pewter/metal/driver/command_queue.h"
#include "pewter/metal/driver/compute_pipeline.h"
#include "pewter/metal/driver/counters.h"
#include "pewter/metal/driver/event.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/driver/texture.h"

// The part of CommandBuffer that runs on the thread which drives the queue.
namespace pewter::driver {
namespace {

MTL::CommandBufferError code_of(executor::FaultKind kind) {
  switch (kind) {
    case executor::FaultKind::PageFault:
      return MTL::CommandBufferErrorPageFault;
    case executor::FaultKind::StackOverflow:
      return MTL::CommandBufferErrorStackOverflow;
    case executor::FaultKind::Timeout:
      return MTL::CommandBufferErrorTimeout;
    case executor::FaultKind::OutOfMemory:
      return MTL::CommandBufferErrorOutOfMemory;
    case executor::FaultKind::None:
    case executor::FaultKind::IllegalInstruction:
    case executor::FaultKind::Arithmetic:
      break;
  }
  return MTL::CommandBufferErrorInternal;
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

// `assert` of the MSL standard library writes to the address of its text with these bits set, where
// user programs never have memory.
constexpr std::uintptr_t kAssertionBits = 0xffff'8000'0000'0000;

/// The text of an assertion that failed; empty when the fault is another one. The address may come
/// from anywhere, so it is read as carefully as a kernel would be run.
std::string assertion_text(const executor::Fault& fault) {
  constexpr std::size_t kMostLetters = 1024;
  constexpr std::string_view kMark = ": assertion failed: ";
  std::string text;
  if ((fault.address & kAssertionBits) != kAssertionBits) {
    return text;
  }
  const auto* letter = reinterpret_cast<const char*>(fault.address & ~kAssertionBits);
  for (char copied = 0; text.size() < kMostLetters; ++letter) {
    if (executor::copy(&copied, letter, 1)) {
      return {};
    }
    if (copied == 0) {
      break;
    }
    text += copied;
  }
  return text.find(kMark) != std::string::npos ? text : std::string();
}

std::string text_of(const executor::Fault& fault) {
  switch (fault.kind) {
    case executor::FaultKind::PageFault:
      if (std::string assertion = assertion_text(fault); !assertion.empty()) {
        return assertion;
      }
      return fmt::format("page fault at address {:#x}", fault.address);
    case executor::FaultKind::StackOverflow:
      return "stack overflow";
    case executor::FaultKind::Timeout:
      return fmt::format("stopped after {} ms", executor::timeout_ms());
    case executor::FaultKind::OutOfMemory:
      return "no memory for the stacks of its threads";
    case executor::FaultKind::IllegalInstruction:
      return "illegal instruction";
    case executor::FaultKind::Arithmetic:
      return "integer division by zero or overflow";
    case executor::FaultKind::None:
      break;
  }
  return "unknown fault";
}

bool only_signals_follow(const Command& command) {
  const Command* next = command.next;
  while (next != nullptr && next->kind == CommandKind::Signal) {
    next = next->next;
  }
  return next == nullptr;
}

}  // namespace

CommandBuffer::Progress CommandBuffer::execute(executor::GridRun& run, bool may_yield) {
  const FloatEnvironment float_environment;
  if (!has_begun_) {
    begin();
  }
  while (next_command_ != nullptr) {
    Command& command = *next_command_;
    Command* next = command.next;
    bool goes_on = false;
    switch (command.kind) {
      case CommandKind::Dispatch:
      case CommandKind::IndirectDispatch:
        goes_on = running_ != nullptr || start_grids(run, static_cast<DispatchCommand&>(command));
        if (goes_on) {
          if (!run.advance(may_yield)) {
            return Progress::Yielded;
          }
          goes_on = check_grids(run);
          running_ = nullptr;
          next = after_running_;
        }
        break;
      case CommandKind::ExecuteCommands:
        goes_on = expand(static_cast<ExecuteCommandsCommand&>(command));
        next = command.next;
        break;
      case CommandKind::Copy: {
        const auto& copy = static_cast<const CopyCommand&>(command);
        goes_on = check(executor::copy(copy.to, copy.from, copy.byte_count), "copyFromBuffer");
        break;
      }
      case CommandKind::CopyTexels: {
        const auto& copy = static_cast<const CopyTexelsCommand&>(command);
        copy_texels(copy.to, copy.from);
        goes_on = true;
        break;
      }
      case CommandKind::MakeLevels:
        make_levels(*static_cast<const MakeLevelsCommand&>(command).texture);
        goes_on = true;
        break;
      case CommandKind::Sample: {
        const auto& sample = static_cast<const SampleCommand&>(command);
        sample.samples->samples[sample.index] = now_ns();
        goes_on = true;
        break;
      }
      case CommandKind::ResolveSamples: {
        const auto& resolve = static_cast<const ResolveSamplesCommand&>(command);
        std::memcpy(resolve.to, resolve.samples->samples.data() + resolve.first,
                    resolve.count * sizeof(std::uint64_t));
        goes_on = true;
        break;
      }
      case CommandKind::Fill: {
        const auto& fill = static_cast<const FillCommand&>(command);
        goes_on = check(executor::fill(fill.to, fill.value, fill.byte_count), "fillBuffer");
        break;
      }
      case CommandKind::Signal: {
        const auto& signal = static_cast<const SignalCommand&>(command);
        // Read before others may go on: what waits for this one must not seem to end before it.
        if (gpu_end == 0 && only_signals_follow(command)) {
          gpu_end = now_seconds();
        }
        signal.event->signal(signal.value);
        goes_on = true;
        break;
      }
      case CommandKind::Wait: {
        const auto& wait = static_cast<const WaitCommand&>(command);
        bool has_expired = queue_->has_expired();
        if (!has_expired && !queue_->wait_for(*wait.event, wait.value)) {
          return Progress::WaitsForEvent;
        }
        has_expired = has_expired || queue_->has_expired();
        goes_on = !has_expired || fail_wait(wait);
        break;
      }
    }
    if (!goes_on) {
      faulted_encoder_ = command.encoder;
    }
    next_command_ = goes_on ? next : nullptr;
  }
  return Progress::Completed;
}

void CommandBuffer::begin() {
  has_begun_ = true;
  gpu_start = now_seconds();
  if (error_) {
    next_command_ = nullptr;
    return;
  }
  has_begun_commands_ = true;
  executor::ensure_fault_handlers();
}

bool CommandBuffer::start_grids(executor::GridRun& run, DispatchCommand& first) {
  DispatchCommand* last = nullptr;
  for (Command* command = &first; command != nullptr; command = command->next) {
    if (command->kind != CommandKind::Dispatch && command->kind != CommandKind::IndirectDispatch) {
      break;
    }
    auto& dispatch = static_cast<DispatchCommand&>(*command);
    if (last != nullptr && !dispatch.overlaps_previous) {
      break;
    }
    if (command->kind == CommandKind::IndirectDispatch &&
        !read_grid(static_cast<IndirectDispatchCommand&>(*command))) {
      return false;
    }
    dispatch.grid.dispatch = &dispatch.dispatch;
    dispatch.grid.next = nullptr;
    if (last != nullptr) {
      last->grid.next = &dispatch.grid;
    }
    last = &dispatch;
  }
  after_running_ = last->next;
  running_ = &first;
  run.start(first.grid);
  return true;
}

bool CommandBuffer::check_grids(const executor::GridRun& run) {
  const DispatchCommand* command = running_;
  while (run.faulted() != nullptr && run.faulted() != &command->dispatch) {
    command = static_cast<const DispatchCommand*>(command->next);
  }
  return check(run.fault(), *command->pipeline);
}

bool CommandBuffer::read_grid(IndirectDispatchCommand& command) {
  abi::Launch& launch = command.dispatch.launch;
  std::memcpy(launch.threadgroups_per_grid, command.threadgroups_per_grid,
              sizeof(launch.threadgroups_per_grid));
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint64_t threads =
        std::uint64_t{launch.threadgroups_per_grid[axis]} * launch.threads_per_threadgroup[axis];
    if (threads > std::numeric_limits<std::uint32_t>::max()) {
      return fail(MTL::CommandBufferErrorInvalidResource,
                  fmt::format("indirect grid of kernel '{}' has {} threads along an axis, limit {}",
                              command.pipeline->kernel_name, threads,
                              std::numeric_limits<std::uint32_t>::max()));
    }
    launch.threads_per_grid[axis] = static_cast<std::uint32_t>(threads);
  }
  return true;
}

bool CommandBuffer::check(const executor::Fault& fault, const ComputePipelineState& pipeline) {
  return !fault ||
         fail(code_of(fault.kind),
              fmt::format("kernel '{}': {} in threadgroup ({}, {}, {})", pipeline.kernel_name,
                          text_of(fault), fault.group[0], fault.group[1], fault.group[2]));
}

bool CommandBuffer::check(const executor::Fault& fault, const char* action) {
  return !fault || fail(code_of(fault.kind), fmt::format("{}: {}", action, text_of(fault)));
}

bool CommandBuffer::fail_wait(const WaitCommand& wait) {
  return fail(MTL::CommandBufferErrorTimeout,
              fmt::format("event{} did not reach {} within {} ms",
                          wait.event->label ? fmt::format(" '{}'", wait.event->label->text) : "",
                          wait.value, executor::timeout_ms()));
}

bool CommandBuffer::fail(MTL::CommandBufferError code, const std::string& text) {
  logging::error("metal", "{}{}", label ? fmt::format("command buffer '{}': ", label->text) : "",
                 text);
  error_ = command_buffer_error(code, text);
  return false;
}

}  // namespace pewter::driver
