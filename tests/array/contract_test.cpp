// The acceptance checks of the contract "memory, device, arrays, custom kernels" that are about
// lazy arrays, compile and metal_kernel.

#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/fast.h>
#include <pewter/memory.h>
#include <pewter/ops.h>
#include <pewter/random.h>
#include <Metal/Metal.hpp>

#include <atomic>
#include <cmath>
#include <complex>
#include <numeric>
#include <stdexcept>
#include <string>

#include "pewter/array/ops/custom_kernel_text.h"
#include "tests/array/reference.h"

using namespace pewter;
using namespace pewter::test;
using fast::CustomKernelCall;
using fast::metal_kernel;

namespace {

const char* const kExponential = R"(
    uint elem = thread_position_in_grid.x;
    uint loc = elem_to_loc(elem, inp_shape, inp_strides, inp_ndim);
    T tmp = inp[loc];
    out[elem] = metal::exp(tmp);
)";

CustomKernelCall exponential_call(const array& a) {
  CustomKernelCall call;
  call.inputs = {a};
  call.output_shapes = {a.shape()};
  call.output_dtypes = {a.dtype()};
  call.grid = {static_cast<int>(a.size()), 1, 1};
  call.threadgroup = {256, 1, 1};
  call.template_arguments = {{"T", Dtype::Float32}};
  return call;
}

/// A call with one output of `count` elements and a thread for each.
CustomKernelCall simple_call(std::vector<array> inputs, Dtype dtype, int count) {
  CustomKernelCall call;
  call.inputs = std::move(inputs);
  call.output_shapes = {{count}};
  call.output_dtypes = {dtype};
  call.grid = {count, 1, 1};
  call.threadgroup = {32, 1, 1};
  return call;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("metal-memory-and-device 7: zeros take memory when they are evaluated, not before") {
  const std::size_t before = get_active_memory();
  const array x = zeros({4096});
  CHECK(get_active_memory() == before);
  eval(x);
  CHECK(get_active_memory() >= before + 16384);
}

TEST_CASE("metal-memory-and-device 3: building a graph takes no memory") {
  const array x = ones({2, 3});
  eval(x);
  const array host(std::vector<float>{1, 2, 3}, Placement::Host);
  const array three(3.0F);
  random::seed(7);
  reset_peak_memory();
  const std::size_t before = get_active_memory();

  const std::vector<array> lazy = {
      broadcast_to(three, {2, 3}),
      stack({three, array(4.0F)}),
      concatenate({reshape(three, {1}), expand_dims(three, 0)}),
      take(x, array(1), 0),
      take(three, array(0)),
      sum(three),
      x + three + 2.0F,
      x + host,
      matmul(x, host),
      host.slice(2, -4, 0, -1),
      host.slice(0, 3, 0, 2) * 2.0F,
      where(x > three, x, three),
      slice_update(x, three, {0, 0}, {1, 1}),
      tile(three, {2}),
      pad(x, {{1, 1}, {1, 1}}, three),
      sort(host),
      random::uniform({4}),
      random::normal({4}),
      random::uniform(three, array(5.0F), {4}),
      random::bits({4}),
      random::randint(0, 9, {4}),
      random::permutation(5),
      random::categorical(x),
      quantize(ones({2, 64}))[0],
  };

  CHECK(get_active_memory() == before);
  CHECK(get_peak_memory() == 0);
  eval(lazy);
  CHECK(get_active_memory() > before);
}

TEST_CASE("what is made of numbers on the host has their elements") {
  const array three(3.0F);
  const array host(std::vector<float>{1, 2, 3}, Placement::Host);

  CHECK(broadcast_to(three, {2, 2}).to_vector<float>() == std::vector<float>(4, 3));
  CHECK(stack({three, array(4.0F)}).to_vector<float>() == std::vector<float>{3, 4});
  CHECK(take(reshape(three, {1}), array(0), 0).item<float>() == 3);
  CHECK(reshape(three, {1, 1}).item<float>() == 3);
  CHECK(sum(three).item<float>() == 3);
  CHECK(host.slice(2, -4, 0, -1).to_vector<float>() == std::vector<float>{3, 2, 1});
  CHECK((host.slice(2, -4, 0, -2) + 1.0F).to_vector<float>() == std::vector<float>{4, 2});
  CHECK((host.slice(1, 1, 0, 1) + 1.0F).to_vector<float>().empty());
}

TEST_CASE("views of numbers on the host may be parts of functions that are compiled") {
  const array three(3.0F);
  for (const bool shapeless : {false, true}) {
    const auto plus_row = compile(
        [&](const std::vector<array>& inputs) {
          const array row = concatenate({reshape(three, {1}), expand_dims(array(4.0F), 0)});
          return std::vector<array>{inputs[0] + row, broadcast_to(inputs[1], {2})};
        },
        shapeless);

    for (const float number : {1.0F, 2.0F}) {
      const std::vector<array> results = plus_row({array{1.0F, 2.0F}, array(number)});
      CHECK(results[0].to_vector<float>() == std::vector<float>{4, 6});
      CHECK(results[1].to_vector<float>() == std::vector<float>(2, number));
    }
  }
}

TEST_CASE("metal-memory-and-device 20: exp of halves, contiguous or not") {
  const std::vector<double> values = numbers(64, -2, 2, Dtype::Float16);
  const array a = make_array(values, {4, 16}, Dtype::Float16);
  for (const bool ensure : {true, false}) {
    const auto kernel = metal_kernel("myexp", {"inp"}, {"out"}, kExponential, "", ensure);
    check_close(kernel(exponential_call(a))[0], read(exp(a)), 1);
    const array rows = slice(a, {0, 0}, {4, 16}, {2, 1});
    check_close(kernel(exponential_call(rows))[0], read(exp(rows)), 1);
  }
}

TEST_CASE("metal-memory-and-device 21: small inputs lie in constant space, scalars need no index") {
  const auto kernel =
      metal_kernel("spaces", {"a", "b", "c", "d"}, {"out"},
                   "uint i = thread_position_in_grid.x; out[i] = a[i] + b[i] + c[i % 3] + d;");
  const array eight = ones({8});
  const array three({1.0F, 2.0F, 3.0F});
  const array scalar(7.3F);
  const ops::CustomKernel described{
      "spaces", {"a", "b", "c", "d"}, {"out"}, "a b c d", "", true, false, {}};
  const std::string text =
      ops::custom_kernel_text(described, {eight, eight, three, scalar}, {Dtype::Float32}, {}).text;
  CHECK(text.find("const device float* a [[buffer(0)]]") != std::string::npos);
  CHECK(text.find("const constant float* c [[buffer(2)]]") != std::string::npos);
  CHECK(text.find("const constant float& d [[buffer(3)]]") != std::string::npos);
  check_close(kernel(simple_call({eight, eight, three, scalar}, Dtype::Float32, 6))[0],
              {10.3, 11.3, 12.3, 10.3, 11.3, 12.3}, 2);
}

TEST_CASE("metal-memory-and-device 22: equal names do not share code") {
  const char* const head = "uint i = thread_position_in_grid.x; ";
  const auto twice = metal_kernel("same", {"a"}, {"out"}, std::string(head) + "out[i] = 2 * a[i];");
  const auto thrice =
      metal_kernel("same", {"a"}, {"out"}, std::string(head) + "out[i] = 3 * a[i];");
  const array a = ones({8});
  const array x = twice(simple_call({a}, Dtype::Float32, 8))[0];
  const array y = thrice(simple_call({a}, Dtype::Float32, 8))[0];
  const array z = twice(simple_call({astype(a, Dtype::Int32)}, Dtype::Int32, 8))[0];
  eval(x, y, z);
  CHECK(x.to_vector<float>() == std::vector<float>(8, 2));
  CHECK(y.to_vector<float>() == std::vector<float>(8, 3));
  CHECK(z.to_vector<std::int32_t>() == std::vector<std::int32_t>(8, 2));
}

TEST_CASE("metal-memory-and-device 23: two outputs, the shape used, no attributes") {
  const auto kernel =
      metal_kernel("two", {"a"}, {"first", "second"},
                   "for (int i = 0; i < a_shape[0]; ++i) { first[i] = a[i]; second[i] = -a[i]; }");
  CustomKernelCall call;
  call.inputs = {array({1.0F, 2.0F})};
  call.output_shapes = {{2}, {2}};
  call.output_dtypes = {Dtype::Float32, Dtype::Float32};
  const std::vector<array> outputs = kernel(call);
  CHECK(outputs[1].to_vector<float>() == std::vector<float>{-1, -2});
  CHECK(outputs[0].to_vector<float>() == std::vector<float>{1, 2});
  CHECK(kernel(call)[1].to_vector<float>() == std::vector<float>{-1, -2});
}

TEST_CASE("metal-memory-and-device 24: atomic outputs add up exactly") {
  const auto kernel =
      metal_kernel("count", {}, {"out"},
                   "atomic_fetch_add_explicit(&out[0], 1u, memory_order_relaxed);", "", true, true);
  CustomKernelCall call = simple_call({}, Dtype::UInt32, 1);
  call.grid = {4096, 1, 1};
  call.threadgroup = {256, 1, 1};
  call.init_value = 0.0F;
  // The body needs no attribute, but its threads must be there.
  CHECK(kernel(call)[0].item<std::uint32_t>() == 4096);
}

TEST_CASE("metal-memory-and-device 25: wrong arguments are refused when they are given") {
  const char* const body = "out[thread_position_in_grid.x] = a[thread_position_in_grid.x];";
  CHECK_THROWS_AS(metal_kernel("none", {"a"}, {}, body), std::invalid_argument);
  CHECK_THROWS_AS(fast::math_mode_named("sloppy"), std::invalid_argument);

  const auto kernel = metal_kernel("refuses", {"a"}, {"out"}, body);
  const array a = ones({8});
  CustomKernelCall call = simple_call({a, a}, Dtype::Float32, 8);
  const std::string text = message_of([&] { kernel(call); });
  CHECK(text == "[metal_kernel] inputs has 2 entries; expected 1");
  CHECK_THROWS_AS(kernel(call), std::invalid_argument);
  call.inputs = {a};
  call.output_shapes.clear();
  CHECK_THROWS_WITH_AS(kernel(call), "[metal_kernel] output_shapes has 0 entries; expected 1",
                       std::invalid_argument);
  call = simple_call({a}, Dtype::Float32, 8);
  call.output_dtypes.push_back(Dtype::Int8);
  CHECK_THROWS_WITH_AS(kernel(call), "[metal_kernel] output_dtypes has 2 entries; expected 1",
                       std::invalid_argument);
  call = simple_call({a}, Dtype::Float32, 8);
  call.stream = DeviceType::Cpu;
  CHECK_THROWS_AS(kernel(call), std::invalid_argument);
}

TEST_CASE("metal-memory-and-device 25: what does not compile or fit is refused at evaluation") {
  const auto broken = metal_kernel("broken", {"a"}, {"out"}, "out[0] = nowhere;");
  const array a = ones({8});
  const array x = broken(simple_call({a}, Dtype::Float32, 8))[0];
  const std::string text = message_of([&] { eval(x); });
  CHECK(text.find("[metal::Device]") == 0);
  CHECK(text.find("nowhere") != std::string::npos);
  CHECK_THROWS_AS(eval(x), std::runtime_error);

  const auto kernel = metal_kernel("large", {"a"}, {"out"}, "out[0] = a[0];");
  CustomKernelCall call = simple_call({a}, Dtype::Float32, 8);
  call.threadgroup = {2048, 1, 1};
  const array y = kernel(call)[0];
  const std::string limit = message_of([&] { eval(y); });
  CHECK(limit.find("2048") != std::string::npos);
  CHECK(limit.find("1024") != std::string::npos);
  CHECK_THROWS_AS(eval(y), std::invalid_argument);
}

TEST_CASE("metal-memory-and-device 26: exactly the threads of the grid run") {
  const auto kernel = metal_kernel("threads", {}, {"out"}, "out[thread_position_in_grid.x] = 1;");
  CustomKernelCall call = simple_call({}, Dtype::UInt32, 64);
  call.grid = {10, 1, 1};
  call.threadgroup = {256, 1, 1};
  call.init_value = 0.0F;
  const std::vector<std::uint32_t> ran = kernel(call)[0].to_vector<std::uint32_t>();
  CHECK(std::accumulate(ran.begin(), ran.end(), 0U) == 10);
}

TEST_CASE("metal-memory-and-device 27: evaluating nothing does not wait, synchronize does") {
  // Ends long after the host has let it go on; gives 2 when the host never does.
  const auto kernel = metal_kernel("held", {"flag"}, {"out"}, R"(
      device atomic_uint* go_on = (device atomic_uint*)flag;
      uint result = 2;
      for (ulong i = 0; i < 10000000000ul && result == 2; ++i) {
        result = atomic_load_explicit(go_on, memory_order_relaxed) != 0 ? 1 : 2;
      }
      float sum = 0;
      for (int i = 0; result == 1 && i < 5000000; ++i) { sum += metal::sin(float(i)); }
      out[0] = sum == 12345.0f ? 3 : result;)");
  const array flag = zeros({8}, Dtype::UInt32);
  auto* const go_on = flag.data<std::uint32_t>();
  CustomKernelCall call = simple_call({flag}, Dtype::UInt32, 1);
  call.init_value = 0.0F;
  *go_on = 1;
  eval(kernel(call)[0]);
  *go_on = 0;
  const Stream stream = default_stream(DeviceType::Gpu);
  const array x = kernel(call)[0];

  async_eval(x);
  const volatile auto* result = static_cast<std::uint32_t*>(x.metal_buffer()->contents());
  eval();
  eval(std::vector<array>{});
  const bool waited = *result == 2;
  __atomic_store_n(go_on, 1U, __ATOMIC_RELAXED);
  synchronize(stream);

  CHECK(!waited);
  CHECK(*result == 1);
  CHECK(x.item<std::uint32_t>() == 1);
}

TEST_CASE("metal-memory-and-device 28: how often a compiled function's body runs") {
  int runs = 0;
  const ArrayFunction function = compile([&](const std::vector<array>& inputs) {
    ++runs;
    return std::vector<array>{exp(inputs[0]) + 1.0F};
  });
  const array a({0.0F, 1.0F});
  check_close(function({a})[0], {2, 1 + std::exp(1.0)}, 4);
  check_close(function({a + 1.0F})[0], {1 + std::exp(1.0), 1 + std::exp(2.0)}, 4);
  CHECK(runs == 1);
  function({astype(a, Dtype::Float16)});
  CHECK(runs == 2);
  function({ones({3})});
  CHECK(runs == 3);
  disable_compile();
  function({a});
  function({a});
  enable_compile();
  CHECK(runs == 5);
  function({a});
  CHECK(runs == 5);
}

TEST_CASE("metal-memory-and-device 29: a kernel that fails leaves other arrays readable") {
  const auto broken = metal_kernel("fails", {"a"}, {"out"}, "out[0] = missing;");
  const array a = ones({8});
  const array before = a + 1.0F;
  const array bad = broken(simple_call({a}, Dtype::Float32, 8))[0];
  const array behind = a + 2.0F;
  CHECK_THROWS_AS(eval(before, bad, behind), std::runtime_error);
  CHECK(before.to_vector<float>() == std::vector<float>(8, 2));
  CHECK(behind.to_vector<float>() == std::vector<float>(8, 3));
}

TEST_CASE("mentions are whole identifiers outside comments") {
  CHECK(ops::mentions("int a = max_shape[0];", "max_shape"));
  CHECK(!ops::mentions("int a = max_shape[0];", "x_shape"));
  CHECK(!ops::mentions("// grid_size\n/* grid_size */ \"grid_size\"", "grid_size"));
  CHECK(!ops::mentions("char c = 'grid_size';", "grid_size"));
  CHECK(ops::mentions("int a = 1'000; grid_size; int b = 0xF'F'F;", "grid_size"));
}

TEST_CASE("metal_kernel: variables of the body may have the names of attributes and shapes") {
  const auto kernel = metal_kernel("shadows", {"a"}, {"out"}, R"(
    uint grid_size = 5;
    int a_shape = 7;
    out[0] = grid_size * 10 + a_shape;
  )");
  const array out = kernel(simple_call({ones({8})}, Dtype::Int32, 1))[0];
  CHECK(out.item<std::int32_t>() == 57);
}

TEST_CASE("metal_kernel: arrays without elements are passed like others") {
  const auto kernel = fast::metal_kernel("empty", {"a"}, {"none", "out"}, R"(
    uint i = thread_position_in_grid.x;
    float sum = 0;
    for (int k = 0; k < a_shape[0]; ++k) { sum += a[k]; }
    if (i > 100) { none[i] = 1; }
    out[i] = 2 + sum;
  )");
  fast::CustomKernelCall call;
  call.inputs = {zeros({0})};
  call.output_shapes = {{0}, {4}};
  call.output_dtypes = {Dtype::Float32, Dtype::Float32};
  call.grid = {4, 1, 1};
  call.threadgroup = {4, 1, 1};

  const std::vector<array> outputs = kernel(call);

  CHECK(outputs[0].size() == 0);
  CHECK(outputs[1].to_vector<float>() == std::vector<float>{2, 2, 2, 2});
}

TEST_CASE("metal_kernel: a threadgroup of 2^64 threads is refused") {
  const auto kernel = fast::metal_kernel("large", {}, {"out"}, "out[0] = 1;");
  fast::CustomKernelCall call;
  call.output_shapes = {{1}};
  call.output_dtypes = {Dtype::Float32};
  call.grid = {1, 1, 1};
  call.threadgroup = {1 << 22, 1 << 21, 1 << 21};

  CHECK_THROWS_AS(kernel(call)[0].eval(), std::invalid_argument);
}

TEST_CASE("metal_kernel: numbers may have digits set apart") {
  const auto kernel = metal_kernel("apart", {}, {"out"}, R"(
      int large = 1'000'000 + 0x1'0;
      out[thread_position_in_grid.x] = large + thread_position_in_grid.x;)");
  CHECK(kernel(simple_call({}, Dtype::Int32, 2))[0].to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{1000016, 1000017});
}

TEST_CASE("metal_kernel: complex numbers have the usual operators") {
  using Complex = std::complex<float>;
  const auto kernel = metal_kernel("complex", {"a", "b"}, {"out"}, R"(
      threadgroup complex64_t shared[1];
      complex64_t x = a[0], y = b[0];
      out[0] = x / y;
      out[1] = -a[0] + (+y);
      out[2] = complex64_t(x != y, x == y);
      complex64_t z = x;
      z += y; z -= 1.0f; z *= y; z /= x;
      out[3] = z;
      out[4] = x; out[4] += y; out[4] -= 1.0f; out[4] *= y; out[4] /= x;
      shared[0] = x; shared[0] += y; shared[0] -= 1.0f; shared[0] *= y; shared[0] /= x;
      out[5] = shared[0];
      out[6] = 2 * x - y / 2;
      out[7] = complex64_t((x < y) + 2 * (x > y), (x <= y) + 2 * (x >= y));)");
  const Complex x(3, -4);
  const Complex y(1, 2);
  CustomKernelCall call = simple_call(
      {array(std::vector<Complex>{x}), array(std::vector<Complex>{y})}, Dtype::Complex64, 8);
  call.grid = {1, 1, 1};
  const std::vector<Complex> got = kernel(call)[0].to_vector<Complex>();
  const Complex assigned = (x + y - 1.0F) * y / x;
  const std::vector<Complex> expected = {
      x / y, -x + y, {1, 0}, assigned, assigned, assigned, 2.0F * x - y / 2.0F, {2, 2}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(got[i] - expected[i]) < 1e-5F);
  }
}

TEST_CASE(
    "metal_kernel: quotients of very small and very large complex numbers keep their digits") {
  using Complex = std::complex<float>;
  const auto kernel = metal_kernel("quotient", {"a"}, {"out"}, R"(
      uint i = thread_position_in_grid.x;
      out[i] = a[i] / a[i];)");
  const array x(std::vector<Complex>{{1e-38F, 3e-38F}, {2e38F, 1e38F}, {0, -1e-38F}});
  CustomKernelCall call = simple_call({x}, Dtype::Complex64, 3);
  call.grid = {3, 1, 1};

  for (const Complex quotient : kernel(call)[0].to_vector<Complex>()) {
    CHECK(std::abs(quotient - Complex(1)) < 1e-6F);
  }
}

TEST_CASE("a compiled function repeats views, reductions and captured arrays") {
  const array captured({10.0F, 20.0F, 30.0F});
  const ArrayFunction function = compile([&](const std::vector<array>& inputs) {
    const array x = transpose(inputs[0]) * captured;
    return std::vector<array>{sum(x, 1), x, inputs[0], slice(x, {0, 1}, {2, 3}) + inputs[1]};
  });
  for (const float start : {0.0F, 5.0F}) {
    const array a = reshape(arange(start, start + 6, 1, Dtype::Float32), {3, 2});
    const array big = reshape(arange(0.0, 24.0, 1.0, Dtype::Float32), {4, 6});
    const std::vector<array> got = function({a, array(1.0F)});
    const array x = transpose(a) * captured;
    check_close(got[0], read(sum(x, 1)), 1);
    check_close(got[1], read(x), 0);
    check_close(got[2], read(a), 0);
    check_close(got[3], read(slice(x, {0, 1}, {2, 3}) + 1.0F), 0);
    // An argument may be a view of something else.
    const array view_of_big = slice(big, {0, 0}, {3, 4}, {1, 2});
    check_close(function({view_of_big, array(0.0F)})[1], read(transpose(view_of_big) * captured),
                0);
  }
}

TEST_CASE("a shapeless function takes other lengths, and says what it cannot derive") {
  int runs = 0;
  const ArrayFunction function = compile(
      [&](const std::vector<array>& inputs) {
        ++runs;
        return std::vector<array>{sum(exp(inputs[0]), -1, true) + inputs[0]};
      },
      true);
  for (const int length : {3, 5, 40}) {
    const array a = reshape(arange(0.0, 2.0 * length, 1.0, Dtype::Float32), {2, length}) * 0.01F;
    check_close(function({a})[0], read(sum(exp(a), -1, true) + a), 8);
  }
  CHECK(runs == 1);
  const ArrayFunction fixed = compile(
      [](const std::vector<array>& inputs) {
        return std::vector<array>{slice_update(inputs[0], array(1.0F), {0}, {2})};
      },
      true);
  CHECK_THROWS_AS(fixed({ones({4})}), std::invalid_argument);
}

TEST_CASE("evaluating inside a traced function is refused") {
  const ArrayFunction function = compile([](const std::vector<array>& inputs) {
    const array y = inputs[0] + 1.0F;
    eval(y);
    return std::vector<array>{y};
  });
  CHECK_THROWS_AS(function({ones({3})}), std::invalid_argument);
  const ArrayFunction reads = compile([](const std::vector<array>& inputs) {
    return std::vector<array>{inputs[0] * (inputs[0] + 1.0F).item<float>()};
  });
  CHECK_THROWS_AS(reads({ones({1})}), std::invalid_argument);
}

TEST_CASE("metal_kernel: options, math mode and every attribute") {
  fast::CompileOptions options;
  options.math_mode = fast::MathMode::Safe;
  const char* const body =
      "out[thread_position_in_grid.x] = metal::exp(a[thread_position_in_grid.x]);";
  const auto safe = metal_kernel("mode", {"a"}, {"out"}, body, "", true, false, options);
  const array x = full({8}, array(-INFINITY));
  CHECK(safe(simple_call({x}, Dtype::Float32, 8))[0].to_vector<float>() ==
        std::vector<float>(8, 0));

  const auto attributes = metal_kernel("attributes", {}, {"out"}, R"(
      if (thread_index_in_threadgroup == 0 && threadgroup_position_in_grid.x == 1) {
        out[0] = threads_per_grid.x;
        out[1] = threads_per_threadgroup.x;
        out[2] = threadgroups_per_grid.x;
        out[3] = threads_per_simdgroup;
        out[4] = simdgroups_per_threadgroup;
        out[5] = thread_position_in_threadgroup.x + thread_index_in_simdgroup + simdgroup_index_in_threadgroup;
      })");
  CustomKernelCall call = simple_call({}, Dtype::UInt32, 6);
  call.grid = {128, 1, 1};
  call.threadgroup = {64, 1, 1};
  CHECK(attributes(call)[0].to_vector<std::uint32_t>() ==
        std::vector<std::uint32_t>{128, 64, 2, 32, 2, 0});
}
