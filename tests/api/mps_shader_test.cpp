#include <doctest/doctest.h>
#include <pewter/mps.h>

#include <numeric>
#include <span>
#include <thread>
#include <type_traits>

#include "tests/api/mps_support.h"
#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

using namespace pewter;
using namespace pewter::test;
using mps::compile_shader;

namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("mps 16: a kernel fills an array, and the library lists just it") {
  const mps::ShaderLibrary library = compile_shader(kFull);
  const array x = zeros(16);
  const mps::Kernel full = library.kernel("full");
  static_assert(std::is_void_v<decltype(full({x, 3.14}))>);
  full({x, 3.14});
  CHECK(x.to_vector<float>() == std::vector<float>(16, 3.14F));
  CHECK(library.function_names() == std::vector<std::string>{"full"});
  CHECK(full.max_threads_per_threadgroup() == 1024);
  CHECK(full.thread_execution_width() == 32);
  CHECK(full.static_thread_group_memory_length() == 0);
  CHECK(full.name() == "full");
}

TEST_CASE("mps 17: every error of a text is reported with its line") {
  const std::string errors = thrown_text<mps::ShaderSyntaxError>([] {
    compile_shader("kernel void f(device flaot* x) {}\n\nkernel void g() { undefined(); }\n");
  });
  CHECK(contains(errors, "program_source:1:22: error: "));
  CHECK(contains(errors, "program_source:3:19: error: "));
}

TEST_CASE("mps 17: an empty text is an empty library, and an unknown kernel is named") {
  CHECK(compile_shader("").function_names().empty());
  const mps::ShaderLibrary library = compile_shader(kFull);
  const std::string error = thrown_text<std::runtime_error>([&] { library.kernel("nope"); });
  CHECK(contains(error, "'nope'"));
}

TEST_CASE("mps 17: errors keep their lines below an include of a shipped header") {
  const std::string errors = thrown_text<mps::ShaderSyntaxError>(
      [] { compile_shader("#include <pewter/mps/random.h>\n#pragma once\nint x = y;\n"); });
  CHECK(contains(errors, "program_source:3:9: error: "));
}

TEST_CASE("mps 18: instantiations are listed and run under their host names") {
  const mps::ShaderLibrary library = compile_shader(R"(
    static float helper(float x) { return x + 1; }
    template <typename T>
    kernel void next(device T* x, uint i [[thread_position_in_grid]]) { x[i] = T(helper(x[i])); }
    template [[host_name("next_float")]] [[kernel]] decltype(next<float>) next<float>;
    template [[host_name("next_int")]] [[kernel]] decltype(next<int>) next<int>;
  )");
  CHECK(library.function_names() == std::vector<std::string>{"next_float", "next_int"});

  const array floats(std::vector<float>{0.5F, 1.5F});
  library.kernel("next_float")({floats});
  CHECK(floats.to_vector<float>() == std::vector<float>{1.5F, 2.5F});
  const array ints(std::vector<std::int32_t>{7, 8});
  library.kernel("next_int")({ints});
  CHECK(ints.to_vector<std::int32_t>() == std::vector<std::int32_t>{8, 9});
}

TEST_CASE("mps 19: numbers are cast for all arguments or for one") {
  const mps::ShaderLibrary library = compile_shader(R"(
    kernel void store_half(device float* out, constant half& value) { out[0] = value; }
    kernel void store_ints(device int* out, constant int* values, uint i [[thread_position_in_grid]]) {
      out[i] = values[i];
    })");
  const array x = zeros(1);
  library.kernel("store_half")({x, 0.1}, {.arg_casts = "fp16"});
  CHECK(x.item<float>() == static_cast<float>(Float16(0.1F)));
  library.kernel("store_half")({x, 2}, {.arg_casts = {{1, "fp16"}}});
  CHECK(x.item<float>() == 2.0F);

  const array ints = array::empty({3}, Dtype::Int32);
  library.kernel("store_ints")({ints, std::vector<int>{5, -6, 7}}, {.arg_casts = "int32"});
  CHECK(ints.to_vector<std::int32_t>() == std::vector<std::int32_t>{5, -6, 7});
}

TEST_CASE("mps 19: an unknown cast is named, but only where it applies") {
  const mps::ShaderLibrary library = compile_shader(kFull);
  const array x = zeros(4);
  const mps::Kernel full = library.kernel("full");
  CHECK(contains(thrown_text<std::runtime_error>([&] { full({x, 1.0}, {.arg_casts = "fp99"}); }),
                 "fp99"));
  CHECK(contains(
      thrown_text<std::runtime_error>([&] { full({x, 1.0}, {.arg_casts = {{1, "fp98"}}}); }),
      "fp98"));
  CHECK(x.to_vector<float>() == std::vector<float>(4, 0.0F));
  full({x, 1.0}, {.arg_casts = {{0, "fp99"}, {9, "fp99"}}});
  CHECK(x.to_vector<float>() == std::vector<float>(4, 1.0F));
}

TEST_CASE("mps 20: lists are bound as contiguous numbers of 8 and 4 bytes") {
  const mps::ShaderLibrary library = compile_shader(R"(
    kernel void read_long(device long* out, constant long2& values) { out[0] = values.x * 10 + values.y; }
    kernel void read_float(device float* out, constant float2& values) { out[0] = values.x + values.y; }
    kernel void read_many(device long* out, constant long* values, uint i [[thread_position_in_grid]]) {
      out[i] = values[i];
    })");
  const array integer = array::empty({1}, Dtype::Int64);
  library.kernel("read_long")({integer, std::vector<int>{1, 2}});
  CHECK(integer.item<std::int64_t>() == 12);
  const array number = zeros(1);
  library.kernel("read_float")({number, std::vector<double>{0.5, 1.5}});
  CHECK(number.item<float>() == 2.0F);
  CHECK_THROWS_AS(library.kernel("read_long")({integer, std::vector<int>{}}), std::runtime_error);

  // More than travels in a command buffer.
  std::vector<std::int64_t> many(3000);
  std::iota(many.begin(), many.end(), -5);
  const array copied = array::empty({3000}, Dtype::Int64);
  library.kernel("read_many")({copied, many});
  CHECK(copied.to_vector<std::int64_t>() == many);
}

TEST_CASE("mps 20: forty arrays are summed through one argument buffer") {
  const mps::ShaderLibrary library = compile_shader(R"(
    struct Arrays { device const float* item[40]; };
    kernel void sum(device float* out, constant Arrays& arrays, uint i [[thread_position_in_grid]]) {
      float total = 0;
      for (int n = 0; n < 40; ++n) {
        total += arrays.item[n][i];
      }
      out[i] = total;
    })");
  const array out = zeros(5);
  {
    std::vector<array> arrays;
    for (int n = 0; n < 40; ++n) {
      // A view, so that the offset counts too.
      arrays.push_back(array(std::vector<float>(8, static_cast<float>(n))).slice(n % 3, 8));
    }
    library.kernel("sum")({out, arrays});
  }
  CHECK(out.to_vector<float>() == std::vector<float>(5, 780.0F));
}

TEST_CASE("mps 24: a view is written from its own first element") {
  const mps::ShaderLibrary library = compile_shader(kFull);
  const array x = zeros(8);
  library.kernel("full")({x.slice(4, 8), 2.0});
  CHECK(x.to_vector<float>() == std::vector<float>{0, 0, 0, 0, 2, 2, 2, 2});
}

TEST_CASE("mps 25: what a kernel reports is thrown by the next synchronize, once") {
  const mps::ShaderLibrary library = compile_shader(R"(#include <pewter/mps/error.h>
    kernel void check(device float* x, device pewter::mps::ErrorRecords* errors [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
      if (x[i] < 0) {
        PEWTER_REPORT_ERROR(errors, "element ", i, " is negative, by ", long(x[i]));
      }
    })");
  const array x(std::vector<float>{1, 2, -7, 4});
  const mps::Kernel check = library.kernel("check");
  check({x}, {.error_buf_idx = 1});
  const std::string error = thrown_text<std::runtime_error>([] { mps::synchronize(); });
  CHECK(contains(error, "element 2 is negative, by -7"));
  CHECK(contains(error, "program_source:5: in check: "));
  CHECK(contains(error, "1 error"));
  CHECK_NOTHROW(mps::synchronize());

  const array good(std::vector<float>{1});
  check({good}, {.error_buf_idx = 1});
  CHECK_NOTHROW(mps::synchronize());
}

TEST_CASE("mps 25: thirty reports are kept and all are counted") {
  const mps::ShaderLibrary library = compile_shader(R"(#include <c10/metal/error.h>
    kernel void fail(device c10::metal::ErrorMessages* errors [[buffer(0)]],
                     uint i [[thread_position_in_grid]]) {
      TORCH_REPORT_ERROR(errors, "bad");
    })");
  library.kernel("fail")({}, {.threads = 1000, .error_buf_idx = 0});
  const std::string error = thrown_text<std::runtime_error>([] { mps::synchronize(); });
  CHECK(contains(error, "reported 1000 errors"));
  CHECK(contains(error, "and 970 more"));
  CHECK_NOTHROW(mps::synchronize());
}

TEST_CASE("mps 26: four threads call one kernel on arrays of their own") {
  const mps::ShaderLibrary library = compile_shader(R"(
    kernel void add(device int* x, constant int& value, uint i [[thread_position_in_grid]]) {
      x[i] += value;
    })");
  const mps::Kernel add = library.kernel("add");
  std::vector<array> arrays;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    arrays.emplace_back(std::vector<std::int32_t>(33, 0));
  }
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 500; ++i) {
        add({arrays[t], t + 1}, {.arg_casts = "int32"});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (int t = 0; t < 4; ++t) {
    CHECK(arrays[t].to_vector<std::int32_t>() == std::vector<std::int32_t>(33, 500 * (t + 1)));
  }
}

TEST_CASE("a kernel keeps its library alive") {
  const mps::Kernel full = compile_shader(kFull).kernel("full");
  const array x = zeros(3);
  full({x, 1.0});
  CHECK(x.to_vector<float>() == std::vector<float>(3, 1.0F));
}

TEST_CASE("a library that the command line made is loaded from its file and from memory") {
  const TemporaryDirectory directory;
  const std::string object = (directory.path() / "full.air").string();
  const std::string file = (directory.path() / "full.metallib").string();
  const std::string source = directory.write("full.metal", kFull);
  REQUIRE(run_process({PEWTER_TOOL, "metal", "-c", source, "-o", object}).code == 0);
  REQUIRE(run_process({PEWTER_TOOL, "metallib", object, "-o", file}).code == 0);

  const mps::ShaderLibrary from_file = mps::load_metallib(file);
  const std::string content = read_file(file);
  const mps::ShaderLibrary from_memory = mps::load_metallib(std::as_bytes(std::span(content)));

  for (const mps::ShaderLibrary& library : {from_file, from_memory}) {
    CHECK(library.function_names() == std::vector<std::string>{"full"});
    const array x = zeros(5);
    library.kernel("full")({x, 2.5});
    CHECK(x.to_vector<float>() == std::vector<float>(5, 2.5F));
    CHECK(contains(thrown_text<std::runtime_error>([&] { library.kernel("nope"); }), "'nope'"));
  }
  const std::string cut = content.substr(0, content.size() / 2);
  CHECK(contains(
      thrown_text<std::runtime_error>([&] { mps::load_metallib(std::as_bytes(std::span(cut))); }),
      "[mps::load_metallib]"));
}

TEST_CASE("a file that is no library is refused with its name") {
  CHECK(contains(
      thrown_text<std::runtime_error>([] { mps::load_metallib("/nowhere/none.metallib"); }),
      "/nowhere/none.metallib"));
  const std::vector<std::byte> image(16);
  CHECK(contains(thrown_text<std::runtime_error>([&] { mps::load_metallib(std::span(image)); }),
                 "16 bytes"));
}

TEST_CASE("a kernel that faults fails the next wait, and the stream goes on") {
  const mps::ShaderLibrary library = compile_shader(R"(
    kernel void fault(device int* x, constant long& address) { *(device int*)(address) = 1; })");
  const array x(std::vector<std::int32_t>{0});
  library.kernel("fault")({x, 16});
  CHECK_THROWS_AS(mps::synchronize(), std::runtime_error);
  CHECK_NOTHROW(mps::synchronize());
  const array y = zeros(2);
  compile_shader(kFull).kernel("full")({y, 1.0});
  CHECK(y.to_vector<float>() == std::vector<float>(2, 1.0F));
}
