#include <doctest/doctest.h>
#include <pewter/mps.h>

#include <thread>
#include <utility>

#include "tests/api/mps_support.h"

using namespace pewter;
using namespace pewter::test;

namespace {

constexpr const char* kNext = R"(
kernel void next(device int* x, uint i [[thread_position_in_grid]]) { x[i] += 1; })";

}  // namespace

TEST_CASE("a scope moves the calling thread's work to another stream, and back") {
  const mps::Stream before = mps::current_stream();
  CHECK(before == mps::default_stream());
  const mps::Stream other;
  {
    const mps::StreamScope scope(other);
    CHECK(mps::current_stream() == other);
    std::thread([&] { CHECK(mps::current_stream() == before); }).join();
  }
  CHECK(mps::current_stream() == before);
}

TEST_CASE("work of two streams on one array happens in the order of the calls") {
  const mps::Kernel next = mps::compile_shader(kNext).kernel("next");
  const array x(std::vector<std::int32_t>(4099, 0));
  const mps::Stream first;
  const mps::Stream second;
  for (int i = 0; i < 100; ++i) {
    const mps::StreamScope scope(i % 3 == 0 ? first : second);
    next({x});
  }
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>(4099, 100));
}

TEST_CASE("mps 13: events can be recorded and waited for on a given stream") {
  const mps::Kernel full = mps::compile_shader(kFull).kernel("full");
  const array x = zeros(16);
  const mps::Stream other;
  mps::Event event(true);
  mps::Event later(true);
  {
    const mps::StreamScope scope(other);
    full({x, 3.0});
  }
  event.record(other);
  event.wait(mps::current_stream());
  later.record();
  CHECK(event.elapsed_time(later) >= 0);
  CHECK(event.query());
  CHECK(x.to_vector<float>() == std::vector<float>(16, 3.0F));
}

TEST_CASE("mps 13: a stream that is none of the device's is refused") {
  mps::Stream stream;
  const mps::Stream taken = std::move(stream);
  mps::Event event;
  CHECK_THROWS_AS(event.record(stream), std::runtime_error);  // NOLINT(bugprone-use-after-move)
  CHECK_THROWS_AS(event.wait(stream), std::runtime_error);
  CHECK_NOTHROW(event.record(taken));
}

TEST_CASE("a failure surfaces at the wait for its own stream") {
  const mps::Kernel fault = mps::compile_shader(R"(
    kernel void fault(device int* x, constant long& address) { *(device int*)(address) = 1; })")
                                .kernel("fault");
  const mps::Stream broken;
  {
    const mps::StreamScope scope(broken);
    fault({array(std::vector<std::int32_t>{0}), 16});
  }
  const mps::Stream healthy;
  CHECK_NOTHROW(healthy.synchronize());
  CHECK_THROWS_AS(broken.synchronize(), std::runtime_error);
  CHECK_NOTHROW(broken.synchronize());
  CHECK(broken.query());
}
