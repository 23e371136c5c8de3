// What is left of arrays when a kernel faults on the device.

#include <doctest/doctest.h>
#include <pewter/device.h>
#include <pewter/eval.h>
#include <pewter/fast.h>
#include <pewter/memory.h>
#include <pewter/ops.h>
#include <Metal/Metal.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pewter/array/graph/streams.h"
#include "pewter/runtime/device.h"

using namespace pewter;

namespace {

using Floats = std::vector<float>;

const array& counted() {
  static const array values({0.0F, 1.0F, 2.0F});
  return values;
}

/// Three elements that are never computed.
array faulty(const array& from = counted(), StreamOrDevice stream = {}) {
  const auto kernel = fast::metal_kernel("faulty", {"a"}, {"out"}, "out[1000000000] = a[0];");
  fast::CustomKernelCall call;
  call.inputs = {from};
  call.output_shapes = {{3}};
  call.output_dtypes = {Dtype::Float32};
  call.stream = stream;
  return kernel(call)[0];
}

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

bool faults(const array& a) {
  const std::string text = failure_of([&] { a.to_vector<float>(); });
  CHECK(text.find("ault") != std::string::npos);
  return !text.empty();
}

}  // namespace

TEST_CASE("a fault leaves the arrays before and behind it as they should be") {
  const array before = counted() + 10.0F;
  const array bad = faulty();
  const array behind = counted() + 20.0F;
  CHECK_THROWS_AS(eval(before, bad, behind), std::runtime_error);
  CHECK(before.to_vector<float>() == Floats{10, 11, 12});
  CHECK(behind.to_vector<float>() == Floats{20, 21, 22});
}

TEST_CASE("an array that a fault left without elements throws the same at every read") {
  const array bad = faulty();
  const std::string first = failure_of([&] { eval(bad); });
  CHECK(!first.empty());
  for (int i = 0; i < 3; ++i) {
    CHECK(failure_of([&] { bad.to_vector<float>(); }) == first);
    CHECK(failure_of([&] { eval(bad); }) == first);
    CHECK(failure_of([&] { slice(bad, {1}, {2}).item<float>(); }) == first);
    CHECK(failure_of([&] { static_cast<void>(bad.metal_buffer()); }) == first);
  }
}

TEST_CASE("what depends on an array that failed throws too, and nothing else does") {
  const array bad = faulty();
  const array dependent = exp(bad) + 1.0F;
  const array far = sum(slice(dependent, {0}, {2})) * 2.0F;
  const array good = counted() * 3.0F;
  CHECK_THROWS_AS(eval(far, good, dependent), std::runtime_error);
  CHECK(faults(dependent));
  CHECK(faults(dependent));
  CHECK(faults(far));
  CHECK(good.to_vector<float>() == Floats{0, 3, 6});
  // Built after the failure is known.
  const array later = dependent * 2.0F;
  const array fine = good + 1.0F;
  CHECK_THROWS_AS(eval(later, fine), std::runtime_error);
  CHECK(faults(later));
  CHECK(faults(later + fine));
  CHECK(fine.to_vector<float>() == Floats{1, 4, 7});
}

TEST_CASE("arrays that are evaluated behind a fault do not take the blame") {
  const array bad = faulty();
  async_eval(bad);
  const array good = counted() + 1.0F;
  async_eval(good);
  CHECK(good.to_vector<float>() == Floats{1, 2, 3});
  CHECK(faults(bad));
}

TEST_CASE("what depends on a fault by way of many evaluations throws") {
  array carried = faulty();
  array good = counted();
  for (int i = 0; i < 100; ++i) {
    // Once the fault is known, nothing that depends on it is started.
    static_cast<void>(failure_of([&] {
      carried = carried + 1.0F;
      async_eval(carried);
    }));
    good = good + 1.0F;
    async_eval(good);
  }
  CHECK(faults(carried));
  CHECK(good.to_vector<float>() == Floats{100, 101, 102});
}

TEST_CASE("a fault crosses streams with the array that depends on it") {
  const Stream first = new_stream();
  const Stream second = new_stream();
  const array bad = faulty(counted(), first);
  const array dependent = add(bad, array(1.0F), second);
  const array good = add(counted(), array(1.0F), second);
  CHECK_THROWS_AS(eval(good, dependent), std::runtime_error);
  CHECK(faults(dependent));
  CHECK(good.to_vector<float>() == Floats{1, 2, 3});
  synchronize(second);
}

TEST_CASE("one thread's fault is not thrown to another") {
  array bad = counted();
  const array good = counted() + 5.0F;
  eval(good);
  std::thread([&] {
    bad = faulty(good);
    async_eval(bad);
  }).join();
  CHECK(good.to_vector<float>() == Floats{5, 6, 7});
  CHECK(faults(bad));
  CHECK((good * 2.0F).to_vector<float>() == Floats{10, 12, 14});
}

TEST_CASE("synchronize throws a fault that nobody has seen, once") {
  const Stream stream = new_stream();
  const array unseen = faulty(counted(), stream);
  async_eval(unseen);
  CHECK_THROWS_AS(synchronize(stream), std::runtime_error);
  synchronize(stream);
  CHECK(faults(unseen));
  const array seen = faulty(counted(), stream);
  CHECK(faults(seen));
  synchronize(stream);
}

TEST_CASE("an array of a thread that has ended is waited for") {
  const auto slow = fast::metal_kernel("slow_one", {}, {"out"}, R"(
      float sum = 0;
      for (int i = 0; i < 5000000; ++i) { sum += metal::sin(float(i)); }
      out[0] = sum == 0 ? 1 : 2;)");
  fast::CustomKernelCall call;
  call.output_shapes = {{1}};
  call.output_dtypes = {Dtype::Float32};
  slow(call)[0].eval();
  array result = counted();
  array dependent = counted();
  std::thread([&] {
    call.init_value = 7.0F;
    call.stream = new_stream();
    result = slow(call)[0];
    async_eval(result);
  }).join();
  dependent = result + 1.0F;
  CHECK(dependent.item<float>() == 3);
  CHECK(result.item<float>() == 2);
}

TEST_CASE("an evaluation that is refused memory holds none of it") {
  constexpr std::int64_t kCount = 1 << 20;
  const std::size_t at_first = get_active_memory();
  {
    const array a = ones({kCount});
    const array b = a * 2.0F;
    eval(a, b);
    const std::size_t before = get_active_memory();
    const array first = a + b;
    const array second = first * 3.0F;
    // Room for one of the two results of their kernel.
    const std::size_t limit = set_memory_limit(before + 6 * kCount, false);
    const std::string failure = failure_of([&] { eval(first, second); });
    const std::size_t after = get_active_memory();
    set_memory_limit(limit);

    CHECK(failure.find(std::to_string(4 * kCount)) != std::string::npos);
    CHECK(after == before);
    CHECK(second.to_vector<float>() == Floats(kCount, 9));
    CHECK(first.to_vector<float>() == Floats(kCount, 3));

    const array third = a + 1.0F;
    set_memory_limit(get_active_memory(), false);
    CHECK_THROWS_AS(eval(third), std::runtime_error);
    set_memory_limit(limit);
  }
  CHECK(get_active_memory() == at_first);
}

TEST_CASE("the end of adopted memory may compute arrays, also when an evaluation brings it") {
  constexpr std::size_t kBytes = 1 << 16;
  void* const memory = std::aligned_alloc(kBytes, kBytes);
  std::memset(memory, 0, kBytes);
  Floats computed;
  const auto wanted_of_adopted = [&] {
    const array adopted = array::adopt(memory, {kBytes / 4}, Dtype::Float32, [&] {
      computed = (ones({3}) + 1.0F).to_vector<float>();
      std::free(memory);
    });
    std::vector<array> wanted = {slice(adopted, {0}, {0}) + 1.0F};
    for (int i = 0; i < 10; ++i) {
      wanted.push_back(sort(counted() + static_cast<float>(i)));
    }
    return wanted;
  }();
  eval(wanted_of_adopted);
  CHECK(computed == Floats{2, 2, 2});
  CHECK(wanted_of_adopted.back().to_vector<float>() == Floats{9, 10, 11});
}

TEST_CASE("the end of adopted memory may compute arrays on the stream that has used it last") {
  constexpr std::size_t kBytes = 1 << 16;
  void* const memory = std::aligned_alloc(kBytes, kBytes);
  std::memset(memory, 0, kBytes);
  const Stream stream = new_thread_unsafe_stream();
  const auto gate = NS::TransferPtr(runtime::device()->newSharedEvent());
  graph::stream_with(static_cast<std::uint32_t>(stream.index))
      ->command_buffer()
      ->encodeWait(gate.get(), 1);
  std::promise<Floats> computed;
  const array wanted = [&] {
    const array adopted = array::adopt(memory, {kBytes / 4}, Dtype::Float32, [&] {
      std::free(memory);
      computed.set_value(add(ones({3}), array(1.0F), stream).to_vector<float>());
    });
    return add(adopted, array(2.0F), stream);
  }();

  async_eval(wanted);
  gate->setSignaledValue(1);

  CHECK(wanted.to_vector<float>() == Floats(kBytes / 4, 2));
  CHECK(computed.get_future().get() == Floats{2, 2, 2});
}
