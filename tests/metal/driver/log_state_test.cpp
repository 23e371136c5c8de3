#include <mutex>
#include <string>
#include <vector>

#include "pewter/metal/driver/log_format.h"
#include "tests/support/gpu.h"
#include "tests/support/log_capture.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;
using Lines = std::vector<std::string>;

const std::string kHead =
    "#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n";

/// Runs a kernel `f` that was compiled with or without logging; the lines that a handler gets, as
/// "subsystem/category level: text".
Lines messages(const std::string& source,
               std::size_t threads,
               bool logging = true,
               MTL::LogLevel level = MTL::LogLevelDebug,
               NS::Integer buffer_size = 4096) {
  const Gpu gpu;
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setEnableLogging(logging);
  auto wanted = NS::TransferPtr(MTL::LogStateDescriptor::alloc()->init());
  wanted->setLevel(level);
  wanted->setBufferSize(buffer_size);
  const auto state = NS::TransferPtr(gpu.device()->newLogState(wanted.get(), nullptr));
  REQUIRE(state);
  Lines lines;
  state->addLogHandler([&](NS::String* subsystem, NS::String* category, MTL::LogLevel severity,
                           NS::String* message) {
    lines.push_back(std::string(subsystem->utf8String()) + "/" + category->utf8String() + " " +
                    std::to_string(severity) + ": " + message->utf8String());
  });
  auto descriptor = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());
  descriptor->setLogState(state.get());
  CHECK(descriptor->logState() == state.get());
  const auto library = gpu.library(kHead + source, options.get());

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer(descriptor.get());
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(gpu.pipeline(library.get(), "f").get());
  encoder->dispatchThreads(size(threads), size(32));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  CHECK(commands->error() == nullptr);
  return lines;
}

}  // namespace

TEST_CASE("messages of kernels reach the handler with level, subsystem and arguments") {
  CHECK(messages("constant os_log custom(\"sub\", \"cat\");\n"
                 "kernel void f() {\n"
                 "  custom.log_info(\"x = %d, y = %5.2f, %s\", -3, 1.5f, \"text\");\n"
                 "  os_log_default.log_error(\"%u %x %%\", 7u, 255);\n"
                 "  os_log_default.log(\"%v4f|%v2d\", float4(1, 2, 3, 4), int2(5, 6));\n}\n",
                 1) == Lines{"sub/cat 2: x = -3, y =  1.50, text", "/ 4: 7 ff %",
                             "/ 3: 1.000000,2.000000,3.000000,4.000000|5,6"});
}

TEST_CASE("each thread that reaches a message writes it, others do not") {
  const Lines lines = messages(
      "kernel void f(uint i [[thread_position_in_grid]]) {\n"
      "  if (i % 3 == 1) os_log_default.log(\"thread %u\", i);\n}\n",
      40);

  REQUIRE(lines.size() == 13);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(std::count(lines.begin(), lines.end(), "/ 3: thread " + std::to_string(3 * i + 1)) == 1);
  }
}

TEST_CASE("without logging in the compile options messages are left out") {
  CHECK(messages("kernel void f() { os_log_default.log(\"hello\"); }\n", 4, false).empty());
}

TEST_CASE("messages below the level of the log state are left out") {
  CHECK(messages(
            "kernel void f() { os_log_default.log_debug(\"a\"); os_log_default.log_fault(\"b\"); }",
            1, true, MTL::LogLevelError) == Lines{"/ 5: b"});
}

TEST_CASE("messages that find no room are lost, and the log says so") {
  const test::LogCapture log;

  const Lines lines = messages(
      "kernel void f(uint i [[thread_position_in_grid]]) { os_log_default.log(\"%u\", i); }", 100,
      true, MTL::LogLevelDebug, 1024);

  CHECK(lines.size() == 1024 / 48);
  CHECK(log.contains("messages of kernels took 4800 bytes, of which 1024 found room"));
}

TEST_CASE("a log state of the wrong size is refused with the limits") {
  const Gpu gpu;
  auto wanted = NS::TransferPtr(MTL::LogStateDescriptor::alloc()->init());
  wanted->setBufferSize(10);
  NS::Error* error = nullptr;

  CHECK(!NS::TransferPtr(gpu.device()->newLogState(wanted.get(), &error)));

  REQUIRE(error != nullptr);
  CHECK(error->code() == MTL::LogStateErrorInvalidSize);
  CHECK(test::text(error) == "log buffer of 10 bytes, where 1024 to 1073741824 are possible");
}

TEST_CASE("formats that arguments do not fit print a mark, not memory") {
  using driver::format_message;
  CHECK(format_message("%d %s", {}) == "<?> <?>");
  const std::uint64_t number[] = {0, 5};
  CHECK(format_message("%s %f", number) == "<?> <?>");
  CHECK(format_message("100%", number) == "100%");
  CHECK(format_message("%n", number) == "%n");
  CHECK(format_message("%-6d|", number) == "5     |");
}

}  // namespace pewter
