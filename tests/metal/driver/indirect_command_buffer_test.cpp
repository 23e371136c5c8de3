#include "tests/support/gpu.h"
#include "tests/support/log_capture.h"

namespace pewter {
namespace {

using test::Gpu;
using test::LogCapture;
using test::size;

const std::string kSource = R"(
#include <metal_stdlib>
using namespace metal;
kernel void add(device uint* x [[buffer(0)]], constant uint& amount [[buffer(1)]],
                uint i [[thread_position_in_grid]]) { x[i] += amount; }
kernel void times(device uint* x [[buffer(0)]], constant uint& amount [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) { x[i] *= amount; }
kernel void reverse(device uint* x [[buffer(0)]], threadgroup uint* kept [[threadgroup(0)]],
                    uint i [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  kept[i] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = kept[n - 1 - i];
}
struct Plan {
  command_buffer commands;
  compute_pipeline_state pipeline;
  device uint* x;
  device uint* amounts;
};
kernel void encode(constant Plan& plan [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  compute_command command(plan.commands, i);
  if (i % 2 == 1) {
    command.reset();
    return;
  }
  command.set_compute_pipeline_state(plan.pipeline);
  command.set_kernel_buffer(plan.x, 0);
  command.set_kernel_buffer(plan.amounts + i, 1);
  command.set_barrier();
  command.concurrent_dispatch_threads(uint3(4, 1, 1), uint3(4, 1, 1));
}
)";

/// Pipelines for indirect commands, buffers of 32-bit numbers, and a way to run.
class Indirect {
 public:
  Indirect() : library_(gpu_.library(kSource)) {}

  NS::SharedPtr<MTL::ComputePipelineState> pipeline(const std::string& kernel,
                                                    bool is_indirect = true) const {
    auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
    auto function = NS::TransferPtr(library_->newFunction(test::string(kernel)));
    descriptor->setComputeFunction(function.get());
    descriptor->setSupportIndirectCommandBuffers(is_indirect);
    NS::Error* error = nullptr;
    auto made = NS::TransferPtr(gpu_.device()->newComputePipelineState(
        descriptor.get(), MTL::PipelineOptionNone, nullptr, &error));
    REQUIRE_MESSAGE(made, test::text(error));
    return made;
  }

  NS::SharedPtr<MTL::IndirectCommandBuffer> commands(std::size_t count,
                                                     bool inherits_pipeline = false,
                                                     bool inherits_buffers = false) const {
    auto descriptor = NS::TransferPtr(MTL::IndirectCommandBufferDescriptor::alloc()->init());
    descriptor->setCommandTypes(MTL::IndirectCommandTypeConcurrentDispatch |
                                MTL::IndirectCommandTypeConcurrentDispatchThreads);
    descriptor->setInheritPipelineState(inherits_pipeline);
    descriptor->setInheritBuffers(inherits_buffers);
    descriptor->setMaxKernelBufferBindCount(3);
    auto made = NS::TransferPtr(gpu_.device()->newIndirectCommandBuffer(
        descriptor.get(), count, MTL::ResourceStorageModeShared));
    REQUIRE(made);
    return made;
  }

  NS::SharedPtr<MTL::Buffer> buffer(const std::vector<std::uint32_t>& values) const {
    return gpu_.buffer(values);
  }

  /// Records with `record(encoder)`, runs, and returns the text of the error.
  template <typename Record>
  std::string compute(const Record& record) const {
    auto* commands = gpu_.queue()->commandBuffer();
    auto* encoder = commands->computeCommandEncoder();
    record(encoder);
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    return test::text(commands->error());
  }

  std::string execute(const MTL::IndirectCommandBuffer* buffer, NS::Range range) const {
    return compute([&](MTL::ComputeCommandEncoder* encoder) {
      encoder->executeCommandsInBuffer(buffer, range);
    });
  }

  MTL::CommandQueue* queue() const { return gpu_.queue(); }
  MTL::Device* device() const { return gpu_.device(); }

 private:
  Gpu gpu_;
  NS::SharedPtr<MTL::Library> library_;
};

std::vector<std::uint32_t> values_of(MTL::Buffer* buffer) {
  const auto* values = static_cast<const std::uint32_t*>(buffer->contents());
  return {values, values + buffer->length() / sizeof(std::uint32_t)};
}

void fill(MTL::IndirectComputeCommand* command,
          MTL::ComputePipelineState* pipeline,
          MTL::Buffer* x,
          MTL::Buffer* amount) {
  command->setComputePipelineState(pipeline);
  command->setKernelBuffer(x, 0, 0);
  command->setKernelBuffer(amount, 0, 1);
  command->concurrentDispatchThreads(size(4), size(2));
  command->setBarrier();
}

using Numbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("commands run in order of their barriers, as often as they are executed") {
  const Indirect indirect;
  const auto add = indirect.pipeline("add");
  const auto times = indirect.pipeline("times");
  const auto x = indirect.buffer({1, 2, 3, 4});
  const auto amount = indirect.buffer({10});
  const auto commands = indirect.commands(4);
  CHECK(commands->size() == 4);
  fill(commands->indirectComputeCommand(0), add.get(), x.get(), amount.get());
  fill(commands->indirectComputeCommand(1), times.get(), x.get(), amount.get());
  auto* third = commands->indirectComputeCommand(3);
  fill(third, add.get(), x.get(), amount.get());
  third->concurrentDispatchThreadgroups(size(2), size(1));

  REQUIRE(indirect.execute(commands.get(), NS::Range(0, 4)) == "");
  CHECK(values_of(x.get()) == Numbers{120, 130, 130, 140});
  REQUIRE(indirect.execute(commands.get(), NS::Range(0, 1)) == "");
  CHECK(values_of(x.get()) == Numbers{130, 140, 140, 150});
}

TEST_CASE("commands inherit the pipeline and the buffers of the encoder when they say so") {
  const Indirect indirect;
  const auto add = indirect.pipeline("add", false);
  const auto x = indirect.buffer({0, 0, 0, 0});
  const auto commands = indirect.commands(2, true, true);
  commands->indirectComputeCommand(0)->concurrentDispatchThreads(size(4), size(4));
  commands->indirectComputeCommand(1)->concurrentDispatchThreads(size(2), size(2));
  commands->indirectComputeCommand(1)->setBarrier();
  const std::uint32_t amount = 7;

  REQUIRE(indirect.compute([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setComputePipelineState(add.get());
    encoder->setBuffer(x.get(), 0, 0);
    encoder->setBytes(&amount, sizeof amount, 1);
    encoder->executeCommandsInBuffer(commands.get(), NS::Range(0, 2));
    encoder->dispatchThreads(size(1), size(1));
  }) == "");
  CHECK(values_of(x.get()) == Numbers{21, 14, 7, 7});
}

TEST_CASE("threadgroup memory and ranges from a buffer work") {
  const Indirect indirect;
  const auto reverse = indirect.pipeline("reverse");
  const auto x = indirect.buffer({1, 2, 3, 4});
  const auto commands = indirect.commands(3);
  auto* command = commands->indirectComputeCommand(2);
  command->setComputePipelineState(reverse.get());
  command->setKernelBuffer(x.get(), 0, 0);
  command->setThreadgroupMemoryLength(16, 0);
  command->concurrentDispatchThreadgroups(size(1), size(4));
  const auto range = indirect.buffer({99, 1, 2});

  REQUIRE(indirect.compute([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->executeCommandsInBuffer(commands.get(), range.get(), 4);
  }) == "");
  CHECK(values_of(x.get()) == Numbers{4, 3, 2, 1});
  CHECK(indirect
            .compute([&](MTL::ComputeCommandEncoder* encoder) {
              encoder->executeCommandsInBuffer(commands.get(), range.get(), 0);
            })
            .find("commands 99 to 100 of an indirect command buffer of 3") != std::string::npos);
}

TEST_CASE("a kernel encodes commands for the same command buffer") {
  const Indirect indirect;
  const auto encode = indirect.pipeline("encode", false);
  const auto add = indirect.pipeline("add");
  const auto x = indirect.buffer({0, 0, 0, 0});
  const auto amounts = indirect.buffer({1, 50, 200, 50, 3000});
  const auto commands = indirect.commands(5);
  const struct {
    MTL::ResourceID commands;
    MTL::ResourceID pipeline;
    std::uint64_t x;
    std::uint64_t amounts;
  } plan = {commands->gpuResourceID(), add->gpuResourceID(), x->gpuAddress(),
            amounts->gpuAddress()};

  REQUIRE(indirect.compute([&](MTL::ComputeCommandEncoder* encoder) {
    encoder->setComputePipelineState(encode.get());
    encoder->setBytes(&plan, sizeof plan, 0);
    encoder->useResource(x.get(), MTL::ResourceUsageWrite);
    // One more than there is room for: it is left out.
    encoder->dispatchThreads(size(7), size(7));
    encoder->executeCommandsInBuffer(commands.get(), NS::Range(0, 5));
  }) == "");
  CHECK(values_of(x.get()) == Numbers{3201, 3201, 3201, 3201});
}

TEST_CASE("the argument encoder writes command buffers and pipelines") {
  const Indirect indirect;
  const Gpu gpu;
  const auto library = gpu.library(kSource);
  const auto function = NS::TransferPtr(library->newFunction(test::string("encode")));
  const auto encoder = NS::TransferPtr(function->newArgumentEncoder(0));
  REQUIRE(encoder);
  const auto memory = indirect.buffer(Numbers(encoder->encodedLength() / 4));
  const auto add = indirect.pipeline("add");
  const auto commands = indirect.commands(1);
  encoder->setArgumentBuffer(memory.get(), 0);
  encoder->setIndirectCommandBuffer(commands.get(), 0);
  encoder->setComputePipelineState(add.get(), 1);
  const auto* words = static_cast<const std::uint64_t*>(memory->contents());
  CHECK(words[0] == commands->gpuResourceID()._impl);
  CHECK(words[1] == add->gpuResourceID()._impl);
  const LogCapture log;
  encoder->setComputePipelineState(add.get(), 0);
  CHECK(log.contains("argument 0 is a indirect command buffer, not a compute pipeline state"));
}

TEST_CASE("blits reset and copy commands") {
  const Indirect indirect;
  const auto add = indirect.pipeline("add");
  const auto x = indirect.buffer({0, 0, 0, 0});
  const auto amount = indirect.buffer({1});
  const auto first = indirect.commands(2);
  const auto second = indirect.commands(3);
  fill(first->indirectComputeCommand(0), add.get(), x.get(), amount.get());
  fill(second->indirectComputeCommand(0), add.get(), x.get(), amount.get());

  auto* commands = indirect.queue()->commandBuffer();
  auto* blit = commands->blitCommandEncoder();
  blit->copyIndirectCommandBuffer(first.get(), NS::Range(0, 2), second.get(), 1);
  blit->resetCommandsInBuffer(second.get(), NS::Range(0, 1));
  blit->optimizeIndirectCommandBuffer(second.get(), NS::Range(0, 3));
  blit->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  REQUIRE(indirect.execute(second.get(), NS::Range(0, 3)) == "");
  CHECK(values_of(x.get()) == Numbers{1, 1, 1, 1});
  second->reset(NS::Range(0, 3));
  REQUIRE(indirect.execute(second.get(), NS::Range(0, 3)) == "");
  CHECK(values_of(x.get()) == Numbers{1, 1, 1, 1});

  auto* wrong = indirect.queue()->commandBuffer();
  blit = wrong->blitCommandEncoder();
  blit->copyIndirectCommandBuffer(first.get(), NS::Range(0, 2), second.get(), 2);
  blit->endEncoding();
  wrong->commit();
  wrong->waitUntilCompleted();
  CHECK(test::text(wrong->error()).find("commands 2 to 4 of an indirect command buffer of 3") !=
        std::string::npos);
}

TEST_CASE("commands that cannot run end the command buffer with their number and the reason") {
  const Indirect indirect;
  const auto add = indirect.pipeline("add");
  const auto x = indirect.buffer({0, 0, 0, 0});
  const auto commands = indirect.commands(2);
  auto* command = commands->indirectComputeCommand(1);
  const auto error = [&] {
    const LogCapture log;
    return indirect.execute(commands.get(), NS::Range(0, 2));
  };
  command->concurrentDispatchThreads(size(4), size(4));
  CHECK(error() == "indirect command 1: it has no pipeline");
  command->setComputePipelineState(add.get());
  command->setKernelBuffer(x.get(), 0, 0);
  CHECK(error() ==
        "indirect command 1: kernel 'add' has no buffer for parameter 'amount' at index 1");
  command->setKernelBuffer(x.get(), 0, 1);
  command->concurrentDispatchThreads(size(4), size(2000));
  CHECK(error() ==
        "indirect command 1: threadgroup of 2000 x 1 x 1 threads, but kernel 'add' needs 1 to 1024 "
        "threads");
  {
    const auto gone = indirect.pipeline("add");
    command->setComputePipelineState(gone.get());
  }
  CHECK(error() ==
        "indirect command 1: its pipeline is gone, or was made without "
        "supportIndirectCommandBuffers");
  CHECK(indirect.execute(commands.get(), NS::Range(1, 2)) ==
        "executeCommandsInBuffer: commands 1 to 3 of an indirect command buffer of 2");
}

TEST_CASE("wrong use of indirect command buffers is said in the log") {
  const Indirect indirect;
  const auto x = indirect.buffer({0});
  const LogCapture log;
  auto descriptor = NS::TransferPtr(MTL::IndirectCommandBufferDescriptor::alloc()->init());
  descriptor->setCommandTypes(MTL::IndirectCommandTypeDraw);
  CHECK(!indirect.device()->newIndirectCommandBuffer(descriptor.get(), 1, 0));
  CHECK(log.contains("this device has concurrent dispatches, 0x60, alone"));
  descriptor->setCommandTypes(MTL::IndirectCommandTypeConcurrentDispatch);
  CHECK(!indirect.device()->newIndirectCommandBuffer(descriptor.get(), 0, 0));
  CHECK(log.contains("newIndirectCommandBuffer of 0 commands"));
  const auto narrow =
      NS::TransferPtr(indirect.device()->newIndirectCommandBuffer(descriptor.get(), 1, 0));
  narrow->indirectComputeCommand(0)->concurrentDispatchThreads(size(1), size(1));
  CHECK(log.contains("was made without that command type"));
  const auto commands = indirect.commands(1);
  CHECK(commands->indirectComputeCommand(1) == nullptr);
  auto* command = commands->indirectComputeCommand(0);
  command->setKernelBuffer(x.get(), 0, 3);
  CHECK(log.contains("setKernelBuffer at index 3 of an indirect command buffer for 3"));
  command->setKernelBuffer(x.get(), 5, 0);
  CHECK(log.contains("offset 5 is past the end of a buffer of 4 bytes"));
  const auto plain = indirect.pipeline("add", false);
  command->setComputePipelineState(plain.get());
  CHECK(log.contains("pipeline 'add' was made without supportIndirectCommandBuffers"));
}

}  // namespace pewter
