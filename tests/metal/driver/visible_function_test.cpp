#include "tests/support/gpu.h"
#include "tests/support/log_capture.h"

namespace pewter {
namespace {

using test::Gpu;
using test::LogCapture;
using test::size;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

const std::string kFunctions = kHead + R"(
constant float addend [[function_constant(0)]];
[[visible]] float twice(float x) { return 2 * x; }
[[visible]] float square(float x) { return x * x; }
[[visible]] float negative(float x) { return -x; }
[[visible]] float stepped(float x) { return x + addend; }
[[visible]] float4 shuffled(float4 v, uint k) { return k == 0 ? v.wzyx : v; }
[[visible]] void store(device float* to, float x) { *to = x; }
)";

const std::string kKernels = kHead + R"(
kernel void apply(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  visible_function_table<float(float)> table [[buffer(2)]],
                  constant uint& stride [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  out[i] = table[(i / stride) % table.size()](in[i]);
}
kernel void vectors(device float4* x [[buffer(0)]],
                    visible_function_table<float4(float4, uint)> table [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  x[i] = table[0](x[i], i % 2);
}
kernel void stores(device float* x [[buffer(0)]],
                   visible_function_table<void(device float*, float)> table [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  table[0](x + i, float(i) + 0.5f);
}
struct Choice {
  visible_function_table<float(float)> table;
  uint which;
};
kernel void chosen(device float* x [[buffer(0)]], constant Choice& choice [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  float (*function)(float) = choice.table[choice.which];
  if (function != nullptr) x[i] = function(x[i]);
}
)";

/// A pipeline linked with functions of another library, and a table of them.
class Linked {
 public:
  explicit Linked(const Gpu& gpu) : gpu_(gpu), functions_(gpu.library(kFunctions)) {}

  NS::SharedPtr<MTL::Function> function(const std::string& name, float step = 0) const {
    auto constants = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
    constants->setConstantValue(&step, MTL::DataTypeFloat, NS::UInteger{0});
    NS::Error* error = nullptr;
    auto made =
        NS::TransferPtr(functions_->newFunction(test::string(name), constants.get(), &error));
    REQUIRE_MESSAGE(made, test::text(error));
    return made;
  }

  NS::SharedPtr<MTL::ComputePipelineState> pipeline(
      const std::string& source,
      const std::string& kernel,
      const std::vector<NS::SharedPtr<MTL::Function>>& functions,
      std::string* problem = nullptr,
      bool is_private = false) const {
    auto library = gpu_.library(source);
    auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
    auto compute = NS::TransferPtr(library->newFunction(test::string(kernel)));
    descriptor->setComputeFunction(compute.get());
    auto linked = NS::TransferPtr(MTL::LinkedFunctions::alloc()->init());
    const NS::Array* list = array(functions);
    is_private ? linked->setPrivateFunctions(list) : linked->setFunctions(list);
    descriptor->setLinkedFunctions(linked.get());
    descriptor->setSupportAddingBinaryFunctions(true);
    NS::Error* error = nullptr;
    auto made = NS::TransferPtr(gpu_.device()->newComputePipelineState(
        descriptor.get(), MTL::PipelineOptionNone, nullptr, &error));
    if (problem != nullptr) {
      *problem = test::text(error);
    } else {
      REQUIRE_MESSAGE(made, test::text(error));
    }
    return made;
  }

  static const NS::Array* array(const std::vector<NS::SharedPtr<MTL::Function>>& functions) {
    std::vector<const NS::Object*> objects;
    for (const auto& function : functions) {
      objects.push_back(function.get());
    }
    return NS::Array::array(objects.data(), objects.size());
  }

  static NS::SharedPtr<MTL::VisibleFunctionTable> table(
      MTL::ComputePipelineState* pipeline,
      const std::vector<NS::SharedPtr<MTL::Function>>& functions) {
    auto descriptor = NS::TransferPtr(MTL::VisibleFunctionTableDescriptor::alloc()->init());
    descriptor->setFunctionCount(functions.size());
    auto table = NS::TransferPtr(pipeline->newVisibleFunctionTable(descriptor.get()));
    for (std::size_t index = 0; index < functions.size(); ++index) {
      table->setFunction(pipeline->functionHandle(functions[index].get()), index);
    }
    return table;
  }

  /// Runs with buffers 0, 1, ... and a table behind them; the text of the error, if any.
  std::string run(MTL::ComputePipelineState* pipeline,
                  const std::vector<MTL::Buffer*>& buffers,
                  const MTL::VisibleFunctionTable* table,
                  std::size_t threads,
                  std::uint32_t stride = 1) const {
    auto* commands = gpu_.queue()->commandBuffer();
    auto* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline);
    for (std::size_t index = 0; index < buffers.size(); ++index) {
      encoder->setBuffer(buffers[index], 0, index);
    }
    if (table != nullptr) {
      encoder->setVisibleFunctionTable(table, buffers.size());
    }
    encoder->setBytes(&stride, sizeof stride, buffers.size() + 1);
    encoder->dispatchThreads(size(threads), size(32));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    return test::text(commands->error());
  }

 private:
  const Gpu& gpu_;
  NS::SharedPtr<MTL::Library> functions_;
};

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t index = 0; index < count; ++index) {
    values[index] = static_cast<float>(index) - 3.0F;
  }
  return values;
}

const float* floats(MTL::Buffer* buffer) {
  return static_cast<const float*>(buffer->contents());
}

}  // namespace

TEST_CASE("a table's functions are called by all threads alike or by each thread its own") {
  const Gpu gpu;
  const Linked linked(gpu);
  const std::vector functions = {linked.function("twice"), linked.function("square"),
                                 linked.function("stepped", 10)};
  const auto pipeline = linked.pipeline(kKernels, "apply", functions);
  const auto table = Linked::table(pipeline.get(), functions);
  for (const std::uint32_t stride : {1U, 32U, 1000U}) {
    const auto in = counting(100);
    const auto from = gpu.buffer(in);
    const auto to = gpu.buffer(in);

    REQUIRE(linked.run(pipeline.get(), {from.get(), to.get()}, table.get(), in.size(), stride) ==
            "");

    for (std::size_t index = 0; index < in.size(); ++index) {
      const float x = in[index];
      const std::size_t which = index / stride % 3;
      const float wanted = which == 0 ? 2 * x : which == 1 ? x * x : x + 10;
      REQUIRE(floats(to.get())[index] == wanted);
    }
  }
}

TEST_CASE("functions of vectors and of memory are called through tables") {
  const Gpu gpu;
  const Linked linked(gpu);
  const auto values = counting(64);
  const auto memory = gpu.buffer(values);
  const std::vector shuffled = {linked.function("shuffled")};
  const auto vectors = linked.pipeline(kKernels, "vectors", shuffled);
  REQUIRE(linked.run(vectors.get(), {memory.get()}, Linked::table(vectors.get(), shuffled).get(),
                     16) == "");
  CHECK(floats(memory.get())[0] == values[3]);
  CHECK(floats(memory.get())[3] == values[0]);
  CHECK(floats(memory.get())[4] == values[4]);

  const std::vector store = {linked.function("store")};
  const auto stores = linked.pipeline(kKernels, "stores", store);
  REQUIRE(linked.run(stores.get(), {memory.get()}, Linked::table(stores.get(), store).get(), 64) ==
          "");
  CHECK(floats(memory.get())[63] == 63.5F);
}

TEST_CASE("a table in an argument buffer is found by its resource id") {
  const Gpu gpu;
  const Linked linked(gpu);
  const std::vector functions = {linked.function("negative"), linked.function("twice")};
  const auto pipeline = linked.pipeline(kKernels, "chosen", functions);
  const auto table = Linked::table(pipeline.get(), functions);
  struct {
    MTL::ResourceID table;
    std::uint32_t which;
  } choice = {table->gpuResourceID(), 1};
  std::vector<float> x = {1, 2, 3};
  gpu.run(pipeline.get(), {.grid = size(3)}, x, choice);
  CHECK(x == std::vector<float>{2, 4, 6});
  // Beyond the table there is no function.
  choice.which = 9;
  gpu.run(pipeline.get(), {.grid = size(3)}, x, choice);
  CHECK(x == std::vector<float>{2, 4, 6});
}

TEST_CASE("a function that a kernel declares is linked by its name") {
  const Gpu gpu;
  const Linked linked(gpu);
  const std::string source = kHead + R"(
    [[visible]] float square(float x);
    kernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      x[i] = square(x[i]) + 1;
    })";
  const auto pipeline = linked.pipeline(source, "f", {linked.function("square")}, nullptr, true);
  std::vector<float> x = {2, 3};
  gpu.run(pipeline.get(), {.grid = size(2)}, x);
  CHECK(x == std::vector<float>{5, 10});

  std::string problem;
  CHECK(!linked.pipeline(source, "f", {}, &problem));
  CHECK_MESSAGE(
      problem.find("kernel 'f' calls square(float), which is declared but neither defined nor "
                   "among the pipeline's linked functions") != std::string::npos,
      problem);
}

TEST_CASE("pointers to a program's own functions are called too") {
  const Gpu gpu;
  std::vector<float> x = {1, 2, 3, 4, 5};
  gpu.run(kHead + R"(
    float plus(float a, float b) { return a + b; }
    float times(float a, float b) { return a * b; }
    using Operation = float(float, float);
    float apply(Operation* operation, float a) { return operation(a, 10); }
    kernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      x[i] = apply(i % 2 == 0 ? plus : times, x[i]);
    })",
          "f", {.grid = size(5)}, x);
  CHECK(x == std::vector<float>{11, 20, 13, 40, 15});
}

TEST_CASE("a pipeline takes more functions, and tables of the first serve the second") {
  const Gpu gpu;
  const Linked linked(gpu);
  const std::vector first = {linked.function("twice")};
  const auto pipeline = linked.pipeline(kKernels, "apply", first);
  const auto old_table = Linked::table(pipeline.get(), first);
  const std::vector second = {linked.function("negative")};
  NS::Error* error = nullptr;
  const auto more =
      NS::TransferPtr(pipeline->newComputePipelineState(Linked::array(second), &error));
  REQUIRE_MESSAGE(more, test::text(error));
  const auto both = Linked::table(more.get(), {first[0], second[0]});
  const auto from = gpu.buffer(counting(4));
  const auto to = gpu.buffer(counting(4));

  REQUIRE(linked.run(more.get(), {from.get(), to.get()}, both.get(), 4) == "");
  CHECK(floats(to.get())[0] == -6.0F);
  CHECK(floats(to.get())[1] == 2.0F);
  REQUIRE(linked.run(more.get(), {from.get(), to.get()}, old_table.get(), 4) == "");
  CHECK(floats(to.get())[1] == -4.0F);
  CHECK(linked.run(pipeline.get(), {from.get(), to.get()}, both.get(), 4)
            .find("was made by a pipeline with other linked functions") != std::string::npos);
}

TEST_CASE("visible functions have names and a type, and are no kernels") {
  const Gpu gpu;
  const Linked linked(gpu);
  const auto twice = linked.function("twice");
  CHECK(twice->functionType() == MTL::FunctionTypeVisible);
  NS::Error* error = nullptr;
  CHECK(!NS::TransferPtr(gpu.device()->newComputePipelineState(twice.get(), &error)));
  CHECK(test::text(error).find("'twice' is a visible function, not a kernel") != std::string::npos);
  const auto pipeline = linked.pipeline(kKernels, "apply", {twice});
  const auto* handle = pipeline->functionHandle(test::string("twice"));
  REQUIRE(handle != nullptr);
  CHECK(test::text(handle->name()) == "twice");
  CHECK(handle->functionType() == MTL::FunctionTypeVisible);
}

TEST_CASE(
    "what is not linked has no handle, and what is null or foreign faults when it is called") {
  const Gpu gpu;
  const Linked linked(gpu);
  const auto twice = linked.function("twice");
  const auto pipeline = linked.pipeline(kKernels, "apply", {twice});
  const auto table = Linked::table(pipeline.get(), {twice});
  {
    const LogCapture log;
    CHECK(pipeline->functionHandle(linked.function("square").get()) == nullptr);
    CHECK(log.contains("pipeline 'apply' is not linked with 'square'"));
    table->setFunction(pipeline->functionHandle(twice.get()), 1);
    CHECK(log.contains("setFunction at index 1 of a function table of 1"));
  }
  const auto from = gpu.buffer(counting(4));
  const auto to = gpu.buffer(counting(4));
  const LogCapture log;
  CHECK(linked.run(pipeline.get(), {from.get(), to.get()}, nullptr, 4)
            .find("has no function table for parameter 'table' at index 2") != std::string::npos);
  table->setFunction(nullptr, 0);
  CHECK(linked.run(pipeline.get(), {from.get(), to.get()}, table.get(), 4)
            .find("function pointer: assertion failed: it is null or no function that the pipeline "
                  "is linked with") != std::string::npos);
}

TEST_CASE("a function constant that a visible function needs is asked for by name") {
  const Gpu gpu;
  const Linked linked(gpu);
  const auto library = gpu.library(kFunctions);
  const auto bare = NS::TransferPtr(library->newFunction(test::string("stepped")));
  std::string problem;
  CHECK(!linked.pipeline(kKernels, "apply", {bare}, &problem));
  CHECK(problem.find("function 'stepped' needs a value for function constant addend") !=
        std::string::npos);
}

TEST_CASE("a visible function's parameters carry no attributes of kernels") {
  const Gpu gpu;
  const std::string error = gpu.library_error(
      kHead + "[[visible]] float f(float x, uint i [[thread_position_in_grid]]) { return x; }\n");
  CHECK_MESSAGE(
      error.find("program_source:3:39: error: attribute 'thread_position_in_grid' is for "
                 "parameters of kernels, and 'f' is a visible function") != std::string::npos,
      error);
}

}  // namespace pewter
