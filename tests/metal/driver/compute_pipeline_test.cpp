#include "pewter/metal/driver/compute_pipeline.h"

#include <doctest/doctest.h>

#include <Metal/Metal.hpp>
#include <future>
#include <string>

#include "tests/support/text.h"

namespace {

using pewter::test::string;
using pewter::test::text;

constexpr const char* kSource = R"(
  #include <metal_stdlib>
  using namespace metal;
  constant bool with_bias [[function_constant(0)]];
  struct Arguments { device float* in; float scale; };
  kernel void plain(device float* out [[buffer(3)]],
                    constant uint& count [[buffer(0)]],
                    device const Arguments* arguments [[buffer(1)]],
                    threadgroup float4* scratch [[threadgroup(1)]],
                    uint index [[thread_position_in_grid]]) {
    if (index < count) { out[index] = arguments->scale + scratch[0].x; }
  }
  [[max_total_threads_per_threadgroup(96)]]
  kernel void limited(device float* out [[buffer(0)]]) { out[0] = 1; }
  kernel void biased(device float* out [[buffer(0)]],
                     device float* bias [[buffer(1), function_constant(with_bias)]]) {
    out[0] = with_bias ? bias[0] : 0;
  }
  kernel void shared(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
    threadgroup float values[64];
    values[i] = out[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = values[63 - i];
  }
  kernel void greedy(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
    threadgroup float values[9000];
    values[i] = out[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = values[63 - i];
  }
)";

struct Fixture {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::Error* error = nullptr;
  NS::SharedPtr<MTL::Library> library =
      NS::TransferPtr(device->newLibrary(string(kSource), nullptr, &error));

  Fixture() { REQUIRE_MESSAGE(library, text(error)); }

  NS::SharedPtr<MTL::Function> function(const char* name) {
    auto found = NS::TransferPtr(library->newFunction(string(name)));
    REQUIRE(found);
    return found;
  }
  NS::SharedPtr<MTL::ComputePipelineState> pipeline(const char* name) {
    return NS::TransferPtr(device->newComputePipelineState(function(name).get(), &error));
  }
  NS::SharedPtr<MTL::ComputePipelineDescriptor> descriptor(const char* name) {
    auto made = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
    made->setComputeFunction(function(name).get());
    return made;
  }
  NS::SharedPtr<MTL::ComputePipelineState> pipeline(
      const MTL::ComputePipelineDescriptor* made,
      MTL::PipelineOption options = 0,
      MTL::ComputePipelineReflection** out = nullptr) {
    return NS::TransferPtr(device->newComputePipelineState(made, options, out, &error));
  }
};

TEST_CASE_FIXTURE(Fixture, "a pipeline has Metal's limits") {
  auto made = pipeline("plain");

  REQUIRE_MESSAGE(made, text(error));
  CHECK(made->maxTotalThreadsPerThreadgroup() == 1024);
  CHECK(made->threadExecutionWidth() == 32);
  CHECK(made->staticThreadgroupMemoryLength() == 0);
  CHECK(made->device() == device.get());
  CHECK(error == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "groups that are promised to be whole simdgroups need no other code") {
  auto made = descriptor("limited");
  for (const bool is_promised : {false, true}) {
    made->setThreadGroupSizeIsMultipleOfThreadExecutionWidth(is_promised);
    const auto built = pipeline(made.get());
    const auto& code = pewter::foundation::impl<pewter::driver::ComputePipelineState>(built.get())
                           ->variants->code();
    const bool has_lanes = code.explanation.mode == pewter::compiler::ExecutionMode::Spmd;
    // Programs of more lanes than a simdgroup has may end in the middle all the same.
    const bool can_save = is_promised && has_lanes && code.explanation.lanes <= 32;

    CHECK(code.handles_parts == !can_save);
  }
}

TEST_CASE_FIXTURE(Fixture, "threadgroup variables are counted") {
  CHECK(pipeline("shared")->staticThreadgroupMemoryLength() == 256);
}

TEST_CASE_FIXTURE(Fixture, "too much threadgroup memory is refused with both sizes") {
  CHECK_FALSE(pipeline("greedy"));
  CHECK(error->code() == MTL::LibraryErrorCompileFailure);
  CHECK(text(error).find("36000 bytes of threadgroup memory, the limit is 32768") !=
        std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "the smallest thread limit counts") {
  CHECK(pipeline("limited")->maxTotalThreadsPerThreadgroup() == 96);

  auto made = descriptor("limited");
  made->setMaxTotalThreadsPerThreadgroup(64);
  CHECK(pipeline(made.get())->maxTotalThreadsPerThreadgroup() == 64);
  made->setMaxTotalThreadsPerThreadgroup(4096);
  CHECK(pipeline(made.get())->maxTotalThreadsPerThreadgroup() == 96);
}

TEST_CASE_FIXTURE(Fixture, "a library's thread limit counts for its kernels") {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setMaxTotalThreadsPerThreadgroup(128);
  library = NS::TransferPtr(device->newLibrary(string(kSource), options.get(), &error));

  CHECK(pipeline("plain")->maxTotalThreadsPerThreadgroup() == 128);
}

TEST_CASE_FIXTURE(Fixture, "a descriptor gives the pipeline its label") {
  auto made = descriptor("plain");
  made->setLabel(string("saxpy"));

  CHECK(text(pipeline(made.get())->label()) == "saxpy");
}

TEST_CASE_FIXTURE(Fixture, "a descriptor without a function is refused") {
  auto made = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());

  CHECK_FALSE(pipeline(made.get()));

  CHECK(error->code() == MTL::LibraryErrorFunctionNotFound);
  CHECK(text(error) == "the pipeline descriptor has no compute function");
  CHECK(device->newComputePipelineState(static_cast<MTL::Function*>(nullptr), &error) == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "a kernel among the linked functions is refused by name") {
  auto made = descriptor("plain");
  auto* linked = MTL::LinkedFunctions::linkedFunctions();
  linked->setPrivateFunctions(NS::Array::array(function("limited").get()));
  made->setLinkedFunctions(linked);

  CHECK_FALSE(pipeline(made.get()));

  CHECK(text(error) == "'limited' is no visible function and cannot be linked");
}

TEST_CASE_FIXTURE(Fixture, "a missing function constant is reported by name") {
  CHECK_FALSE(pipeline("biased"));
  CHECK(error->code() == MTL::LibraryErrorCompileFailure);
  CHECK(text(error).find("with_bias") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "reflection lists what the kernel expects to be bound") {
  MTL::ComputePipelineReflection* reflection = nullptr;
  auto made =
      pipeline(descriptor("plain").get(),
               MTL::PipelineOptionBindingInfo | MTL::PipelineOptionBufferTypeInfo, &reflection);
  REQUIRE_MESSAGE(made, text(error));
  REQUIRE(reflection->bindings()->count() == 4);

  auto* out = reflection->bindings()->object<MTL::BufferBinding>(0);
  CHECK(text(out->name()) == "out");
  CHECK(out->type() == MTL::BindingTypeBuffer);
  CHECK(out->index() == 3);
  CHECK(out->access() == MTL::BindingAccessReadWrite);
  CHECK(out->bufferDataType() == MTL::DataTypeFloat);
  CHECK(out->bufferDataSize() == 4);
  CHECK(out->bufferPointerType()->elementType() == MTL::DataTypeFloat);
  CHECK(out->isUsed());
  auto* scratch = reflection->bindings()->object<MTL::ThreadgroupBinding>(3);
  CHECK(scratch->type() == MTL::BindingTypeThreadgroupMemory);
  CHECK(scratch->index() == 1);
  CHECK(scratch->threadgroupMemoryAlignment() == 16);
}

TEST_CASE_FIXTURE(Fixture, "reflection describes the members of structures") {
  MTL::ComputePipelineReflection* reflection = nullptr;
  auto made = pipeline(descriptor("plain").get(), MTL::PipelineOptionBufferTypeInfo, &reflection);
  auto* arguments = reflection->bindings()->object<MTL::BufferBinding>(2);

  CHECK(arguments->bufferDataType() == MTL::DataTypeStruct);
  CHECK(arguments->bufferPointerType()->elementIsArgumentBuffer());
  auto* scale = arguments->bufferStructType()->memberByName(string("scale"));
  REQUIRE(scale != nullptr);
  CHECK(scale->offset() == 8);
  CHECK(scale->dataType() == MTL::DataTypeFloat);
  auto* in = arguments->bufferStructType()->memberByName(string("in"));
  CHECK(in->dataType() == MTL::DataTypePointer);
  CHECK(in->pointerType()->elementType() == MTL::DataTypeFloat);
  CHECK(NS::TransferPtr(device->newArgumentEncoder(arguments))->encodedLength() == 16);
}

TEST_CASE_FIXTURE(Fixture, "the older form of reflection says the same") {
  MTL::ComputePipelineReflection* reflection = nullptr;
  auto made = pipeline(descriptor("plain").get(), MTL::PipelineOptionArgumentInfo, &reflection);

  auto* count = reflection->arguments()->object<MTL::Argument>(1);
  CHECK(text(count->name()) == "count");
  CHECK(count->type() == MTL::ArgumentTypeBuffer);
  CHECK(count->access() == MTL::ArgumentAccessReadOnly);
  CHECK(count->bufferDataType() == MTL::DataTypeUInt);
}

TEST_CASE_FIXTURE(Fixture, "a parameter that a constant switches off is not listed") {
  for (const bool with_bias : {false, true}) {
    auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    values->setConstantValue(&with_bias, MTL::DataTypeBool, NS::UInteger{0});
    auto biased = NS::TransferPtr(library->newFunction(string("biased"), values.get(), &error));
    MTL::ComputePipelineReflection* reflection = nullptr;

    auto made = NS::TransferPtr(device->newComputePipelineState(
        biased.get(), MTL::PipelineOptionBindingInfo, &reflection, &error));

    REQUIRE_MESSAGE(made, text(error));
    CHECK(reflection->bindings()->count() == (with_bias ? 2 : 1));
  }
}

TEST_CASE_FIXTURE(Fixture, "without an option there is no reflection") {
  auto* reflection = reinterpret_cast<MTL::ComputePipelineReflection*>(8);
  auto made = pipeline(descriptor("plain").get(), MTL::PipelineOptionNone, &reflection);
  CHECK(reflection == nullptr);
}

TEST_CASE_FIXTURE(Fixture, "pipelines can be made in the background") {
  std::promise<NS::UInteger> threads;
  device->newComputePipelineState(function("limited").get(),
                                  [&](MTL::ComputePipelineState* made, NS::Error*) {
                                    threads.set_value(made->maxTotalThreadsPerThreadgroup());
                                  });
  CHECK(threads.get_future().get() == 96);

  std::promise<NS::UInteger> bindings;
  device->newComputePipelineState(
      descriptor("plain").get(), MTL::PipelineOptionBindingInfo,
      [&](MTL::ComputePipelineState*, MTL::ComputePipelineReflection* reflection, NS::Error*) {
        bindings.set_value(reflection->bindings()->count());
      });
  CHECK(bindings.get_future().get() == 4);
}

TEST_CASE_FIXTURE(Fixture, "a failure in the background reaches the handler") {
  std::promise<std::string> message;
  device->newComputePipelineState(function("greedy").get(),
                                  [&](MTL::ComputePipelineState* made, NS::Error* failure) {
                                    message.set_value(made == nullptr ? text(failure) : "made");
                                  });
  CHECK(message.get_future().get().find("the limit is 32768") != std::string::npos);
}

}  // namespace
