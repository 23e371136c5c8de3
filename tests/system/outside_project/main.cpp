#include <pewter/version.h>

#include <Metal/Metal.hpp>
#include <cstdint>
#include <cstdio>

int main() {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  auto queue = NS::TransferPtr(device->newCommandQueue());
  auto source = NS::String::string(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "kernel void sum(device atomic_uint* total, uint i [[thread_position_in_grid]]) {\n"
      "  atomic_fetch_add_explicit(total, i, memory_order_relaxed);\n"
      "}\n",
      NS::UTF8StringEncoding);
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(device->newLibrary(source, nullptr, &error));
  if (!library) {
    std::printf("%s\n", error->localizedDescription()->utf8String());
    return 1;
  }
  auto function = NS::TransferPtr(library->newFunction(MTLSTR("sum")));
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  if (!pipeline) {
    std::printf("%s\n", error->localizedDescription()->utf8String());
    return 1;
  }
  auto total = NS::TransferPtr(device->newBuffer(4, MTL::ResourceStorageModeShared));

  auto commands = queue->commandBuffer();
  auto encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(total.get(), 0, 0);
  encoder->dispatchThreads(MTL::Size(100, 1, 1), MTL::Size(32, 1, 1));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();

  std::printf("pewter %s: sum %u\n", pewter::version().pewter.c_str(),
              *static_cast<const std::uint32_t*>(total->contents()));
  return 0;
}
