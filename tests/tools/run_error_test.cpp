#include <unistd.h>

#include <doctest/doctest.h>

#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"
#include "tests/tools/tool.h"

namespace pewter::test {
namespace {

constexpr const char* kSource = R"(#include <metal_stdlib>
using namespace metal;

kernel void scale(device float* values [[buffer(0)]],
                  constant uint& count [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  if (i < count) {
    values[i] *= 2;
  }
}

kernel void shift(device float* values, uint i [[thread_position_in_grid]]) {
  values[i] += 1;
}
)";

struct Failure {
  int code;
  std::string errors;
};

/// Runs `pewter run` on a source text; nothing may appear on standard output.
Failure failure_of(const std::string& source, std::vector<std::string> arguments) {
  const TemporaryDirectory directory;
  arguments.insert(arguments.begin(), {"run", directory.write("k.metal", source)});
  const auto result = pewter_command(arguments);
  CHECK(result.output.empty());
  return {result.code, result.errors};
}

Failure failure_of(const std::vector<std::string>& arguments) {
  return failure_of(kSource, arguments);
}

TEST_CASE("a missing source file is named") {
  const auto result = pewter_command({"run", "/no/such/file.metal", "--grid", "1"});

  CHECK(result.code == 1);
  CHECK(result.errors == "pewter run: cannot read '/no/such/file.metal': no such file\n");
}

TEST_CASE("an unknown kernel is answered with the nearest name") {
  const auto result = failure_of({"--kernel", "scael", "--grid", "1"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "no kernel named 'scael'; did you mean 'scale'?"));
}

TEST_CASE("several kernels and no choice lists them") {
  const auto result = failure_of({"--grid", "1"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors,
                 "2 kernels in this file, choose one with --kernel; there are 'scale', 'shift'"));
}

TEST_CASE("a compile error shows the file, the line and a caret") {
  const auto result = failure_of("kernel void f(device flaot* x) {}\n", {"--grid", "1"});

  CHECK(result.code == 1);
  CHECK(first_line(result.errors).ends_with("/k.metal:1:22: error: unknown type name 'flaot'"));
  CHECK(contains(result.errors, "^"));
}

TEST_CASE("a file without kernels is refused") {
  const auto result = failure_of("constant int x = 1;\n", {"--grid", "1"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "no kernels in this file"));
}

TEST_CASE("a missing binding is named with its index") {
  const auto result =
      failure_of({"--kernel", "scale", "--grid", "4", "--buffer", "values=zeros:f32:4"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "kernel 'scale' needs 'count' at buffer(1)"));
}

TEST_CASE("a buffer for no parameter is answered with the nearest name") {
  const auto result =
      failure_of({"--kernel", "shift", "--grid", "4", "--buffer", "value=zeros:f32:4"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "no buffer parameter 'value'; did you mean 'values'?"));
}

TEST_CASE("a parameter bound by name and by index is refused") {
  const auto result = failure_of({"--kernel", "shift", "--grid", "4", "--buffer",
                                  "values=zeros:f32:4", "--buffer", "0=zeros:f32:4"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "'values' is bound twice"));
}

TEST_CASE("bytes of the wrong size are refused") {
  const auto result = failure_of({"--kernel", "scale", "--grid", "4", "--buffer",
                                  "values=zeros:f32:4", "--bytes", "count=uchar:4"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "--bytes count: 1 bytes are too few, the kernel reads 4"));
}

TEST_CASE("bytes of another type are used with a warning") {
  const TemporaryDirectory directory;
  const auto result =
      pewter_command({"run", directory.write("k.metal", kSource), "--kernel", "scale", "--grid",
                      "4", "--buffer", "values=zeros:f32:4", "--bytes", "count=float:4"});

  CHECK(result.code == 0);
  CHECK(contains(result.errors, "warning: --bytes count: the kernel expects uint, not float"));
}

TEST_CASE("a threadgroup larger than the limit is refused") {
  const auto result = failure_of(
      {"--kernel", "shift", "--grid", "4K", "--group", "2048", "--buffer", "values=zeros:f32:4K"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "threadgroup of 2048 = 2048 threads exceeds the limit of 1024"));
}

TEST_CASE("a buffer larger than the device allows is refused before it is made") {
  const auto result =
      failure_of({"--kernel", "shift", "--grid", "4", "--buffer", "values=zeros:f32:1048576G"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "exceed the device's limit"));
}

TEST_CASE("malformed flags are bad usage") {
  const std::vector<std::vector<std::string>> commands = {
      {},
      {"--grid", "0"},
      {"--grid", "1x1x1x1"},
      {"--grid", "many"},
      {"--grid", "5G"},
      {"--grid", "1", "--group", "0"},
      {"--grid", "1", "--buffer", "values"},
      {"--grid", "1", "--buffer", "=zeros:f32:1"},
      {"--grid", "1", "--buffer", "values=zeros:f33:1"},
      {"--grid", "1", "--buffer", "a=zeros:f32:1", "--buffer", "a=zeros:f32:1"},
      {"--grid", "1", "--bytes", "count=7"},
      {"--grid", "1", "--constant", "0=bool:2"},
      {"--grid", "1", "--show", "out"},
      {"--grid", "1", "--buffer", "a=zeros:f32:1", "--save", "a=a.txt"},
      {"--grid", "1", "--repeat", "0"},
      {"--grid", "1", "--repeat", "x"},
  };
  for (const auto& arguments : commands) {
    CAPTURE(arguments.size());
    const auto result = failure_of(arguments);
    CHECK_MESSAGE(result.code == 2, result.errors);
    CHECK(contains(result.errors, "see 'pewter run --help'"));
  }
}

TEST_CASE("a damaged NumPy file is refused") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("x.npy", "\x93NUMPY and then nothing");
  const auto result =
      failure_of({"--kernel", "shift", "--grid", "4", "--buffer", "values=" + file});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "x.npy: "));
}

TEST_CASE("a missing function constant is reported") {
  const auto result = failure_of(
      "constant int n [[function_constant(0)]];\nkernel void f(device int* x) { x[0] = n; }\n",
      {"--grid", "1", "--buffer", "x=zeros:i32:1"});

  CHECK(result.code == 1);
  CHECK(result.errors == "pewter run: kernel 'f' needs a value for function constant n\n");
}

TEST_CASE("a function constant that the kernel lacks is used with a warning") {
  const TemporaryDirectory directory;
  const std::string file = directory.write("k.metal",
                                           "constant int size [[function_constant(2)]];\nkernel "
                                           "void f(device int* x) { x[0] = size; }\n");
  const auto result = pewter_command({"run", file, "--grid", "1", "--buffer", "x=zeros:i32:1",
                                      "--constant", "2=int:1", "--constant", "sise=int:1"});

  CHECK(result.code == 0);
  CHECK(contains(result.errors,
                 "warning: kernel 'f' has no function constant 'sise'; did you mean 'size'?"));
}

TEST_CASE("a kernel may read past the end of its buffers where it is allowed to, and not write") {
  const TemporaryDirectory directory;
  const std::string file = directory.write(
      "k.metal",
      "kernel void f(device int* x [[buffer(0)]], constant int& place [[buffer(1)]]) {\n"
      "  if (place > 0) { x[0] = x[place] + 7; } else { x[-place] = 1; }\n}\n");
  const long page = sysconf(_SC_PAGESIZE);
  const long end = page / 4;
  const auto run = [&](long place, long allowed) {
    return pewter_command(
        {"run", file, "--grid", "1", "--buffer", "x=ones:i32:" + std::to_string(end), "--bytes",
         "place=int:" + std::to_string(place), "--show", "x"},
        {{"PEWTER_READ_PAST_END", std::to_string(allowed)}});
  };

  CHECK(contains(run(end + 2, 0).errors, "page fault"));
  CHECK(contains(run(end + 2, page).output, "first  7 1 1"));
  CHECK(contains(run(-end - 2, page).errors, "page fault"));
  CHECK(contains(run(2 * end + 2, page).errors, "page fault"));
}

TEST_CASE("a kernel that faults fails the command with the reason") {
  const auto result = failure_of("kernel void f(device int* x) { x[ulong(1) << 40] = 1; }\n",
                                 {"--grid", "1", "--buffer", "x=zeros:i32:1"});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "pewter run: kernel 'f': page fault"));
}

TEST_CASE("an endless kernel fails the command after the time limit") {
  for (const std::string body : {"while (x[0] == 0) {}", "while (true) { y[1] += 1; }",
                                 "for (uint n = 1; n != 0; n += 2) {}"}) {
    CAPTURE(body);
    const TemporaryDirectory directory;
    const std::string file = directory.write(
        "k.metal", "kernel void f(device volatile int* x, device int* y) { " + body + " }\n");
    const auto result = pewter_command(
        {"run", file, "--grid", "1", "--buffer", "x=zeros:i32:2", "--buffer", "y=zeros:i32:2"},
        {{"PEWTER_TIMEOUT_MS", "50"}});

    CHECK(result.code == 1);
    CHECK(contains(result.errors, "pewter run: kernel 'f': stopped after 50 ms"));
  }
}

TEST_CASE("without a device the command fails and says so") {
  const TemporaryDirectory directory;
  const auto result = pewter_command({"run", directory.write("k.metal", kSource), "--grid", "1"},
                                     {{"PEWTER_DEVICE", "none"}});

  CHECK(result.code == 1);
  CHECK(contains(result.errors, "there is no Metal device"));
}

}  // namespace
}  // namespace pewter::test
