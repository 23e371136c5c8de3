// A program as it would be written for Apple's metal-cpp: NS::SharedPtr throughout, a heap,
// function constants, pipelines built in the background, a blit, and private helpers that return
// owned objects.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

const char* const kSource = R"(
#include <metal_stdlib>
using namespace metal;

constant bool kClamp [[function_constant(0)]];
constant float kScale [[function_constant(1)]];

template <typename T>
[[kernel]] void scale(device const T* in [[buffer(0)]],
                      device T* out [[buffer(1)]],
                      constant uint& size [[buffer(2)]],
                      uint gid [[thread_position_in_grid]]) {
  if (gid >= size) {
    return;
  }
  float value = float(in[gid]) * kScale;
  if (kClamp) {
    value = clamp(value, 0.0f, 1.0f);
  }
  out[gid] = T(value);
}

template [[host_name("scale_float32")]] [[kernel]] decltype(scale<float>) scale<float>;
template [[host_name("scale_float16")]] [[kernel]] decltype(scale<half>) scale<half>;
)";

NS::SharedPtr<NS::String> makeString(const std::string& text) {
  return NS::TransferPtr(NS::String::alloc()->init(text.c_str(), NS::UTF8StringEncoding));
}

class Engine {
 public:
  Engine()
      : device_(NS::TransferPtr(MTL::CreateSystemDefaultDevice())),
        queue_(NS::TransferPtr(device_->newCommandQueue())) {
    auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
    options->setFastMathEnabled(false);
    options->setLanguageVersion(MTL::LanguageVersion3_0);
    NS::Error* error = nullptr;
    library_ =
        NS::TransferPtr(device_->newLibrary(makeString(kSource).get(), options.get(), &error));
    if (!library_) {
      std::printf("%s\n", error->localizedDescription()->utf8String());
    }

    auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
    descriptor->setSize(1 << 20);
    descriptor->setStorageMode(MTL::StorageModeShared);
    heap_ = NS::TransferPtr(device_->newHeap(descriptor.get()));
  }

  bool ready() const { return library_ && heap_; }

  NS::SharedPtr<MTL::ComputePipelineState> kernel(const std::string& name,
                                                  bool clamp,
                                                  float scale) {
    const std::string key = name + (clamp ? "_clamp_" : "_") + std::to_string(scale);
    auto found = kernels_.find(key);
    if (found != kernels_.end()) {
      return found->second;
    }
    auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    constants->setConstantValue(&clamp, MTL::DataTypeBool, NS::UInteger(0));
    constants->setConstantValue(&scale, MTL::DataTypeFloat, makeString("kScale").get());
    NS::Error* error = nullptr;
    auto function =
        NS::TransferPtr(library_->newFunction(makeString(name).get(), constants.get(), &error));
    if (!function) {
      std::printf("%s\n", error->localizedDescription()->utf8String());
      return {};
    }
    kernels_[key] = buildInBackground(function.get());
    return kernels_[key];
  }

  NS::SharedPtr<MTL::Buffer> allocate(NS::UInteger bytes) {
    return NS::TransferPtr(heap_->newBuffer(bytes, MTL::ResourceStorageModeShared));
  }

  /// out = kernel(in), with the input first copied by a blit.
  bool run(const MTL::ComputePipelineState* kernel,
           const MTL::Buffer* in,
           const MTL::Buffer* scratch,
           const MTL::Buffer* out,
           std::uint32_t count) {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    auto buffer = NS::RetainPtr(queue_->commandBufferWithUnretainedReferences());

    auto blit = NS::RetainPtr(buffer->blitCommandEncoder());
    blit->copyFromBuffer(in, 0, scratch, 0, in->length());
    blit->fillBuffer(out, NS::Range::Make(0, out->length()), 0);
    blit->endEncoding();

    auto encoder = NS::RetainPtr(buffer->computeCommandEncoder(MTL::DispatchTypeConcurrent));
    encoder->setComputePipelineState(kernel);
    encoder->setBuffer(scratch, 0, 0);
    encoder->setBuffer(out, 0, 1);
    encoder->setBytes(&count, sizeof(count), 2);
    encoder->useHeap(heap_.get());
    const NS::UInteger width = kernel->threadExecutionWidth();
    encoder->dispatchThreadgroups(MTL::Size::Make((count + width - 1) / width, 1, 1),
                                  MTL::Size::Make(width, 1, 1));
    encoder->memoryBarrier(MTL::BarrierScopeBuffers);
    encoder->endEncoding();

    buffer->commit();
    buffer->waitUntilCompleted();
    return buffer->status() == MTL::CommandBufferStatusCompleted && buffer->error() == nullptr;
  }

 private:
  NS::SharedPtr<MTL::ComputePipelineState> buildInBackground(MTL::Function* function) {
    std::mutex mutex;
    std::condition_variable done;
    bool finished = false;
    NS::SharedPtr<MTL::ComputePipelineState> state;
    MTL::NewComputePipelineStateCompletionHandlerFunction handler =
        [&](MTL::ComputePipelineState* built, NS::Error* error) {
          std::lock_guard<std::mutex> lock(mutex);
          if (built) {
            state = NS::RetainPtr(built);
          } else {
            std::printf("%s\n", error->localizedDescription()->utf8String());
          }
          finished = true;
          done.notify_one();
        };
    device_->newComputePipelineState(function, handler);
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [&] { return finished; });
    return state;
  }

  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
  NS::SharedPtr<MTL::Library> library_;
  NS::SharedPtr<MTL::Heap> heap_;
  std::map<std::string, NS::SharedPtr<MTL::ComputePipelineState>> kernels_;
};

bool check(Engine& engine, bool clamp) {
  const std::uint32_t count = 1000;
  auto kernel = engine.kernel("scale_float32", clamp, 0.5f);
  if (!kernel || engine.kernel("scale_float32", clamp, 0.5f).get() != kernel.get()) {
    return false;
  }
  auto in = engine.allocate(count * sizeof(float));
  auto scratch = engine.allocate(count * sizeof(float));
  auto out = engine.allocate(count * sizeof(float));
  float* values = static_cast<float*>(in->contents());
  for (std::uint32_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i) - 500;
  }
  if (!engine.run(kernel.get(), in.get(), scratch.get(), out.get(), count)) {
    return false;
  }
  const float* results = static_cast<const float*>(out->contents());
  for (std::uint32_t i = 0; i < count; ++i) {
    float expected = values[i] * 0.5f;
    if (clamp) {
      expected = expected < 0 ? 0 : (expected > 1 ? 1 : expected);
    }
    if (results[i] != expected) {
      std::printf("element %u: %g instead of %g\n", i, results[i], expected);
      return false;
    }
  }
  return true;
}

}  // namespace

int main() {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  Engine engine;
  const bool passed = engine.ready() && check(engine, false) && check(engine, true) &&
                      engine.kernel("scale_float16", true, 2.0f);
  std::printf(passed ? "passed\n" : "failed\n");
  return passed ? 0 : 1;
}
