#include "tests/support/gpu.h"

#include <cstring>

namespace pewter::test {
namespace {

struct Encoded {
  std::vector<NS::SharedPtr<MTL::Buffer>>
      buffers;  // one for each binding, null where it is no buffer
};

Encoded encode(const Gpu& gpu,
               MTL::ComputeCommandEncoder* encoder,
               std::span<const Binding> bindings) {
  Encoded encoded;
  NS::UInteger next_buffer = 0;
  NS::UInteger next_threadgroup = 0;
  NS::UInteger next_texture = 0;
  NS::UInteger next_sampler = 0;
  for (const Binding& binding : bindings) {
    NS::SharedPtr<MTL::Buffer> buffer;
    switch (binding.kind) {
      case Binding::Kind::Buffer:
        buffer = gpu.buffer(binding.source, binding.bytes);
        encoder->setBuffer(buffer.get(), 0, next_buffer++);
        break;
      case Binding::Kind::Bytes:
        encoder->setBytes(binding.source, binding.bytes, next_buffer++);
        break;
      case Binding::Kind::Threadgroup:
        encoder->setThreadgroupMemoryLength(binding.bytes, next_threadgroup++);
        break;
      case Binding::Kind::Texture:
        encoder->setTexture(static_cast<const MTL::Texture*>(binding.source), next_texture++);
        break;
      case Binding::Kind::Sampler:
        encoder->setSamplerState(static_cast<const MTL::SamplerState*>(binding.source),
                                 next_sampler++);
        break;
    }
    encoded.buffers.push_back(buffer);
  }
  return encoded;
}

}  // namespace

Gpu::Gpu()
    : pool_(NS::TransferPtr(NS::AutoreleasePool::alloc()->init())),
      device_(NS::TransferPtr(MTL::CreateSystemDefaultDevice())) {
  REQUIRE(device_);
  queue_ = NS::TransferPtr(device_->newCommandQueue());
  REQUIRE(queue_);
}

Gpu::~Gpu() = default;

NS::SharedPtr<MTL::Library> Gpu::library(const std::string& source,
                                         const MTL::CompileOptions* options) const {
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(device_->newLibrary(string(source), options, &error));
  REQUIRE_MESSAGE(library, text(error));
  return library;
}

std::string Gpu::library_error(const std::string& source,
                               const MTL::CompileOptions* options) const {
  NS::Error* error = nullptr;
  const auto library = NS::TransferPtr(device_->newLibrary(string(source), options, &error));
  CHECK_MESSAGE(!library, "the source compiles");
  return text(error);
}

std::string Gpu::pipeline_error(const std::string& source,
                                const std::string& kernel,
                                const MTL::FunctionConstantValues* constants) const {
  const auto parsed = library(source);
  NS::Error* error = nullptr;
  auto function = constants == nullptr
                      ? NS::TransferPtr(parsed->newFunction(string(kernel)))
                      : NS::TransferPtr(parsed->newFunction(string(kernel), constants, &error));
  if (!function) {
    return text(error);
  }
  const auto state = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
  CHECK_MESSAGE(!state, "the pipeline compiles");
  return text(error);
}

NS::SharedPtr<MTL::ComputePipelineState> Gpu::pipeline(
    const std::string& source,
    const std::string& kernel,
    const MTL::FunctionConstantValues* constants) const {
  return pipeline(library(source).get(), kernel, constants);
}

NS::SharedPtr<MTL::ComputePipelineState> Gpu::pipeline(
    MTL::Library* library,
    const std::string& kernel,
    const MTL::FunctionConstantValues* constants) const {
  NS::Error* error = nullptr;
  auto function = constants == nullptr
                      ? NS::TransferPtr(library->newFunction(string(kernel)))
                      : NS::TransferPtr(library->newFunction(string(kernel), constants, &error));
  REQUIRE_MESSAGE(function, "no function '", kernel, "': ", text(error));
  auto state = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
  REQUIRE_MESSAGE(state, text(error));
  return state;
}

NS::SharedPtr<MTL::Buffer> Gpu::buffer(const void* bytes, std::size_t byte_count) const {
  const std::size_t length = byte_count == 0 ? 1 : byte_count;
  auto buffer = NS::TransferPtr(device_->newBuffer(length, MTL::ResourceStorageModeShared));
  REQUIRE(buffer);
  if (byte_count > 0) {
    std::memcpy(buffer->contents(), bytes, byte_count);
  }
  return buffer;
}

std::string Gpu::run_bindings(MTL::ComputePipelineState* pipeline,
                              const Shape& shape,
                              std::span<const Binding> bindings) const {
  MTL::CommandBuffer* commands = queue_->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline);
  const Encoded encoded = encode(*this, encoder, bindings);
  encoder->dispatchThreads(shape.grid, shape.group);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();

  for (std::size_t i = 0; i < bindings.size(); ++i) {
    if (bindings[i].result != nullptr && bindings[i].bytes > 0) {
      std::memcpy(bindings[i].result, encoded.buffers[i]->contents(), bindings[i].bytes);
    }
  }
  if (commands->status() == MTL::CommandBufferStatusCompleted) {
    return {};
  }
  const std::string reason = text(commands->error());
  return reason.empty() ? "the command buffer failed without an error" : reason;
}

}  // namespace pewter::test
