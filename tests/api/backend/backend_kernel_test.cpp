#include <doctest/doctest.h>
#include <pewter/errors.h>
#include <pewter/eval.h>
#include <pewter/fast.h>
#include <pewter/metal_backend.h>
#include <pewter/mps.h>
#include <pewter/ops.h>
#include <Metal/Metal.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/api/backend/backend_support.h"

using namespace pewter::backend;
using pewter::array;
using pewter::Dtype;
using pewter::Shape;
using pewter::test::counted;
using pewter::test::text_of;

namespace {

array twice(const array& x) {
  return x * 2;
}

float half_of(float x) noexcept {
  return x / 2;
}

std::string error_text(const KernelExecutionResult& outcome) {
  try {
    std::rethrow_exception(outcome.error);
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Runs for longer than 50 ms: `rounds` steps that depend on each other.
constexpr const char* kLong = R"(
kernel void crunch(device uint* out, constant ulong& rounds, uint index [[thread_position_in_grid]]) {
  uint value = out[index];
  for (ulong i = 0; i < rounds; ++i) {
    value = value * 1664525u + 1013904223u;
    value ^= value >> 13;
  }
  out[index] = value | 1;
})";

/// What so many rounds take at least: the quickest of several turns, as the machine may be busy.
std::chrono::nanoseconds time_of(const pewter::mps::Kernel& kernel, std::int64_t rounds) {
  auto quickest = std::chrono::nanoseconds::max();
  for (int turn = 0; turn < 5; ++turn) {
    const array out(std::vector<std::uint32_t>(1, 3));
    const auto start = std::chrono::steady_clock::now();
    kernel({out, rounds});
    out.to_vector<std::uint32_t>();
    quickest =
        std::min<std::chrono::nanoseconds>(quickest, std::chrono::steady_clock::now() - start);
  }
  return quickest;
}

/// A number of rounds that takes between 60 ms and a second here.
std::int64_t long_rounds() {
  static const std::int64_t rounds = [] {
    const auto kernel = pewter::mps::compile_shader(kLong)["crunch"];
    std::int64_t tried = 1 << 20;
    while (time_of(kernel, tried) < std::chrono::milliseconds(40)) {
      tried *= 2;
    }
    return tried * 3;
  }();
  return rounds;
}

/// The same as a kernel of arrays: what it computes is never 0.
pewter::fast::CustomKernelFunction crunching() {
  return pewter::fast::metal_kernel("crunching", {"start", "rounds"}, {"out"}, R"(
      uint value = start;
      for (int i = 0; i < rounds; ++i) {
        value = value * 1664525u + 1013904223u;
        value ^= value >> 13;
      }
      out[0] = value | 1;)");
}

pewter::fast::CustomKernelCall long_call() {
  pewter::fast::CustomKernelCall call;
  call.inputs = {array(3U), array(static_cast<std::int32_t>(long_rounds()))};
  call.output_shapes = {{1}};
  call.output_dtypes = {Dtype::UInt32};
  call.init_value = 0.0F;
  return call;
}

constexpr const char* kAddArrays = R"(
kernel void add_arrays(device const float* a, device const float* b, device float* out,
                       uint index [[thread_position_in_grid]]) {
  out[index] = a[index] + b[index];
})";

}  // namespace

TEST_CASE("backend 9: a kernel that succeeds gives time and result") {
  MetalBackend backend;
  const array a = backend.copy_to_device(HostArray(counted<float>(1000)));
  const KernelExecutionResult outcome =
      backend.execute_kernel([](const array& x) { return x * 2; }, {1}, {256}, a);

  CHECK(outcome.success);
  CHECK(outcome.execution_time_ms >= 0);
  CHECK(outcome.error == nullptr);
  CHECK(outcome.result.as_array().is_available());
  CHECK(outcome.result.as_array().to_vector<float>()[999] == 1998);
}

TEST_CASE("backend 9: sizes do not matter to functions, and numbers are passed on") {
  MetalBackend backend;
  const array a{1.0F, 2.0F};
  const auto scaled = [](const array& x, float by, int add) { return x * by + add; };
  for (const pewter::mps::Extent& size :
       {pewter::mps::Extent(), pewter::mps::Extent({0, -1, 2, 9}), pewter::mps::Extent(7)}) {
    const auto outcome = backend.execute_kernel(scaled, size, size, a, 0.5F, 3);
    CHECK(outcome.result.as_array().to_vector<float>() == std::vector<float>{3.5F, 4.0F});
  }
}

TEST_CASE("backend 9: functions that do not throw are kernels as others are") {
  const auto outcome = MetalBackend().execute_kernel(half_of, {1}, {1}, 3.0F);
  CHECK(outcome.success);
  CHECK(outcome.result.as_number() == 1.5);
}

TEST_CASE("backend 9: function objects may change themselves") {
  MetalBackend backend;
  const array a = backend.copy_to_device(HostArray{1.0F});
  const Kernel counts = [calls = 0](const array& /*x*/) mutable { return ++calls; };
  const Kernel counts_any = [calls = 0](const auto& /*x*/) mutable { return ++calls; };

  for (int call = 1; call <= 3; ++call) {
    CHECK(backend.execute_kernel(counts, {}, {}, a).result.as_integer() == call);
    CHECK(backend.execute_kernel(counts_any, {}, {}, a).result.as_integer() == call);
  }
}

TEST_CASE("backend 10: what a kernel throws is the error of the result") {
  MetalBackend backend;
  std::exception_ptr thrown;
  const auto failing = [&](const array&) -> array {
    thrown = std::make_exception_ptr(std::invalid_argument("Test error"));
    std::rethrow_exception(thrown);
  };
  const auto outcome = backend.execute_kernel(failing, {1}, {1}, array{1.0F});
  CHECK_FALSE(outcome.success);
  CHECK(outcome.error == thrown);
  CHECK(outcome.execution_time_ms >= 0);
  CHECK(outcome.result.is_nothing());
}

TEST_CASE("backend 10: what fails only when it is evaluated is an error too") {
  MetalBackend backend;
  const auto shapes = [](const array& x) { return x + array{1.0F, 2.0F, 3.0F}; };
  CHECK_FALSE(backend.execute_kernel(shapes, {1}, {1}, array{1.0F, 2.0F}).success);
}

TEST_CASE("backend 10: what is no error of a program goes on to the caller") {
  struct Interrupt {};
  MetalBackend backend;
  const auto interrupted = [](const array&) -> array { throw Interrupt(); };
  CHECK_THROWS_AS(backend.execute_kernel(interrupted, {1}, {1}, array{1.0F}), Interrupt);
}

TEST_CASE("backend 10: what cannot be called, or not so, is not a success") {
  MetalBackend backend;
  const auto nothing = backend.execute_kernel(Kernel(), {1}, {1}, array{1.0F});
  CHECK_FALSE(nothing.success);
  CHECK_THROWS_AS(std::rethrow_exception(nothing.error), pewter::TypeError);
  const std::function<array(const array&)> empty;
  CHECK_FALSE(backend.execute_kernel(empty, {1}, {1}, array{1.0F}).success);

  const auto two = backend.execute_kernel(twice, {1}, {1}, array{1.0F}, array{1.0F});
  CHECK(error_text(two) == "[Kernel] 2 arguments for a function that takes 1");
  const auto generic = [](const auto& a, const auto& b) { return a + b; };
  CHECK(error_text(backend.execute_kernel(generic, {1}, {1}, array{1.0F})) ==
        "[Kernel] 1 arguments for a function that takes 2");
  CHECK(error_text(backend.execute_kernel(twice, {1}, {1}, HostArray{1.0F}))
            .find("compile_kernel()") != std::string::npos);
}

TEST_CASE("backend 11: a kernel may return nothing, tuples, dictionaries and host arrays") {
  MetalBackend backend;
  const array a{1.0F, 2.0F};
  CHECK(backend.execute_kernel([](const array&) {}, {1}, {1}, a).success);

  const auto pair = backend.execute_kernel(
      [](const array& x) { return std::tuple(x + 1, 7, x * 2); }, {1}, {1}, a);
  CHECK(pair.success);
  CHECK(pair.result.as_list()[1].as_integer() == 7);
  CHECK(pair.result.as_list()[2].as_array().is_available());

  const auto nested = backend.execute_kernel(
      [](const array& x) {
        return std::map<std::string, std::vector<array>>{{"sums", {x + 1, x + 2}}};
      },
      {1}, {1}, a);
  CHECK(nested.result.as_dictionary().at("sums").as_list()[1].as_array().is_available());

  const auto host =
      backend.execute_kernel([](const array& x) { return HostArray(x.shape(), {}); }, {1}, {1}, a);
  CHECK(host.result.is_host_array());
}

TEST_CASE("backend 11: results are equal by success, time and error") {
  KernelExecutionResult left{true, 1.5, nullptr, Value(1)};
  KernelExecutionResult right{true, 1.5, nullptr, Value("text")};
  CHECK(left == right);
  right.execution_time_ms = 2;
  CHECK_FALSE(left == right);
}

TEST_CASE("backend 12: the time of a long kernel is at least as long as it took") {
  MetalBackend backend;
  const auto crunch = pewter::mps::compile_shader(kLong)["crunch"];
  const std::int64_t rounds = long_rounds();
  const auto outcome = backend.execute_kernel([&](const array& out) { crunch({out, rounds}); }, {1},
                                              {1}, array(std::vector<std::uint32_t>(1, 3)));
  CHECK(outcome.success);
  CHECK(outcome.execution_time_ms >= 50);
}

TEST_CASE("backend 12: the time counts what a kernel starts and does not return") {
  MetalBackend backend;
  pewter::fast::CustomKernelCall call = long_call();
  pewter::eval(crunching()(call)[0]);
  for (const bool has_own_stream : {false, true}) {
    CAPTURE(has_own_stream);
    std::vector<array> started;
    const auto outcome = backend.execute_kernel(
        [&] {
          if (has_own_stream) {
            call.stream = pewter::new_stream();
          }
          started = crunching()(call);
          pewter::async_eval(started);
        },
        {1}, {1});
    CHECK(outcome.success);
    CHECK(outcome.execution_time_ms >= 50);
  }
}

TEST_CASE("backend 13: a function and a signature are compiled once") {
  MetalBackend backend;
  const Kernel compiled = backend.compile_kernel(twice);
  CHECK(backend.compile_kernel(twice) == compiled);
  CHECK_FALSE(backend.compile_kernel(twice, "float32(float32)") == compiled);
  CHECK(backend.compile_kernel(twice, "a") == backend.compile_kernel(twice, "a"));
  CHECK_FALSE(MetalBackend().compile_kernel(twice) == compiled);

  for (int i = 0; i < 2; ++i) {
    static const Kernel first = backend.compile_kernel([](const array& x) { return x + 1; });
    CHECK(backend.compile_kernel([](const array& x) { return x + 1; }) != first);
  }
  float factor = 3;
  const Kernel captures = [factor](const array& x) { return x * factor; };
  CHECK(backend.compile_kernel(captures) == backend.compile_kernel(captures));
  CHECK_THROWS_AS(backend.compile_kernel(Kernel()), pewter::TypeError);
}

TEST_CASE("backend 13: compiled functions take host arrays and return evaluated arrays") {
  MetalBackend backend;
  const Kernel sum = backend.compile_kernel([](const array& a, const array& b) { return a + b; });
  const Value result = sum(HostArray{1.0, 2.0}, array{10.0F, 20.0F});
  CHECK(result.as_array().dtype() == Dtype::Float32);
  CHECK(result.as_array().is_available());
  CHECK(result.as_array().to_vector<float>() == std::vector<float>{11, 22});

  const Kernel nothing = backend.compile_kernel([](const Value& value) { return value; });
  CHECK(nothing(Value()).is_nothing());
  CHECK(nothing(7).as_integer() == 7);
  const Kernel failing =
      backend.compile_kernel([](const array&) -> array { throw std::domain_error("as it is"); });
  CHECK_THROWS_WITH_AS(failing(HostArray{1.0}), "as it is", std::domain_error);
  CHECK(backend.get_memory_info().buffer_count == 0);
}

TEST_CASE("backend 13: threads that compile one function get one kernel") {
  MetalBackend backend;
  std::vector<Kernel> kernels(8);
  std::vector<std::thread> threads;
  for (Kernel& kernel : kernels) {
    threads.emplace_back([&] { kernel = backend.compile_kernel(twice); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Kernel& kernel : kernels) {
    CHECK(kernel == kernels[0]);
  }
}

TEST_CASE("backend 14: a kernel of MSL text runs by itself and with grid and block") {
  MetalBackend backend;
  const Kernel add = backend.compile_kernel(kAddArrays, "add_arrays");
  const array a = backend.copy_to_device(HostArray(counted<float>(32)));
  const array b = backend.copy_to_device(HostArray(counted<float>(32)));
  std::vector<float> expected(32);
  for (std::size_t i = 0; i < 32; ++i) {
    expected[i] = static_cast<float>(2 * i);
  }

  const array direct = backend.allocate({32}, HostDtype::Float32);
  add(a, b, direct);
  CHECK(direct.to_vector<float>() == expected);

  const array launched = backend.allocate({32}, HostDtype::Float32);
  const auto outcome = backend.execute_kernel(add, {4}, {8}, a, b, launched);
  CHECK_MESSAGE(outcome.success, (outcome.error ? error_text(outcome) : ""));
  CHECK(launched.to_vector<float>() == expected);
}

TEST_CASE("backend 14: grid and block say how many threads run, on 1 to 3 axes") {
  MetalBackend backend;
  const Kernel mark = backend.compile_kernel(R"(
    using namespace metal;
    kernel void kernel_main(device atomic_uint* count, uint3 group [[threads_per_threadgroup]]) {
      atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
      atomic_store_explicit(count + 1, group.x * 10000 + group.y * 100 + group.z, memory_order_relaxed);
    })");
  const auto threads = [&](const pewter::mps::Extent& grid, const pewter::mps::Extent& block) {
    const array out = backend.copy_to_device(HostArray{0, 0});
    const auto outcome = backend.execute_kernel(mark, grid, block, out);
    return outcome.success ? out.to_vector<std::int32_t>() : std::vector<std::int32_t>{};
  };
  CHECK(threads({5}, {32}) == std::vector<std::int32_t>{160, 320101});
  CHECK(threads({5, 2}, {4}) == std::vector<std::int32_t>{40, 40101});
  CHECK(threads({2}, {4, 2, 3}) == std::vector<std::int32_t>{48, 40203});
  CHECK(threads({0}, {4}).empty());
  CHECK(threads({1}, {-4}).empty());
  CHECK(threads({1, 1, 1, 1}, {4}).empty());
  CHECK(threads({}, {4}).empty());
  CHECK(threads({}, {}).empty());
  CHECK(threads({1}, {100000}).empty());
}

TEST_CASE("backend 14: what a kernel writes to host arrays comes back to them") {
  MetalBackend backend;
  const Kernel add = backend.compile_kernel(kAddArrays, "add_arrays");
  const HostArray a{0.1, 0.2};
  const HostArray out = HostArray::zeros({2}, HostDtype::Float64);
  add(a, HostArray{1.0F, 2.0F}, out);
  CHECK(out.at<double>({1}) == doctest::Approx(2.2));
  CHECK(a.at<double>({0}) == 0.1);
}

TEST_CASE("backend 14: host arrays that a kernel only reads keep their digits, also beside NaN") {
  MetalBackend backend;
  const Kernel add = backend.compile_kernel(kAddArrays, "add_arrays");
  const HostArray a{0.1, std::nan("")};
  const HostArray out = HostArray::zeros({2}, HostDtype::Float32);

  add(a, a, out);

  CHECK(a.at<double>({0}) == 0.1);
  CHECK(out.at<float>({0}) == doctest::Approx(0.2));
}

TEST_CASE("backend 14: a kernel that faults fails in its own thread and in no other") {
  MetalBackend backend;
  const Kernel faults = backend.compile_kernel(R"(
    kernel void faults(device float* x, uint i [[thread_position_in_grid]]) {
      ((device float*)16ul)[i] = x[i];
    })",
                                               "faults");
  const Kernel adds_one = backend.compile_kernel(R"(
    kernel void adds_one(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; })",
                                                 "adds_one");
  std::atomic<int> wrong = 0;
  const auto run_many = [&](const Kernel& kernel, bool works) {
    const auto launches_it = [&](const array& x) { kernel(x); };
    const array x = backend.allocate({8}, HostDtype::Float32);
    for (int round = 0; round < 50; ++round) {
      const HostArray on_host{1.0F, 2.0F};
      wrong += backend.execute_kernel(kernel, {1}, {8}, x).success == works ? 0 : 1;
      wrong += backend.execute_kernel(kernel, {1}, {2}, on_host).success == works ? 0 : 1;
      wrong += backend.execute_kernel(launches_it, {}, {}, x).success == works ? 0 : 1;
      wrong += on_host.at<float>({0}) == (works ? 2 : 1) ? 0 : 1;
    }
  };

  std::thread failing(run_many, faults, false);
  std::thread also_failing(run_many, faults, false);
  run_many(adds_one, true);
  failing.join();
  also_failing.join();

  CHECK(wrong == 0);
}

TEST_CASE("backend 14: a kernel may be given arrays without elements") {
  MetalBackend backend;
  const Kernel count = backend.compile_kernel(R"(
    kernel void count(device const float* values, device uint* counts, constant uint& length,
                      uint i [[thread_position_in_grid]]) {
      counts[i] = length > 0 ? uint(values[0]) : 7;
    })",
                                              "count");
  const array counts = backend.allocate({4}, HostDtype::UInt32);
  const array nothing = backend.allocate({0}, HostDtype::Float32);

  const auto outcome = backend.execute_kernel(count, {2}, {2}, nothing, counts, 0);

  CHECK(outcome.success);
  CHECK(counts.to_vector<std::uint32_t>() == std::vector<std::uint32_t>{7, 7, 7, 7});
}

TEST_CASE("backend 14: text that does not compile and kernels that are not there are reported") {
  MetalBackend backend;
  try {
    backend.compile_kernel("kernel void f(device flaot* x) {}", "f");
    FAIL("compiled");
  } catch (const MSLCompilationError& error) {
    CHECK(error.shader_name() == "f");
    CHECK(error.error_message().find("program_source:1:22: error: unknown type name 'flaot'") !=
          std::string::npos);
    CHECK(error.cause() != nullptr);
  }
  CHECK(text_of<MSLCompilationError>([&] {
          backend.compile_kernel(kAddArrays, "absent");
        }).find("absent") != std::string::npos);
  CHECK_THROWS_AS(backend.compile_kernel(kAddArrays), MSLCompilationError);
}

TEST_CASE("backend 14: equal texts and names are one kernel; a call needs arguments") {
  MetalBackend backend;
  const Kernel add = backend.compile_kernel(kAddArrays, "add_arrays");
  CHECK(backend.compile_kernel(std::string(kAddArrays), "add_arrays") == add);
  CHECK_THROWS_AS(add(), MetalError);
  CHECK_FALSE(backend.execute_kernel(add, {1}, {1}).success);
}

TEST_CASE("backend 14: a kernel that faults fails and leaves the backend usable") {
  MetalBackend backend;
  const Kernel bad = backend.compile_kernel(R"(
    kernel void bad(device int* x) { x[0] = 1 / x[1]; *(device int*)(ulong)x[0] = 1; })",
                                            "bad");
  const auto outcome = backend.execute_kernel(bad, {1}, {1}, array{0, 0});
  CHECK_FALSE(outcome.success);
  const auto good = backend.execute_kernel(twice, {1}, {1}, array{1.0F});
  CHECK(good.success);
}

TEST_CASE("backend 18: a kernel may call its own backend") {
  MetalBackend backend;
  const auto inner = [&](const array& x) {
    const array zeros = backend.allocate({2}, HostDtype::Float32);
    const auto nested = backend.execute_kernel(twice, {1}, {1}, x);
    return zeros + nested.result.as_array() + backend.compile_kernel(twice)(x).as_array();
  };
  const auto outcome = backend.execute_kernel(inner, {1}, {1}, array{1.0F, 2.0F});
  CHECK(outcome.success);
  CHECK(outcome.result.as_array().to_vector<float>() == std::vector<float>{4, 8});
}

TEST_CASE("backend 19: synchronize waits for arrays, also those of a thread that has ended") {
  MetalBackend backend;
  const auto long_array = [call = long_call()] { return crunching()(call)[0]; };
  pewter::eval(long_array());
  // Its memory held another result before, and on a busy machine the work may be done before
  // anybody looks.
  bool was_running = false;
  for (int attempt = 0; attempt < 50 && !was_running; ++attempt) {
    array started(0.0F);
    std::thread([&] {
      started = long_array();
      pewter::async_eval(started);
    }).join();
    const volatile auto* const result =
        static_cast<std::uint32_t*>(started.metal_buffer()->contents());
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (*result != 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }

    was_running = *result == 0;
    backend.synchronize();

    CHECK(*result != 0);
  }
  CHECK(was_running);
}

TEST_CASE("backend 19: synchronize returns when submitted work is done") {
  MetalBackend backend;
  const auto crunch = pewter::mps::compile_shader(kLong)["crunch"];
  pewter::mps::Event event;
  crunch({array(std::vector<std::uint32_t>(1, 3)), long_rounds()});
  event.record();
  backend.synchronize();
  CHECK(event.query());
}
