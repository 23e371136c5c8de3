#include "pewter/metal/driver/compute_command_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "pewter/base/cpu.h"
#include "pewter/base/environment.h"

namespace pewter::driver {
namespace {

constexpr std::uint64_t kMaxInlineBytes = 4096;
// As aligned as any type of MSL, so that a kernel may read it by any of them.
constexpr std::size_t kInlineAlignment = 32;
constexpr std::uint32_t kThreadgroupAlignment = 16;
constexpr std::uint64_t kMaxGridThreads = std::numeric_limits<std::uint32_t>::max();

std::uint32_t round_up(std::uint32_t bytes) {
  return (bytes + kThreadgroupAlignment - 1) / kThreadgroupAlignment * kThreadgroupAlignment;
}

/// Copies the bindings that the pipeline's kernel reads: thousands of dispatches then pass through
/// caches that whole launches would overflow.
void copy_used(const abi::Launch& from, const ComputePipelineState& pipeline, abi::Launch& to) {
  std::copy_n(from.buffers, pipeline.buffer_limit, to.buffers);
  std::copy_n(from.threadgroup_offsets, pipeline.threadgroup_argument_limit,
              to.threadgroup_offsets);
  std::copy(std::begin(from.grid_origin), std::end(from.grid_origin), std::begin(to.grid_origin));
  to.textures = from.textures;
  to.samplers = from.samplers;
}

/// Sets the sizes of a grid that fits its limits.
void set_grid(const std::uint64_t (&threads)[3], const MTL::Size& group_size, abi::Launch& launch) {
  const std::uint64_t size[] = {group_size.width, group_size.height, group_size.depth};
  for (int axis = 0; axis < 3; ++axis) {
    launch.threads_per_threadgroup[axis] = static_cast<std::uint32_t>(size[axis]);
    launch.threads_per_grid[axis] = static_cast<std::uint32_t>(threads[axis]);
    launch.threadgroups_per_grid[axis] =
        static_cast<std::uint32_t>((threads[axis] + size[axis] - 1) / size[axis]);
  }
}

}  // namespace

void ComputeCommandEncoder::set_pipeline(ComputePipelineState* pipeline) {
  if (!is_open("setComputePipelineState")) {
    return;
  }
  if (pipeline == nullptr) {
    buffer().reject(MTL::CommandBufferErrorInternal, "setComputePipelineState without a pipeline");
    return;
  }
  buffer().keep(pipeline);
  pipeline_ = pipeline;
  is_checked_ = false;
}

bool ComputeCommandEncoder::is_index(const char* action, std::uint64_t index, std::uint64_t limit) {
  if (index < limit) {
    return true;
  }
  buffer().reject(MTL::CommandBufferErrorInvalidResource, "{} at index {}, limit {}", action, index,
                  limit - 1);
  return false;
}

void ComputeCommandEncoder::set_bytes(const void* bytes,
                                      std::uint64_t length,
                                      std::uint64_t index) {
  if (!is_open("setBytes") || !is_index("setBytes", index, abi::kMaxBuffers)) {
    return;
  }
  if (bytes == nullptr && length != 0) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "setBytes at index {} without bytes",
                    index);
    return;
  }
  if (length > kMaxInlineBytes) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "setBytes of {} bytes at index {}, limit {}", length, index, kMaxInlineBytes);
    return;
  }
  // No bytes are bound too: programs hand over empty vectors, for kernels that do not read them.
  void* copy = buffer().storage().allocate(std::max<std::uint64_t>(length, 1), kInlineAlignment);
  if (length != 0) {
    std::memcpy(copy, bytes, length);
  }
  launch_.buffers[index] = copy;
  slots_[index] = {nullptr, length, nullptr};
  is_checked_ = false;
}

void ComputeCommandEncoder::set_buffer(Buffer* target, std::uint64_t offset, std::uint64_t index) {
  if (!is_open("setBuffer") || !is_index("setBuffer", index, abi::kMaxBuffers)) {
    return;
  }
  if (target == nullptr) {
    launch_.buffers[index] = nullptr;
    slots_[index] = {};
    is_checked_ = false;
    return;
  }
  buffer().keep(target);
  slots_[index] = {target, 0, nullptr};
  bind("setBuffer", offset, index);
}

void ComputeCommandEncoder::set_buffer_offset(std::uint64_t offset, std::uint64_t index) {
  if (!is_open("setBufferOffset") || !is_index("setBufferOffset", index, abi::kMaxBuffers)) {
    return;
  }
  if (slots_[index].buffer == nullptr) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "setBufferOffset at index {}, where no buffer is bound", index);
    return;
  }
  bind("setBufferOffset", offset, index);
}

bool ComputeCommandEncoder::bind(const char* action, std::uint64_t offset, std::uint64_t index) {
  const Buffer& target = *slots_[index].buffer;
  is_checked_ = false;
  if (offset > target.length()) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "{} at index {}: offset {} is past the end of a buffer of {} bytes", action,
                    index, offset, target.length());
    launch_.buffers[index] = nullptr;
    slots_[index] = {};
    return false;
  }
  launch_.buffers[index] = target.data() + offset;
  slots_[index].available = target.length() - offset;
  return true;
}

void ComputeCommandEncoder::set_threadgroup_memory_length(std::uint64_t length,
                                                          std::uint64_t index) {
  constexpr const char* kAction = "setThreadgroupMemoryLength";
  if (!is_open(kAction) || !is_index(kAction, index, abi::kMaxThreadgroupArguments)) {
    return;
  }
  if (length > abi::kMaxThreadgroupMemory) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "{} of {} bytes at index {}, limit {}",
                    kAction, length, index, abi::kMaxThreadgroupMemory);
    return;
  }
  threadgroup_lengths_[index] = static_cast<std::uint32_t>(length);
  is_checked_ = false;
}

void ComputeCommandEncoder::set_grid_origin(const MTL::Origin& origin) {
  if (is_open("setStageInRegion")) {
    launch_.grid_origin[0] = static_cast<std::uint32_t>(origin.x);
    launch_.grid_origin[1] = static_cast<std::uint32_t>(origin.y);
    launch_.grid_origin[2] = static_cast<std::uint32_t>(origin.z);
  }
}

bool ComputeCommandEncoder::is_ready(const char* action, const MTL::Size& group_size) {
  if (!is_open(action)) {
    return false;
  }
  if (pipeline_ == nullptr) {
    buffer().reject(MTL::CommandBufferErrorInternal, "{} without a compute pipeline state", action);
    return false;
  }
  return has_valid_group(group_size) && has_valid_bindings();
}

bool ComputeCommandEncoder::has_valid_group(const MTL::Size& group_size) {
  const std::uint64_t limit = pipeline_->max_total_threads;
  const std::uint64_t size[] = {group_size.width, group_size.height, group_size.depth};
  std::uint64_t threads = 1;
  for (const std::uint64_t length : size) {
    // One axis over the limit is enough, and keeps the product from overflowing.
    threads = threads == 0 || length == 0 ? 0 : std::min(length, limit + 1) * threads;
  }
  if (threads == 0 || threads > limit) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "threadgroup of {} x {} x {} threads, but kernel '{}' needs 1 to {} threads",
                    size[0], size[1], size[2], pipeline_->kernel_name, limit);
    return false;
  }
  const std::uint32_t(&required)[3] = pipeline_->required_threads;
  if (required[0] != 0 && !std::equal(std::begin(size), std::end(size), std::begin(required))) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "threadgroup of {} x {} x {} threads, but kernel '{}' requires {} x {} x {}",
                    size[0], size[1], size[2], pipeline_->kernel_name, required[0], required[1],
                    required[2]);
    return false;
  }
  return true;
}

bool ComputeCommandEncoder::has_valid_bindings() {
  if (is_checked_) {
    return true;
  }
  for (const compiler::Parameter& parameter : pipeline_->parameters) {
    const bool fits =
        parameter.kind == compiler::ParameterKind::Buffer          ? is_bound(parameter)
        : parameter.kind == compiler::ParameterKind::Texture       ? is_texture_bound(parameter)
        : parameter.kind == compiler::ParameterKind::Sampler       ? is_sampler_bound(parameter)
        : parameter.kind == compiler::ParameterKind::FunctionTable ? is_table_bound(parameter)
                                                                   : true;
    if (!fits) {
      return false;
    }
  }
  is_checked_ = lay_out_threadgroup_memory();
  return is_checked_;
}

bool ComputeCommandEncoder::is_bound(const compiler::Parameter& parameter) {
  const std::uint32_t index = parameter.index;
  if (index >= abi::kMaxBuffers || (pipeline_->required_buffers >> index & 1) == 0) {
    return true;
  }
  if (launch_.buffers[index] == nullptr || slots_[index].table != nullptr) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "kernel '{}' has no buffer for parameter '{}' at index {}",
                    pipeline_->kernel_name, parameter.name, index);
    return false;
  }
  if (parameter.is_reference && slots_[index].available < parameter.size) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "kernel '{}' has {} bytes for parameter '{}' of {} bytes at index {}",
                    pipeline_->kernel_name, slots_[index].available, parameter.name, parameter.size,
                    index);
    return false;
  }
  return true;
}

bool ComputeCommandEncoder::lay_out_threadgroup_memory() {
  std::uint64_t total = round_up(pipeline_->static_threadgroup_bytes);
  for (const compiler::Parameter& parameter : pipeline_->parameters) {
    if (parameter.kind != compiler::ParameterKind::Threadgroup ||
        parameter.index >= abi::kMaxThreadgroupArguments) {
      continue;
    }
    const std::uint32_t length = threadgroup_lengths_[parameter.index];
    if (length == 0 && (pipeline_->required_threadgroup_arguments >> parameter.index & 1) != 0) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "kernel '{}' has no threadgroup memory for parameter '{}' at index {}",
                      pipeline_->kernel_name, parameter.name, parameter.index);
      return false;
    }
    launch_.threadgroup_offsets[parameter.index] = static_cast<std::uint32_t>(total);
    total += round_up(length);
  }
  if (total > abi::kMaxThreadgroupMemory) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "kernel '{}' needs {} bytes of threadgroup memory, limit {}",
                    pipeline_->kernel_name, total, abi::kMaxThreadgroupMemory);
    return false;
  }
  threadgroup_bytes_ = static_cast<std::uint32_t>(total);
  return true;
}

void ComputeCommandEncoder::record(const std::uint64_t (&threads)[3], const MTL::Size& group_size) {
  for (const std::uint64_t along_axis : threads) {
    if (along_axis > kMaxGridThreads) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "grid of kernel '{}' has {} threads along an axis, limit {}",
                      pipeline_->kernel_name, along_axis, kMaxGridThreads);
      return;
    }
  }
  auto& command = append<DispatchCommand>();
  set_grid(threads, group_size, command.dispatch.launch);
  fill(command);
}

void ComputeCommandEncoder::fill(DispatchCommand& command) {
  command.pipeline = pipeline_;
  command.overlaps_previous = overlaps_previous_;
  copy_used(launch_, *pipeline_, command.dispatch.launch);
  command.dispatch.launch.streams = pipeline_->streamed_buffers != 0 && streams() ? 1 : 0;
  command.dispatch.launch.log = pipeline_->uses_log ? buffer().log_buffer() : nullptr;
  resources_in_use_ = resources_ != nullptr;
  if (auto chosen = pipeline_->variants->choose(command.dispatch); !chosen) {
    buffer().reject(MTL::CommandBufferErrorInternal, "kernel '{}' for this threadgroup size: {}",
                    pipeline_->kernel_name, chosen.error().message);
  }
  command.dispatch.threadgroup_bytes = threadgroup_bytes_;
  command.dispatch.group_ns = &pipeline_->group_ns;
  overlaps_previous_ = dispatch_type == MTL::DispatchTypeConcurrent;
}

bool ComputeCommandEncoder::streams() const {
  // What is left of a larger result in the caches is too little to find there again.
  static const std::uint64_t most_cached =
      environment::number("PEWTER_STREAM_BYTES").value_or(cpu::largest_cache_bytes());
  std::uint64_t bytes = 0;
  for (std::uint32_t left = pipeline_->streamed_buffers; left != 0; left &= left - 1) {
    bytes += slots_[std::countr_zero(left)].available;
  }
  return bytes > most_cached;
}

void ComputeCommandEncoder::barrier() {
  if (is_open("memoryBarrier")) {
    overlaps_previous_ = false;
  }
}

void ComputeCommandEncoder::dispatch_threads(const MTL::Size& threads,
                                             const MTL::Size& group_size) {
  if (is_ready("dispatchThreads", group_size)) {
    record({threads.width, threads.height, threads.depth}, group_size);
  }
}

void ComputeCommandEncoder::dispatch_groups(const MTL::Size& groups, const MTL::Size& group_size) {
  if (!is_ready("dispatchThreadgroups", group_size)) {
    return;
  }
  // A count beyond the limit stays beyond it, without overflowing the product.
  const auto threads = [](std::uint64_t count, std::uint64_t size) {
    return std::min(count, kMaxGridThreads + 1) * size;
  };
  record({threads(groups.width, group_size.width), threads(groups.height, group_size.height),
          threads(groups.depth, group_size.depth)},
         group_size);
}

void ComputeCommandEncoder::dispatch_groups(Buffer* arguments,
                                            std::uint64_t offset,
                                            const MTL::Size& group_size) {
  if (!is_ready("dispatchThreadgroups", group_size)) {
    return;
  }
  constexpr std::uint64_t kBytes = sizeof(MTL::DispatchThreadgroupsIndirectArguments);
  if (arguments == nullptr || offset % alignof(std::uint32_t) != 0 ||
      offset > arguments->length() || arguments->length() - offset < kBytes) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "dispatchThreadgroups reads {} bytes at offset {} of an indirect buffer of {} "
                    "bytes; the offset must be a multiple of 4",
                    kBytes, offset, arguments != nullptr ? arguments->length() : 0);
    return;
  }
  buffer().keep(arguments);
  auto& command = append<IndirectDispatchCommand>();
  // One group stands for those that the buffer will ask for: all of them are whole.
  set_grid({group_size.width, group_size.height, group_size.depth}, group_size,
           command.dispatch.launch);
  fill(command);
  command.threadgroups_per_grid = arguments->data() + offset;
}

void ComputeCommandEncoder::use(Object* resource) {
  if (is_open("useResource")) {
    buffer().keep(resource);
  }
}

void ComputeCommandEncoder::reject_unsupported(const char* action, const char* reason) {
  if (is_open(action)) {
    buffer().reject(MTL::CommandBufferErrorInternal, "{}: {}", action, reason);
  }
}

}  // namespace pewter::driver
