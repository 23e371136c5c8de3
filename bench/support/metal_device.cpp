#include <Metal/Metal.hpp>
#include <cstring>

#include "bench/support/device.h"

namespace bench {
namespace {

NS::String* ns(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

class MetalMemory final : public Memory {
 public:
  explicit MetalMemory(NS::SharedPtr<MTL::Buffer> given) : buffer(std::move(given)) {}

  void write(const void* bytes, std::size_t size) override {
    std::memcpy(buffer->contents(), bytes, size);
  }
  void read(void* bytes, std::size_t size) override {
    std::memcpy(bytes, buffer->contents(), size);
  }
  void touch() override { touch_pages(buffer->contents(), buffer->length()); }
  void* address() override { return buffer->contents(); }

  const NS::SharedPtr<MTL::Buffer> buffer;
};

class MetalKernel final : public Kernel {
 public:
  explicit MetalKernel(NS::SharedPtr<MTL::ComputePipelineState> given)
      : pipeline(std::move(given)) {}

  const NS::SharedPtr<MTL::ComputePipelineState> pipeline;
};

class MetalDevice final : public Device {
 public:
  MetalDevice() : device_(NS::TransferPtr(MTL::CreateSystemDefaultDevice())) {
    if (!device_) {
      fail("there is no Metal device");
    }
    queue_ = NS::TransferPtr(device_->newCommandQueue());
  }

  std::unique_ptr<Memory> memory(std::size_t bytes) override {
    auto buffer = NS::TransferPtr(device_->newBuffer(bytes, MTL::ResourceStorageModeShared));
    if (!buffer) {
      fail("no memory");
    }
    return std::make_unique<MetalMemory>(std::move(buffer));
  }

  std::unique_ptr<Kernel> kernel(const std::string& file, const std::string& name) override {
    return compile(kernel_text(file + ".metal"), name);
  }

  std::unique_ptr<Kernel> compile(const std::string& source, const std::string& name) override {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    NS::Error* error = nullptr;
    auto library = NS::TransferPtr(device_->newLibrary(ns(source), nullptr, &error));
    if (!library) {
      fail(error->localizedDescription()->utf8String());
    }
    auto function = NS::TransferPtr(library->newFunction(ns(name)));
    auto pipeline = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
    if (!pipeline) {
      fail(error != nullptr ? error->localizedDescription()->utf8String() : "no kernel " + name);
    }
    return std::make_unique<MetalKernel>(std::move(pipeline));
  }

  std::string small_source(const std::string& factor) const override {
    return "#include <metal_stdlib>\nusing namespace metal;\n"
           "kernel void scale(device float* out [[buffer(0)]],\n"
           "                  device const float* in [[buffer(1)]],\n"
           "                  uint i [[thread_position_in_grid]]) {\n"
           "  out[i] = " +
           factor + "f * in[i] + out[i];\n}\n";
  }

  void dispatch(const Kernel& kernel,
                Size grid,
                Size group,
                std::initializer_list<Argument> arguments) override {
    if (encoder_ == nullptr) {
      pool_ = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      buffer_ = queue_->commandBuffer();
      encoder_ = buffer_->computeCommandEncoder();
    }
    encoder_->setComputePipelineState(static_cast<const MetalKernel&>(kernel).pipeline.get());
    NS::UInteger index = 0;
    for (const Argument& argument : arguments) {
      if (argument.memory != nullptr) {
        encoder_->setBuffer(static_cast<MetalMemory*>(argument.memory)->buffer.get(), 0, index);
      } else {
        encoder_->setBytes(argument.bytes, argument.size, index);
      }
      ++index;
    }
    encoder_->dispatchThreads(MTL::Size(grid.width, grid.height, 1),
                              MTL::Size(group.width, group.height, 1));
  }

  void finish() override {
    encoder_->endEncoding();
    buffer_->commit();
    buffer_->waitUntilCompleted();
    if (buffer_->status() != MTL::CommandBufferStatusCompleted) {
      fail(buffer_->error()->localizedDescription()->utf8String());
    }
    encoder_ = nullptr;
    buffer_ = nullptr;
    pool_.reset();
  }

 private:
  const NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  NS::SharedPtr<NS::AutoreleasePool> pool_;
  MTL::CommandBuffer* buffer_ = nullptr;
  MTL::ComputeCommandEncoder* encoder_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> open_device() {
  return std::make_unique<MetalDevice>();
}

}  // namespace bench
