#include <doctest/doctest.h>

#include <cstring>

#include "tests/support/temporary_directory.h"
#include "tests/tools/tool.h"
#include "tools/npy.h"

namespace pewter::test {
namespace {

constexpr const char* kSaxpy = R"(#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = a * x[i] + y[i];
}
)";

template <typename T>
std::vector<T> read_array(const std::filesystem::path& path) {
  const auto header = tools::read_buffer_header(path.string());
  std::vector<T> values(header.byte_count / sizeof(T));
  tools::read_buffer_data(path.string(), header, std::as_writable_bytes(std::span(values)));
  return values;
}

/// A directory with a source file, in which results are saved.
class Workspace {
 public:
  explicit Workspace(const std::string& source) : file_(directory_.write("kernel.metal", source)) {}

  ProcessResult run(std::vector<std::string> arguments,
                    const std::map<std::string, std::string>& environment = {}) const {
    arguments.insert(arguments.begin(), {"run", file_});
    return pewter_command(arguments, environment);
  }

  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

 private:
  TemporaryDirectory directory_;
  std::string file_;
};

TEST_CASE("buffers and bytes are matched to parameters by name") {
  const Workspace work(kSaxpy);
  const auto result =
      work.run({"--kernel", "saxpy", "--grid", "4", "--buffer", "y=ones:f32:4", "--buffer",
                "x=range:f32:4", "--bytes", "a=float:2", "--save", "y=" + work.path("y.npy")});

  REQUIRE_MESSAGE(result.code == 0, result.errors);
  CHECK(contains(result.output, "saxpy: 4 x 1 x 1 threads"));
  CHECK(read_array<float>(work.path("y.npy")) == std::vector<float>{1, 3, 5, 7});
}

TEST_CASE("a run explains in which mode, with how many lanes and with what accesses") {
  const Workspace work(kSaxpy);
  const std::vector<std::string> arguments = {
      "--kernel", "saxpy",         "--grid",  "64",        "--buffer", "y=ones:f32:64",
      "--buffer", "x=ones:f32:64", "--bytes", "a=float:2", "--explain"};

  const auto vector = work.run(arguments, {{"PEWTER_MODE", "spmd"}, {"PEWTER_LANES", "16"}});
  CHECK(contains(vector.errors, "'saxpy' in rows of threads runs 16 threads at a time"));
  CHECK(contains(vector.errors, "0 strided, 0 gathered"));
  const auto scalar = work.run(arguments, {{"PEWTER_MODE", "scalar"}});
  CHECK(contains(scalar.errors, "'saxpy' runs one thread at a time"));
}

constexpr const char* kAccesses = R"(#include <metal_stdlib>
using namespace metal;

kernel void f(device const float* x [[buffer(0)]],
              device const uint* index [[buffer(1)]],
              device float* out [[buffer(2)]],
              device atomic_uint* total [[buffer(3)]],
              constant uint& n [[buffer(4)]],
              uint i [[thread_position_in_grid]]) {
  float sum = x[i];
  for (uint k = 0; k < n; ++k) {
    sum += x[k] * sum;
  }
  sum += x[i * 20];
  if (x[i + 1] > 0.5f) {
    sum += x[index[i]] / sum;
    atomic_fetch_max_explicit(&total[index[i]], 1u, memory_order_relaxed);
  }
  out[i] = sum;
  atomic_fetch_max_explicit(total, 7u, memory_order_relaxed);
}
)";

TEST_CASE("a run explains each branch and access by its place, compiled now or before") {
  const Workspace work(kAccesses);
  const TemporaryDirectory cache;
  const auto explain = [&] {
    return work.run(
        {"--grid", "64", "--buffer", "x=ones:f32:4K", "--buffer", "index=zeros:u32:64", "--buffer",
         "out=zeros:f32:64", "--buffer", "total=zeros:u32:64", "--bytes", "n=uint:9", "--explain"},
        {{"PEWTER_MODE", "spmd"},
         {"PEWTER_LANES", "16"},
         {"PEWTER_CACHE", "on"},
         {"PEWTER_CACHE_DIR", cache.path().string()}});
  };

  const auto first = explain();
  const auto second = explain();

  const auto has = [&](const std::string& line) {
    CHECK_MESSAGE(contains(first.errors, "\n  program_source:" + line + "\n"), first.errors);
  };
  has("10:15  load   consecutive");
  has("11:3   branch uniform");
  has("12:12  load   uniform: one address for all threads");
  has("14:10  load   strided: 80 bytes from thread to thread");
  has("15:7   branch divergent: depends on what is loaded at 15:7");
  has("16:12  load   gathered: depends on what is loaded at 16:14");
  has("16:14  load   consecutive");
  has("17:5   atomic thread by thread: depends on what is loaded at 16:14");
  has("19:10  store  consecutive");
  has("20:3   atomic combined: one address for all threads");
  CHECK(contains(first.errors, "\n  width 16: as PEWTER_LANES asks\n"));
  CHECK(first.errors == second.errors);
}

TEST_CASE("a run explains why there are so many lanes") {
  const auto explain = [](const std::string& body) {
    const Workspace work(
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "kernel void f(device float* x [[buffer(0)]],\n"
        "              threadgroup float* shared [[threadgroup(0)]],\n"
        "              uint i [[thread_index_in_threadgroup]]) {" +
        body + "}\n");
    return work
        .run({"--grid", "64", "--buffer", "x=ones:f32:64", "--threadgroup", "shared=256",
              "--explain"},
             {{"PEWTER_MODE", "spmd"}})
        .errors;
  };

  CHECK(contains(explain("x[i] += 1;"), "\n  width 32: a simdgroup, as there is no loop\n"));
  CHECK(contains(explain("x[i] = simd_sum(x[i]);"),
                 "\n  width 32: a simdgroup, whose threads use each other's values\n"));
  CHECK(contains(explain("shared[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup);"
                         "x[i] = shared[63 - i];"),
                 "\n  width 64: a whole group of 64, which waits for nobody at barriers\n"));
}

TEST_CASE("a run explains in how many loops the last threads run alone") {
  const Workspace work(
      "kernel void f(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
      "  uint a = i;\n"
      "  while (a % 37 != 0) a = a * 3 + 1;\n"
      "  out[i] = a;\n"
      "}\n");

  const auto result =
      work.run({"--kernel", "f", "--grid", "64", "--buffer", "out=zeros:u32:64", "--explain"},
               {{"PEWTER_MODE", "spmd"}});

  CHECK(result.code == 0);
  CHECK(contains(result.errors, "; the last threads of 1 loop run alone"));
}

TEST_CASE("a run explains why threads cannot run together, and where") {
  const Workspace work(
      "#include <metal_stdlib>\n"
      "using namespace metal;\n"
      "uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }\n"
      "kernel void f(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
      "  const uint n = i % 9;\n"
      "  out[i] = fibonacci(n);\n"
      "}\n");

  const auto result =
      work.run({"--kernel", "f", "--grid", "64", "--buffer", "out=zeros:u32:64", "--explain"},
               {{"PEWTER_MODE", "spmd"}});

  CHECK(result.code == 0);
  CHECK(contains(result.errors, "'f' runs one thread at a time"));
  CHECK(contains(result.errors, ":6:12: a call that is not inlined"));
}

TEST_CASE("buffers and bytes are matched to parameters by index") {
  const Workspace work(kSaxpy);
  const auto result = work.run({"-g", "3", "-b", "0=range:f32:3", "-b", "1=zeros:f32:3", "--bytes",
                                "2=float:-1", "--save", "1=" + work.path("y.npy")});

  REQUIRE_MESSAGE(result.code == 0, result.errors);
  CHECK(read_array<float>(work.path("y.npy")) == std::vector<float>{-0.0f, -1, -2});
}

TEST_CASE("a NumPy file goes in and its shape comes out again") {
  const Workspace work(kSaxpy);
  const std::vector<float> input = {1, 2, 3, 4, 5, 6};
  write_npy(work.path("x.npy"), "<f4", {2, 3}, std::as_bytes(std::span(input)));
  const auto result =
      work.run({"--grid", "6", "--buffer", "x=" + work.path("x.npy"), "--buffer", "y=zeros:f32:2x3",
                "--bytes", "a=float:10", "--save", "y=" + work.path("y.npy")});

  REQUIRE_MESSAGE(result.code == 0, result.errors);
  CHECK(tools::read_buffer_header(work.path("y.npy")).shape == std::vector<std::uint64_t>{2, 3});
  CHECK(read_array<float>(work.path("y.npy")) == std::vector<float>{10, 20, 30, 40, 50, 60});
}

TEST_CASE("a repeated run goes on with the buffers of the last one") {
  const Workspace work(kSaxpy);
  const auto result =
      work.run({"--grid", "2", "--buffer", "x=ones:f32:2", "--buffer", "y=zeros:f32:2", "--bytes",
                "a=float:1", "--repeat", "5", "--time", "--save", "y=" + work.path("y.npy")});

  REQUIRE_MESSAGE(result.code == 0, result.errors);
  CHECK(contains(result.output, ", 5 times\n"));
  CHECK(contains(result.output, "ms median of 5\n"));
  CHECK(contains(result.output, "compile  "));
  CHECK(contains(result.output, "GB/s"));
  CHECK(read_array<float>(work.path("y.npy")) == std::vector<float>{5, 5});
}

TEST_CASE("an output is shown with statistics and a histogram") {
  const Workspace work(kSaxpy);
  const auto result =
      work.run({"--grid", "1K", "--group", "64", "--buffer", "x=range:f32:1K", "--buffer",
                "y=zeros:f32:1K", "--bytes", "a=float:1", "--show", "y"});

  REQUIRE_MESSAGE(result.code == 0, result.errors);
  CHECK(contains(result.output, "y: 1024 x float\n"));
  CHECK(contains(result.output, "first  0 1 2 3 4 5 6 7 ...\n"));
  CHECK(contains(result.output, "min 0  max 1023  mean 511.5"));
  CHECK(contains(result.output, "####"));
}

TEST_CASE("function constants are set by index and by name") {
  const Workspace work(R"(#include <metal_stdlib>
using namespace metal;
constant bool negate [[function_constant(3)]];
constant int offset [[function_constant(4)]];
kernel void f(device int* out, uint i [[thread_position_in_grid]]) {
  out[i] = (negate ? -int(i) : int(i)) + offset;
}
)");
  const auto result =
      work.run({"--grid", "3", "--buffer", "out=zeros:i32:3", "--constant", "3=bool:true",
                "--constant", "offset=int:10", "--save", "out=" + work.path("o.npy")});

  REQUIRE_MESSAGE(result.code == 0, result.errors);
  CHECK(read_array<int>(work.path("o.npy")) == std::vector<int>{10, 9, 8});
}

TEST_CASE("grids have up to three dimensions") {
  const Workspace work(R"(#include <metal_stdlib>
using namespace metal;
kernel void f(device uint* out, uint3 i [[thread_position_in_grid]], uint3 n [[threads_per_grid]]) {
  out[i.x + n.x * (i.y + n.y * i.z)] = i.x + 10 * i.y + 100 * i.z;
}
)");
  const auto result = work.run({"--grid", "2x2x2", "--group", "2x1x2", "--buffer",
                                "out=zeros:u32:2x2x2", "--save", "out=" + work.path("o.npy")});

  REQUIRE_MESSAGE(result.code == 0, result.errors);
  CHECK(read_array<std::uint32_t>(work.path("o.npy")) ==
        std::vector<std::uint32_t>{0, 1, 10, 11, 100, 101, 110, 111});
}

TEST_CASE("threadgroup memory and macros reach the kernel") {
  const Workspace work(R"(#include <metal_stdlib>
using namespace metal;
kernel void reverse(device int* x, threadgroup int* shared [[threadgroup(0)]],
                    uint i [[thread_position_in_threadgroup]]) {
  shared[i] = x[i] * FACTOR;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = shared[COUNT - 1 - i];
}
)");
  const auto result =
      work.run({"--grid", "4", "--buffer", "x=range:i32:4", "--threadgroup", "shared=16",
                "--define", "FACTOR=3", "-D", "COUNT=4", "--save", "x=" + work.path("x.npy")});

  REQUIRE_MESSAGE(result.code == 0, result.errors);
  CHECK(read_array<int>(work.path("x.npy")) == std::vector<int>{9, 6, 3, 0});
}

TEST_CASE("random input is the same in every run with the same seed") {
  const Workspace work(kSaxpy);
  const auto first_element = [&](const std::string& seed) {
    const auto result =
        work.run({"--grid", "1", "--seed", seed, "--buffer", "x=random:f32:8", "--buffer",
                  "y=random:f32:8", "--bytes", "a=float:0", "--show", "x"});
    REQUIRE_MESSAGE(result.code == 0, result.errors);
    return result.output;
  };

  CHECK(first_element("1") == first_element("1"));
  CHECK(first_element("1") != first_element("2"));
}

}  // namespace
}  // namespace pewter::test
