// The numbered acceptance checks of the contract "memory, device, arrays, custom kernels".
#include <doctest/doctest.h>
#include <pewter/array.h>
#include <pewter/device.h>
#include <pewter/metal.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/device.h"
#include "tests/api/probe.h"
#include "tests/runtime/memory_fixture.h"

using pewter::array;
using pewter::Dtype;
using pewter::OutOfMemoryError;
using pewter::runtime::Buffer;
using pewter::runtime::page_size;
using pewter::test::contains;
using pewter::test::kMiB;
using pewter::test::MemoryFixture;
using pewter::test::probe;
namespace metal = pewter::metal;

namespace {

std::size_t number(const char* key) {
  return std::get<std::size_t>(metal::device_info().at(key));
}

array new_array(std::size_t bytes) {
  return array::empty({static_cast<std::int64_t>(bytes / 4)}, Dtype::Float32);
}

template <typename T>
concept Limit = requires(T limit) {
  metal::set_memory_limit(limit);
  metal::set_cache_limit(limit);
  metal::set_wired_limit(limit);
};

/// What() of the exception of type E that `action` must throw.
template <typename E, typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  FAIL("nothing was thrown");
  return "";
}

}  // namespace

TEST_CASE("metal-memory-and-device 1: is_available gives one answer, in every thread") {
  static_assert(std::is_same_v<decltype(metal::is_available()), bool>);
  const bool here = metal::is_available();
  bool there = !here;
  std::thread([&] { there = metal::is_available(); }).join();
  CHECK(here == metal::is_available());
  CHECK(here == there);
}

TEST_CASE("metal-memory-and-device 2: device_info has every key, with its type, and stays equal") {
  metal::DeviceInfo copy = metal::device_info();
  for (const char* key : {"device_name", "architecture"}) {
    CHECK(!std::get<std::string>(copy.at(key)).empty());
  }
  for (const char* key : {"max_buffer_length", "max_buffer_size",
                          "max_recommended_working_set_size", "memory_size", "resource_limit"}) {
    CHECK(std::get<std::size_t>(copy.at(key)) > 0);
  }
  CHECK(number("max_buffer_length") == number("max_buffer_size"));
  CHECK(number("max_recommended_working_set_size") <= number("memory_size"));

  CHECK(metal::device_info() == copy);
  copy.clear();
  CHECK(metal::device_info().size() == 7);

  CHECK(pewter::device_info(pewter::DeviceType::Gpu) == metal::device_info());
  CHECK(pewter::device_info(pewter::DeviceType::Cpu).contains("device_name"));
  CHECK(!pewter::is_available(pewter::Device(pewter::DeviceType::Gpu, 1)));
}

TEST_CASE("metal-memory-and-device 3: without a device nothing but device_info throws") {
  const auto values = probe(PEWTER_MEMORY_PROBE, "no_device", {{"PEWTER_DEVICE", "none"}});
  CHECK(values.at("available") == "no");
  CHECK(contains(values.at("device_info"), "runtime_error: [metal::device_info]"));
  CHECK(values.at("start_capture") == "none");
  CHECK(values.at("stop_capture") == "none");
  CHECK(values.at("trace") == "none");
  CHECK(values.at("wired_before") == "0");
  CHECK(values.at("wired_after") == "0");
}

TEST_CASE("metal-memory-and-device 3: without a device the host allocator's numbers are given") {
  const auto values = probe(PEWTER_MEMORY_PROBE, "no_device", {{"PEWTER_DEVICE", "none"}});
  CHECK(values.at("cache_limit") == std::to_string(32 * kMiB));
  CHECK(std::stoull(values.at("memory_limit")) > 0);
  CHECK(values.at("active") == "5000");
  CHECK(values.at("cached") == "5000");
  CHECK(values.at("reused") == "5000");
  CHECK(values.at("too_large_to_cache") == "5000");
  CHECK(values.at("trimmed_at_once") == "0");
  CHECK(std::stoull(values.at("peak")) == 33 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "metal-memory-and-device 4: both spellings share one state") {
  const array x = new_array(kMiB);
  CHECK(pewter::get_active_memory() == metal::get_active_memory());
  CHECK(pewter::get_peak_memory() == metal::get_peak_memory());
  CHECK(pewter::get_cache_memory() == metal::get_cache_memory());
  const std::size_t old = pewter::set_memory_limit(123 * kMiB);
  CHECK(metal::set_memory_limit(old) == 123 * kMiB);
  metal::set_cache_limit(77 * kMiB);
  CHECK(pewter::set_cache_limit(0) == 77 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 5: set_cache_limit returns the limit before") {
  static_cast<void>(metal::set_cache_limit(0));
  CHECK(metal::set_cache_limit(5 * kMiB) == 0);
  CHECK(metal::set_cache_limit(0) == 5 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 6: set_memory_limit leaves the cache limit alone") {
  const std::size_t cache = metal::set_cache_limit(0);
  metal::set_cache_limit(cache);
  const std::size_t old = metal::set_memory_limit(10);
  CHECK(metal::set_memory_limit(old) == 10);
  CHECK(metal::get_memory_limit() == old);
  CHECK(metal::set_cache_limit(cache) == cache);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 7: an array of 4096 floats holds at least 16384 bytes") {
  const std::size_t before = metal::get_active_memory();
  const array x = array::empty({4096}, Dtype::Float32);
  CHECK(metal::get_active_memory() >= before + 16384);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 8: a deleted array moves from active to cache") {
  const std::size_t active = metal::get_active_memory();
  const std::size_t cached = metal::get_cache_memory();
  std::size_t length = 0;
  {
    const array x = new_array(16384);
    length = metal::get_active_memory() - active;
  }
  CHECK(metal::get_active_memory() == active);
  CHECK(metal::get_cache_memory() == cached + length);
}

TEST_CASE_FIXTURE(MemoryFixture, "metal-memory-and-device 9: an equal array takes it back") {
  {
    const array x = new_array(16384);
  }
  const std::size_t sum = metal::get_active_memory() + metal::get_cache_memory();
  const std::size_t cached = metal::get_cache_memory();
  const array y = new_array(16384);
  CHECK(metal::get_cache_memory() == cached - 16384);
  CHECK(metal::get_active_memory() + metal::get_cache_memory() == sum);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 10: clear_cache empties the cache alone") {
  const array kept = new_array(kMiB);
  {
    const array x = new_array(2 * kMiB);
  }
  const std::size_t active = metal::get_active_memory();
  const std::size_t peak = metal::get_peak_memory();
  metal::clear_cache();
  CHECK(metal::get_cache_memory() == 0);
  CHECK(metal::get_active_memory() == active);
  CHECK(metal::get_peak_memory() == peak);
  metal::clear_cache();

  metal::set_cache_limit(0);
  {
    const array x = new_array(2 * kMiB);
  }
  CHECK(metal::get_cache_memory() == 0);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 11: the peak follows active, and resets to zero") {
  std::vector<array> arrays;
  std::size_t largest = 0;
  for (int i = 1; i < 10; ++i) {
    arrays.push_back(new_array(static_cast<std::size_t>(i) * kMiB));
    largest = std::max(largest, metal::get_active_memory());
    if (i % 3 == 0) {
      arrays.clear();
    }
  }
  CHECK(metal::get_peak_memory() >= largest);

  const array alive = new_array(kMiB);
  metal::reset_peak_memory();
  CHECK(metal::get_peak_memory() == 0);
  const array next = new_array(kMiB);
  CHECK(metal::get_peak_memory() >= metal::get_active_memory());
}

TEST_CASE_FIXTURE(
    MemoryFixture,
    "metal-memory-and-device 12: nothing for 0 bytes, an error past the largest buffer") {
  const std::size_t active = metal::get_active_memory();
  CHECK(!memory.allocate(0));
  CHECK(metal::get_active_memory() == active);

  const std::size_t most = number("max_buffer_length");
  const std::string text =
      error_of<std::runtime_error>([&] { static_cast<void>(memory.allocate(most + 1)); });
  CHECK(contains(text, "[metal::malloc]"));
  CHECK(contains(text, std::to_string(most)));
  CHECK(contains(text, std::to_string(most + 1)));
  CHECK(metal::get_active_memory() == active);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 13: reuse keeps the capacity, and has its window") {
  memory.allocate(8192);
  CHECK(memory.allocate(6000).length() >= 8192);

  memory.clear_cache();
  memory.allocate(8192);
  const Buffer smaller = memory.allocate(4096);
  if (page_size() == 4096) {
    CHECK(smaller.length() == 4096);
    CHECK(memory.cached() == 8192);
  }
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 14: one free may pass the cache limit, the next "
                  "allocation repairs it") {
  metal::set_cache_limit(kMiB);
  const std::size_t size = 700 * 1024;
  {
    const Buffer one = memory.allocate(size);
    const Buffer two = memory.allocate(size);
    const Buffer three = memory.allocate(size);
  }
  CHECK(metal::get_cache_memory() <= kMiB + size);
  CHECK(metal::get_cache_memory() > kMiB);
  const Buffer other = memory.allocate(1);
  CHECK(metal::get_cache_memory() <= kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 15: the wired limit goes up to the working set") {
  static_cast<void>(metal::set_wired_limit(1000));
  CHECK(metal::set_wired_limit(0) == 1000);
  const std::size_t most = number("max_recommended_working_set_size");
  const std::string text =
      error_of<std::invalid_argument>([&] { metal::set_wired_limit(most + 10); });
  CHECK(contains(text, "[metal::set_wired_limit]"));
  CHECK(metal::set_wired_limit(most) == 0);
  CHECK(metal::set_wired_limit(0) == most);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 16: a strict limit refuses and changes nothing") {
  const std::size_t active = metal::get_active_memory();
  const std::size_t old = metal::set_memory_limit(active + kMiB, false);
  const std::string text =
      error_of<std::runtime_error>([] { static_cast<void>(new_array(64 * kMiB)); });
  CHECK(contains(text, std::to_string(64 * kMiB)));
  CHECK(metal::get_active_memory() == active);
  CHECK(metal::get_cache_memory() == 0);

  metal::set_memory_limit(old);
  const array x = new_array(64 * kMiB);
  CHECK(metal::get_active_memory() == active + 64 * kMiB);
}

TEST_CASE_FIXTURE(MemoryFixture, "metal-memory-and-device 17: a relaxed limit is passed") {
  const std::size_t active = metal::get_active_memory();
  metal::set_memory_limit(active + kMiB, true);
  const array x = new_array(64 * kMiB);
  CHECK(metal::get_active_memory() > metal::get_memory_limit());
}

TEST_CASE("metal-memory-and-device 18: a limit that is no whole number does not compile") {
  CHECK(Limit<std::size_t>);
  CHECK(Limit<int>);
  CHECK(!Limit<double>);
  CHECK(!Limit<float>);
  CHECK(!Limit<const char*>);
  CHECK(!Limit<std::nullptr_t>);
}

TEST_CASE_FIXTURE(MemoryFixture, "metal-memory-and-device 18: a negative limit is refused") {
  const std::size_t limit = metal::get_memory_limit();
  const std::string text =
      error_of<std::invalid_argument>([] { static_cast<void>(metal::set_memory_limit(-1)); });
  CHECK(contains(text, "[metal::set_memory_limit]"));
  CHECK(contains(text, "-1"));
  CHECK_THROWS_AS(static_cast<void>(pewter::set_cache_limit(-1L)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(metal::set_wired_limit(-1)), std::invalid_argument);
  CHECK(metal::get_memory_limit() == limit);
}

TEST_CASE_FIXTURE(MemoryFixture,
                  "metal-memory-and-device 19: counters are exact after 8 threads of mixed sizes") {
  const std::size_t active = metal::get_active_memory();
  std::atomic<bool> wrapped = false;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 8; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 1000; ++i) {
        const Buffer buffer = memory.allocate(1 + random() % (std::size_t{1} << (1 + i % 21)));
        for (const std::size_t value :
             {metal::get_active_memory(), metal::get_cache_memory(), metal::get_peak_memory()}) {
          wrapped = wrapped || value > std::size_t{1} << 62;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(metal::get_active_memory() == active);
  CHECK(!wrapped);
}

TEST_CASE("metal-memory-and-device 30: a child forked after use answers, and refuses to evaluate") {
  const auto values = probe(PEWTER_MEMORY_PROBE, "fork_after_use");
  CHECK(values.at("child") == "ended");
  CHECK(std::stoull(values.at("active")) >= 4096);
  CHECK(values.at("available") == "yes");
  CHECK(contains(values.at("evaluate"), "runtime_error"));
  CHECK(contains(values.at("evaluate"), "forked"));
  CHECK(contains(values.at("evaluate"), "spawn"));
  CHECK(contains(values.at("clear_cache"), "spawn"));
  CHECK(values.at("parent") == "none");
}

TEST_CASE("metal-memory-and-device 30: a child of a parent that never used the device works") {
  const auto values = probe(PEWTER_MEMORY_PROBE, "fork_before_use");
  CHECK(values.at("child") == "ended");
  CHECK(values.at("evaluate") == "none");
}

TEST_CASE("start_capture says that the destination is unsupported, and writes nothing") {
  const std::string text =
      error_of<std::runtime_error>([] { metal::start_capture("unwritten.gputrace"); });
  CHECK(contains(text, "[metal::start_capture] destination unsupported"));
  CHECK(contains(text, "unwritten.gputrace"));
  CHECK(contains(error_of<std::runtime_error>([] { metal::start_capture(); }),
                 "destination unsupported"));
  metal::stop_capture();
}
