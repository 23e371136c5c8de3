#include <doctest/doctest.h>
#include <pewter/mps.h>

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <vector>

#include "pewter/runtime/stream.h"
#include "pewter/runtime/timed_event.h"
#include "tests/api/mps_support.h"

using namespace pewter;
using namespace pewter::test;
using mps::Event;

namespace {

/// Work that takes some milliseconds.
class LongKernel {
 public:
  LongKernel()
      : kernel_(mps::compile_shader(R"(
          kernel void spin(device uint* x, constant long& rounds) {
            uint value = x[0];
            for (long i = 0; i < rounds; ++i) {
              value = value * 1664525u + 1013904223u;
            }
            x[0] = value;
          })")
                    .kernel("spin")),
        memory_(std::vector<std::uint32_t>{1}) {}

  void submit() const { kernel_({memory_, 20000000}); }

 private:
  mps::Kernel kernel_;
  array memory_;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("mps 13: an event is reached after the work before it") {
  const LongKernel work;
  Event event;
  CHECK(!event.query());
  event.synchronize();
  event.wait();
  work.submit();
  event.record();
  event.synchronize();
  CHECK(event.query());
}

TEST_CASE("mps 13: the time across a long kernel is more than nothing") {
  const LongKernel work;
  Event start(true);
  Event end(true);
  start.record();
  work.submit();
  end.record();
  const double elapsed = start.elapsed_time(end);
  CHECK(elapsed > 0.1);
  CHECK(elapsed < 60000);
}

TEST_CASE("mps 13: the time across nothing is not negative, also on an idle device") {
  mps::synchronize();
  Event start(true);
  Event end(true);
  start.record();
  end.record();
  CHECK(start.elapsed_time(end) >= 0.0);
  CHECK(start.elapsed_time(start) == 0.0);
}

TEST_CASE("mps 13: an event without timing has no time") {
  Event timed(true);
  Event plain;
  timed.record();
  plain.record();
  CHECK_THROWS_AS(timed.elapsed_time(plain), std::runtime_error);
  CHECK_THROWS_AS(plain.elapsed_time(timed), std::runtime_error);
}

TEST_CASE("mps 13: an event that was never recorded is refused within a second") {
  Event recorded(true);
  Event unrecorded(true);
  recorded.record();
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(recorded.elapsed_time(unrecorded), std::runtime_error);
  CHECK_THROWS_AS(unrecorded.elapsed_time(recorded), std::runtime_error);
  CHECK(seconds_since(start) < 1);
}

TEST_CASE("mps 13: the reverse order is refused with both ids") {
  const LongKernel work;
  Event first(true);
  Event second(true);
  first.record();
  work.submit();
  second.record();
  const std::string error =
      thrown_text<std::runtime_error>([&] { static_cast<void>(second.elapsed_time(first)); });
  CHECK(error.find("event " + std::to_string(first.id())) != std::string::npos);
  CHECK(error.find("event " + std::to_string(second.id())) != std::string::npos);
}

TEST_CASE("mps 13: recording again moves the marker") {
  const LongKernel work;
  Event start(true);
  Event end(true);
  end.record();
  start.record();
  work.submit();
  end.record();
  CHECK(start.elapsed_time(end) > 0.1);
}

TEST_CASE("mps 14: ids do not grow with events that are gone") {
  Event alive;
  std::uint64_t greatest = 0;
  for (int i = 0; i < 1000; ++i) {
    Event event(i % 2 == 0);
    event.record();
    greatest = std::max(greatest, event.id());
    CHECK(event.id() > 0);
    CHECK(event.id() != alive.id());
  }
  CHECK(greatest <= alive.id() + 8);
}

TEST_CASE("mps 14: an id that is used again has no marker of its past") {
  std::uint64_t id = 0;
  {
    Event event(true);
    event.record();
    id = event.id();
  }
  Event event(true);
  CHECK(event.id() == id);
  CHECK(!event.query());
}

TEST_CASE("events can be moved and not copied") {
  static_assert(std::is_move_constructible_v<Event> && !std::is_copy_constructible_v<Event>);
  Event first(true);
  first.record();
  Event second = std::move(first);
  second.synchronize();
  CHECK(second.query());
}

TEST_CASE("an event of one stream holds back another") {
  const auto writer = runtime::Stream::create();
  const auto reader = runtime::Stream::create();
  runtime::TimedEvent written(true);
  runtime::TimedEvent read(true);
  written.record(writer);
  written.wait(*reader);
  read.record(reader);
  read.synchronize();
  CHECK(written.query());
  CHECK(runtime::TimedEvent::elapsed_ms(written, read) >= 0);
}
