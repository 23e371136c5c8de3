#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "pewter/metal/driver/command_buffer.h"
#include "pewter/metal/driver/compute_pipeline.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/indirect_command_buffer.h"

// Commands of indirect command buffers, which become dispatches when their turn comes: kernels that
// ran before may have written them, so nothing in them is believed.
namespace pewter::driver {
namespace {

constexpr std::uint64_t kThreadgroupAlignment = 16;

std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + kThreadgroupAlignment - 1) / kThreadgroupAlignment * kThreadgroupAlignment;
}

Result<void> set_grid(const abi::IndirectCommand& command,
                      const ComputePipelineState& pipeline,
                      abi::Launch& launch) {
  std::uint64_t group_threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint64_t size = command.threads_per_threadgroup[axis];
    group_threads =
        std::min<std::uint64_t>(group_threads * size, abi::kMaxThreadsPerThreadgroup + 1);
    if (pipeline.required_threads[0] != 0 && size != pipeline.required_threads[axis]) {
      return failure(fmt::format("kernel '{}' requires threadgroups of {} x {} x {} threads",
                                 pipeline.kernel_name, pipeline.required_threads[0],
                                 pipeline.required_threads[1], pipeline.required_threads[2]));
    }
  }
  if (group_threads == 0 || group_threads > pipeline.max_total_threads) {
    return failure(fmt::format(
        "threadgroup of {} x {} x {} threads, but kernel '{}' needs 1 to {} threads",
        command.threads_per_threadgroup[0], command.threads_per_threadgroup[1],
        command.threads_per_threadgroup[2], pipeline.kernel_name, pipeline.max_total_threads));
  }
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint64_t size = command.threads_per_threadgroup[axis];
    const std::uint64_t threads = command.kind == abi::IndirectKind::Threadgroups
                                      ? command.grid[axis] * size
                                      : command.grid[axis];
    if (threads > std::numeric_limits<std::uint32_t>::max()) {
      return failure(fmt::format("grid of kernel '{}' has {} threads along an axis, limit {}",
                                 pipeline.kernel_name, threads,
                                 std::numeric_limits<std::uint32_t>::max()));
    }
    launch.threads_per_threadgroup[axis] = static_cast<std::uint32_t>(size);
    launch.threads_per_grid[axis] = static_cast<std::uint32_t>(threads);
    launch.threadgroups_per_grid[axis] = static_cast<std::uint32_t>((threads + size - 1) / size);
    launch.grid_origin[axis] = command.grid_origin[axis];
  }
  return {};
}

/// Returns the bytes of threadgroup memory.
Result<std::uint32_t> lay_out_threadgroup_memory(const abi::IndirectCommand& command,
                                                 const ComputePipelineState& pipeline,
                                                 abi::Launch& launch) {
  std::uint64_t total = round_up(pipeline.static_threadgroup_bytes);
  for (const compiler::Parameter& parameter : pipeline.parameters) {
    if (parameter.kind != compiler::ParameterKind::Threadgroup ||
        parameter.index >= abi::kMaxThreadgroupArguments) {
      continue;
    }
    const std::uint32_t length = command.threadgroup_lengths[parameter.index];
    if (length == 0 && (pipeline.required_threadgroup_arguments >> parameter.index & 1) != 0) {
      return failure(
          fmt::format("kernel '{}' has no threadgroup memory for parameter '{}' at "
                      "index {}",
                      pipeline.kernel_name, parameter.name, parameter.index));
    }
    launch.threadgroup_offsets[parameter.index] = static_cast<std::uint32_t>(total);
    total += round_up(length);
  }
  if (total > abi::kMaxThreadgroupMemory) {
    return failure(fmt::format("kernel '{}' needs {} bytes of threadgroup memory, limit {}",
                               pipeline.kernel_name, total, abi::kMaxThreadgroupMemory));
  }
  return static_cast<std::uint32_t>(total);
}

Result<void> check_bindings(const ComputePipelineState& pipeline, const abi::Launch& launch) {
  for (const compiler::Parameter& parameter : pipeline.parameters) {
    if (parameter.kind == compiler::ParameterKind::Texture ||
        parameter.kind == compiler::ParameterKind::Sampler) {
      return failure(
          fmt::format("kernel '{}' has textures or samplers, which indirect commands "
                      "cannot bind",
                      pipeline.kernel_name));
    }
    const bool is_buffer = parameter.kind == compiler::ParameterKind::Buffer ||
                           parameter.kind == compiler::ParameterKind::FunctionTable;
    if (is_buffer && (pipeline.required_buffers >> parameter.index & 1) != 0 &&
        launch.buffers[parameter.index] == nullptr) {
      return failure(fmt::format("kernel '{}' has no buffer for parameter '{}' at index {}",
                                 pipeline.kernel_name, parameter.name, parameter.index));
    }
  }
  return {};
}

/// Fills in a dispatch. `command` is the caller's own copy.
Result<void> make_dispatch(const abi::IndirectCommand& command,
                           const ExecuteCommandsCommand& execute,
                           DispatchCommand& dispatch) {
  const IndirectCommandBuffer& source = *execute.commands;
  const ComputePipelineState* pipeline = execute.pipeline;
  if (!source.inherits_pipeline) {
    if (!device().knows_pipeline(command.pipeline)) {
      return failure(command.pipeline == 0 ? "it has no pipeline"
                                           : "its pipeline is gone, or was made without "
                                             "supportIndirectCommandBuffers");
    }
    pipeline = reinterpret_cast<const ComputePipelineState*>(command.pipeline);
  }
  if (pipeline == nullptr) {
    return failure("it inherits the encoder's pipeline, which is not set");
  }
  abi::Launch& launch = dispatch.dispatch.launch;
  launch = execute.launch;
  launch.log = nullptr;
  if (!source.inherits_buffers) {
    for (std::uint32_t index = 0; index < abi::kMaxBuffers; ++index) {
      launch.buffers[index] = reinterpret_cast<const void*>(command.buffers[index]);
    }
  }
  if (auto set = set_grid(command, *pipeline, launch); !set) {
    return set;
  }
  if (auto bound = check_bindings(*pipeline, launch); !bound) {
    return bound;
  }
  auto bytes = lay_out_threadgroup_memory(command, *pipeline, launch);
  if (!bytes) {
    return bytes.error();
  }
  dispatch.pipeline = pipeline;
  dispatch.overlaps_previous = command.has_barrier == 0;
  dispatch.dispatch.threadgroup_bytes = *bytes;
  dispatch.dispatch.group_ns = &pipeline->group_ns;
  return pipeline->variants->choose(dispatch.dispatch);
}

}  // namespace

bool CommandBuffer::expand(ExecuteCommandsCommand& execute) {
  NS::Range range = NS::Range(execute.first, execute.count);
  if (execute.range != nullptr) {
    MTL::IndirectCommandBufferExecutionRange given = {};
    std::memcpy(&given, execute.range, sizeof given);
    range = NS::Range(given.location, given.length);
    if (const std::string misfit = IndirectCommandBuffer::misfit(execute.commands, range);
        !misfit.empty()) {
      return fail(MTL::CommandBufferErrorInvalidResource, "executeCommandsInBuffer: " + misfit);
    }
  }
  Command* last = &execute;
  Command* const rest = execute.next;
  for (NS::UInteger number = 0; number < range.length; ++number) {
    const NS::UInteger index = range.location + number;
    // A copy: a kernel may be writing to it, against the rules.
    const abi::IndirectCommand command = execute.commands->command(index);
    if (command.kind == abi::IndirectKind::None) {
      continue;
    }
    const std::size_t size = sizeof(DispatchCommand);
    auto* dispatch = new (storage_->allocate(size, alignof(DispatchCommand))) DispatchCommand;
    dispatch->kind = CommandKind::Dispatch;
    dispatch->encoder = execute.encoder;
    const auto made = make_dispatch(command, execute, *dispatch);
    if (!made) {
      return fail(MTL::CommandBufferErrorInvalidResource,
                  fmt::format("indirect command {}: {}", index, made.error().message));
    }
    if (dispatch->pipeline->uses_log) {
      dispatch->dispatch.launch.log = log_buffer();
    }
    dispatch->next = rest;
    last->next = dispatch;
    last = dispatch;
  }
  return true;
}

}  // namespace pewter::driver
