// The smallest whole program: compile a kernel from source text, run it, read the result.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <cstdio>

const char* const kSource = R"(
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y       [[buffer(1)]],
                  constant float& a     [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] += a * x[i];
}
)";

int main() {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  auto queue = NS::TransferPtr(device->newCommandQueue());

  NS::Error* error = nullptr;
  auto source = NS::String::string(kSource, NS::UTF8StringEncoding);
  auto library = NS::TransferPtr(device->newLibrary(source, nullptr, &error));
  if (!library) {
    std::fprintf(stderr, "%s\n", error->localizedDescription()->utf8String());
    return 1;
  }
  auto function = NS::TransferPtr(library->newFunction(MTLSTR("saxpy")));
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));

  const float xs[] = {0, 1, 2, 3};
  const float ys[] = {1, 1, 1, 1};
  const float a = 2;
  auto x = NS::TransferPtr(device->newBuffer(xs, sizeof(xs), MTL::ResourceStorageModeShared));
  auto y = NS::TransferPtr(device->newBuffer(ys, sizeof(ys), MTL::ResourceStorageModeShared));

  auto commands = queue->commandBuffer();
  auto encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(x.get(), 0, 0);
  encoder->setBuffer(y.get(), 0, 1);
  encoder->setBytes(&a, sizeof(a), 2);
  encoder->dispatchThreads(MTL::Size(4, 1, 1), MTL::Size(4, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();

  auto result = static_cast<const float*>(y->contents());
  std::printf("y = %g %g %g %g\n", result[0], result[1], result[2], result[3]);
  return 0;
}
