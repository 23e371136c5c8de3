#include "tests/metal/driver/command_support.h"

#include <cstring>

#include "pewter/metal/executor/executor.h"

namespace pewter::driver::test {
namespace {

constexpr const char* kSource = R"(
#include <metal_stdlib>
using namespace metal;

kernel void add_one(device uint* values [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  values[i] += 1;
}

kernel void append(device uint* list [[buffer(0)]], constant uint& value [[buffer(1)]]) {
  list[0] += 1;
  list[list[0]] = value;
}

kernel void add_both(device const uint* first [[buffer(0)]],
                     device const uint* second [[buffer(3)]],
                     device uint* out [[buffer(30)]],
                     uint i [[thread_position_in_grid]]) {
  out[i] = first[i] + second[i];
}

struct Wide { uint numbers[8]; };
kernel void add_first(device uint* out [[buffer(0)]], constant uint* numbers [[buffer(1)]],
                      constant uint& count [[buffer(2)]]) {
  for (uint i = 0; i < count; ++i) {
    out[0] += numbers[i];
  }
}

kernel void read_wide(device uint* out [[buffer(0)]], constant Wide& wide [[buffer(1)]]) {
  out[0] = wide.numbers[7];
}

kernel void shape(device uint* out [[buffer(0)]],
                  uint3 position [[thread_position_in_grid]],
                  uint3 grid [[threads_per_grid]],
                  uint3 groups [[threadgroups_per_grid]],
                  uint3 group_size [[threads_per_threadgroup]]) {
  if (all(position == 0)) {
    for (uint axis = 0; axis < 3; ++axis) {
      out[axis] = grid[axis];
      out[3 + axis] = groups[axis];
      out[6 + axis] = group_size[axis];
    }
  }
}

kernel void reverse_groups(device uint* values [[buffer(0)]],
                           threadgroup uint* first [[threadgroup(0)]],
                           threadgroup uint* second [[threadgroup(1)]],
                           uint i [[thread_position_in_grid]],
                           uint local [[thread_index_in_threadgroup]],
                           uint size [[threads_per_threadgroup]]) {
  first[local] = values[i];
  second[local] = local;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  values[i] = first[size - 1 - second[local]];
}

[[max_total_threads_per_threadgroup(64)]]
kernel void at_most_64(device uint* values [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  values[i] = 1;
}

kernel void spin_until_set(device atomic_uint* flag [[buffer(0)]]) {
  while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {
  }
}

kernel void far_away(device uint* values [[buffer(0)]]) {
  values[1UL << 40] = 1;
}
)";

}  // namespace

Commands::Commands() : library_(gpu_.library(kSource)) {}

NS::SharedPtr<MTL::CommandQueue> Commands::new_queue() const {
  return NS::TransferPtr(device()->newCommandQueue());
}

MTL::ComputePipelineState* Commands::pipeline(const std::string& kernel) {
  for (const auto& [name, made] : pipelines_) {
    if (name == kernel) {
      return made.get();
    }
  }
  pipelines_.emplace_back(kernel, gpu_.pipeline(library_.get(), kernel));
  return pipelines_.back().second.get();
}

NS::SharedPtr<MTL::Buffer> Commands::buffer(const std::vector<std::uint32_t>& values) const {
  return gpu_.buffer(values);
}

void Commands::encode(MTL::CommandBuffer* commands,
                      const std::string& kernel,
                      MTL::Buffer* values,
                      std::size_t threads) {
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline(kernel));
  encoder->setBuffer(values, 0, 0);
  encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
}

void Commands::encode_append(MTL::CommandBuffer* commands, MTL::Buffer* list, std::uint32_t value) {
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline("append"));
  encoder->setBuffer(list, 0, 0);
  encoder->setBytes(&value, sizeof(value), 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
}

std::vector<std::uint32_t> values_of(MTL::Buffer* buffer) {
  std::vector<std::uint32_t> values(buffer->length() / sizeof(std::uint32_t));
  std::memcpy(values.data(), buffer->contents(), values.size() * sizeof(std::uint32_t));
  return values;
}

std::vector<std::uint32_t> list_of(MTL::Buffer* list) {
  const auto values = values_of(list);
  return {values.begin() + 1, values.begin() + 1 + values[0]};
}

std::string finish(MTL::CommandBuffer* commands) {
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->status() == MTL::CommandBufferStatusCompleted) {
    CHECK(commands->error() == nullptr);
    return "";
  }
  REQUIRE(commands->status() == MTL::CommandBufferStatusError);
  REQUIRE(commands->error() != nullptr);
  return pewter::test::text(commands->error());
}

NS::Integer error_code(MTL::CommandBuffer* commands) {
  NS::Error* error = commands->error();
  const bool is_ours =
      error != nullptr && error->domain()->isEqualToString(MTL::CommandBufferErrorDomain);
  return is_ours ? error->code() : -1;
}

TimeLimit::TimeLimit(std::uint64_t milliseconds) : previous_(executor::timeout_ms()) {
  executor::set_timeout_ms(milliseconds);
}

TimeLimit::~TimeLimit() {
  executor::set_timeout_ms(previous_);
}

}  // namespace pewter::driver::test
