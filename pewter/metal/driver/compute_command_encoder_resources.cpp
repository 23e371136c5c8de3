#include <cstring>

#include "pewter/metal/driver/compute_command_encoder.h"
#include "pewter/metal/driver/function_table.h"
#include "pewter/metal/driver/indirect_command_buffer.h"
#include "pewter/metal/driver/sampler.h"
#include "pewter/metal/driver/texture.h"

// Textures, samplers, function tables and indirect commands of MTL::ComputeCommandEncoder.
namespace pewter::driver {
namespace {

using compiler::ScalarType;

bool reads_as(abi::ChannelKind kind, ScalarType scalar) {
  switch (scalar) {
    case ScalarType::Int:
    case ScalarType::Short:
      return kind == abi::ChannelKind::Sint;
    case ScalarType::UInt:
    case ScalarType::UShort:
    case ScalarType::ULong:
      return kind == abi::ChannelKind::Uint;
    default:
      return kind != abi::ChannelKind::Sint && kind != abi::ChannelKind::Uint;
  }
}

}  // namespace

// Dispatches point at the tables, so one that is in use is left to them and copied.
ComputeCommandEncoder::ResourceTable& ComputeCommandEncoder::writable_resources() {
  if (resources_ == nullptr || resources_in_use_) {
    void* memory = buffer().storage().allocate(sizeof(ResourceTable), alignof(ResourceTable));
    auto* fresh = new (memory) ResourceTable();
    if (resources_ != nullptr) {
      *fresh = *resources_;
    }
    resources_ = fresh;
    resources_in_use_ = false;
    launch_.textures = fresh->views;
    launch_.samplers = fresh->samplers;
  }
  is_checked_ = false;
  return *resources_;
}

void ComputeCommandEncoder::set_texture(Texture* texture, std::uint64_t index) {
  if (!is_open("setTexture") || !is_index("setTexture", index, abi::kMaxTextures)) {
    return;
  }
  buffer().keep(texture);
  ResourceTable& table = writable_resources();
  table.textures[index] = texture;
  table.views[index] = texture != nullptr ? &texture->view() : nullptr;
}

void ComputeCommandEncoder::set_sampler(std::optional<std::uint64_t> bits, std::uint64_t index) {
  if (!is_open("setSamplerState") || !is_index("setSamplerState", index, abi::kMaxSamplers)) {
    return;
  }
  ResourceTable& table = writable_resources();
  table.samplers[index] = bits.value_or(0);
  table.has_sampler[index] = bits.has_value();
}

bool ComputeCommandEncoder::is_texture_bound(const compiler::Parameter& parameter) {
  for (std::uint32_t index = parameter.index; index < parameter.index + parameter.count; ++index) {
    if ((pipeline_->required_textures[index / 64] >> index % 64 & 1) == 0) {
      continue;
    }
    const Texture* texture = resources_ != nullptr ? resources_->textures[index] : nullptr;
    if (texture == nullptr) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "kernel '{}' has no texture for parameter '{}' at index {}",
                      pipeline_->kernel_name, parameter.name, index);
      return false;
    }
    if (texture->descriptor().type != parameter.texture_type) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "kernel '{}' has a texture of type {} for parameter '{}' at index {}, which "
                      "is of type {}",
                      pipeline_->kernel_name, static_cast<unsigned>(texture->descriptor().type),
                      parameter.name, index, parameter.texture_type);
      return false;
    }
    if (!reads_as(texture->format().kind, parameter.type.scalar)) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "kernel '{}' cannot read pixel format {} through parameter '{}' at index {}: "
                      "{}",
                      pipeline_->kernel_name, texture->format().name, parameter.name, index,
                      parameter.type_name);
      return false;
    }
    const MTL::TextureUsage usage = texture->descriptor().usage;
    const bool writes = parameter.access != compiler::Access::ReadOnly;
    const MTL::TextureUsage wanted =
        writes ? MTL::TextureUsageShaderWrite : MTL::TextureUsageShaderRead;
    if (usage != MTL::TextureUsageUnknown && (usage & wanted) == 0) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "kernel '{}' {} parameter '{}' at index {}, but the texture's usage is {}",
                      pipeline_->kernel_name, writes ? "writes" : "reads", parameter.name, index,
                      static_cast<unsigned>(usage));
      return false;
    }
  }
  return true;
}

bool ComputeCommandEncoder::is_sampler_bound(const compiler::Parameter& parameter) {
  for (std::uint32_t index = parameter.index; index < parameter.index + parameter.count; ++index) {
    if ((pipeline_->required_samplers >> index & 1) != 0 &&
        (resources_ == nullptr || !resources_->has_sampler[index])) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "kernel '{}' has no sampler for parameter '{}' at index {}",
                      pipeline_->kernel_name, parameter.name, index);
      return false;
    }
  }
  return true;
}

void ComputeCommandEncoder::set_function_table(VisibleFunctionTable* table, std::uint64_t index) {
  constexpr const char* kAction = "setVisibleFunctionTable";
  if (!is_open(kAction) || !is_index(kAction, index, abi::kMaxBuffers)) {
    return;
  }
  buffer().keep(table);
  launch_.buffers[index] = table != nullptr ? table->data() : nullptr;
  slots_[index] = {nullptr, 0, table};
  is_checked_ = false;
}

bool ComputeCommandEncoder::is_table_bound(const compiler::Parameter& parameter) {
  const std::uint32_t index = parameter.index;
  if (index >= abi::kMaxBuffers || (pipeline_->required_buffers >> index & 1) == 0) {
    return true;
  }
  const VisibleFunctionTable* table = slots_[index].table;
  if (table == nullptr) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "kernel '{}' has no function table for parameter '{}' at index {}",
                    pipeline_->kernel_name, parameter.name, index);
    return false;
  }
  if (!table->fits(pipeline_->linked)) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource,
                    "kernel '{}' has a function table for parameter '{}' at index {} that was made "
                    "by a pipeline with other linked functions",
                    pipeline_->kernel_name, parameter.name, index);
    return false;
  }
  return true;
}

void ComputeCommandEncoder::execute(IndirectCommandBuffer* commands, NS::Range range) {
  execute(commands, range, nullptr);
}

void ComputeCommandEncoder::execute(IndirectCommandBuffer* commands,
                                    Buffer* range,
                                    std::uint64_t offset) {
  constexpr std::uint64_t kBytes = sizeof(MTL::IndirectCommandBufferExecutionRange);
  if (range == nullptr || offset % alignof(std::uint32_t) != 0 || offset > range->length() ||
      range->length() - offset < kBytes) {
    if (is_open("executeCommandsInBuffer")) {
      buffer().reject(MTL::CommandBufferErrorInvalidResource,
                      "executeCommandsInBuffer reads {} bytes at offset {} of a range buffer of {} "
                      "bytes; the offset must be a multiple of 4",
                      kBytes, offset, range != nullptr ? range->length() : 0);
    }
    return;
  }
  buffer().keep(range);
  execute(commands, NS::Range(0, 0), range->data() + offset);
}

void ComputeCommandEncoder::execute(IndirectCommandBuffer* commands,
                                    NS::Range range,
                                    const std::byte* place) {
  if (!is_open("executeCommandsInBuffer")) {
    return;
  }
  if (const std::string misfit = IndirectCommandBuffer::misfit(commands, range); !misfit.empty()) {
    buffer().reject(MTL::CommandBufferErrorInvalidResource, "executeCommandsInBuffer: {}", misfit);
    return;
  }
  buffer().keep(commands);
  auto& command = append<ExecuteCommandsCommand>();
  command.commands = commands;
  command.first = range.location;
  command.count = range.length;
  command.range = place;
  command.pipeline = pipeline_;
  command.launch = launch_;
  overlaps_previous_ = false;
}

}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::ComputeCommandEncoder;
using driver::impl;

void MTL::ComputeCommandEncoder::setTexture(const MTL::Texture* texture, NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    self->set_texture(texture != nullptr ? impl<driver::Texture>(texture) : nullptr, index);
  }
}

void MTL::ComputeCommandEncoder::setTextures(const MTL::Texture* const textures[],
                                             NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setTexture(textures[number], range.location + number);
  }
}

void MTL::ComputeCommandEncoder::setSamplerState(const MTL::SamplerState* sampler,
                                                 NS::UInteger index) {
  if (auto* self = impl<Body>(this)) {
    auto* given = sampler != nullptr ? impl<driver::SamplerState>(sampler) : nullptr;
    self->set_sampler(given != nullptr ? std::optional(given->bits) : std::nullopt, index);
  }
}

void MTL::ComputeCommandEncoder::setSamplerStates(const MTL::SamplerState* const samplers[],
                                                  NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setSamplerState(samplers[number], range.location + number);
  }
}

void MTL::ComputeCommandEncoder::setSamplerState(const MTL::SamplerState* sampler,
                                                 float lodMinClamp,
                                                 float lodMaxClamp,
                                                 NS::UInteger index) {
  auto* self = impl<Body>(this);
  auto* given = impl<driver::SamplerState>(sampler);
  if (self != nullptr && given != nullptr) {
    self->set_sampler(given->bits_with_levels(lodMinClamp, lodMaxClamp), index);
  }
}

void MTL::ComputeCommandEncoder::setSamplerStates(const MTL::SamplerState* const samplers[],
                                                  const float lodMinClamps[],
                                                  const float lodMaxClamps[],
                                                  NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setSamplerState(samplers[number], lodMinClamps[number], lodMaxClamps[number],
                    range.location + number);
  }
}

void MTL::ComputeCommandEncoder::setVisibleFunctionTable(
    const MTL::VisibleFunctionTable* visibleFunctionTable, NS::UInteger bufferIndex) {
  if (auto* self = impl<Body>(this)) {
    self->set_function_table(visibleFunctionTable != nullptr
                                 ? impl<driver::VisibleFunctionTable>(visibleFunctionTable)
                                 : nullptr,
                             bufferIndex);
  }
}

void MTL::ComputeCommandEncoder::setVisibleFunctionTables(
    const MTL::VisibleFunctionTable* const visibleFunctionTables[], NS::Range range) {
  for (NS::UInteger number = 0; number < range.length; ++number) {
    setVisibleFunctionTable(visibleFunctionTables[number], range.location + number);
  }
}

void MTL::ComputeCommandEncoder::executeCommandsInBuffer(
    const MTL::IndirectCommandBuffer* indirectCommandBuffer, NS::Range executionRange) {
  if (auto* self = impl<Body>(this)) {
    self->execute(impl<driver::IndirectCommandBuffer>(indirectCommandBuffer), executionRange);
  }
}

void MTL::ComputeCommandEncoder::executeCommandsInBuffer(
    const MTL::IndirectCommandBuffer* indirectCommandbuffer,
    const MTL::Buffer* indirectRangeBuffer,
    NS::UInteger indirectBufferOffset) {
  if (auto* self = impl<Body>(this)) {
    self->execute(impl<driver::IndirectCommandBuffer>(indirectCommandbuffer),
                  impl<driver::Buffer>(indirectRangeBuffer), indirectBufferOffset);
  }
}
