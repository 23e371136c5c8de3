#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include "examples/support/gpu.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

namespace examples {
namespace {

constexpr int kRuns = 3;

NS::String* string(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

[[noreturn]] void fail(const std::string& what, const NS::Error* error) {
  throw GpuError(
      what + ": " +
      (error == nullptr ? "unknown error" : error->localizedDescription()->utf8String()));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) {
    throw GpuError("cannot read " + path);
  }
  return content.str();
}

/// Adds the time until the end of the scope to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(double& total_ms) : total_ms_(total_ms) {}
  ~Stopwatch() {
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start_;
    total_ms_ += elapsed.count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_ms_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Gpu::Gpu() : device_(NS::TransferPtr(MTL::CreateSystemDefaultDevice())) {
  if (!device_) {
    throw GpuError("there is no Metal device");
  }
  queue_ = NS::TransferPtr(device_->newCommandQueue());
}

void Gpu::load(const std::string& source_file) {
  const std::string source = read_file(source_file);
  compile_ms_ = 0;
  const Stopwatch watch(compile_ms_);
  NS::Error* error = nullptr;
  library_ = NS::TransferPtr(device_->newLibrary(string(source), nullptr, &error));
  if (!library_) {
    fail(source_file, error);
  }
}

NS::SharedPtr<MTL::ComputePipelineState> Gpu::pipeline(const std::string& kernel) {
  const Stopwatch watch(compile_ms_);
  const auto function = NS::TransferPtr(library_->newFunction(string(kernel)));
  if (!function) {
    throw GpuError("no kernel named " + kernel);
  }
  NS::Error* error = nullptr;
  auto state = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
  if (!state) {
    fail(kernel, error);
  }
  return state;
}

NS::SharedPtr<MTL::Buffer> Gpu::buffer(std::size_t bytes, const void* content) {
  auto buffer = NS::TransferPtr(device_->newBuffer(bytes, MTL::ResourceStorageModeShared));
  if (!buffer) {
    throw GpuError("not enough memory for a buffer of " + std::to_string(bytes) + " bytes");
  }
  if (content != nullptr) {
    std::memcpy(buffer->contents(), content, bytes);
  }
  return buffer;
}

double Gpu::run(const std::function<void(MTL::ComputeCommandEncoder*)>& encode) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) {
    best = std::min(best, run_once(encode));
  }
  return best;
}

double Gpu::run_once(const std::function<void(MTL::ComputeCommandEncoder*)>& encode) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  MTL::CommandBuffer* commands = queue_->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encode(encoder);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->status() != MTL::CommandBufferStatusCompleted) {
    fail("the command buffer failed", commands->error());
  }
  return (commands->GPUEndTime() - commands->GPUStartTime()) * 1000;
}

}  // namespace examples
