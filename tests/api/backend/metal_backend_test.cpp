#include <doctest/doctest.h>
#include <pewter/memory.h>
#include <pewter/metal_backend.h>
#include <pewter/ops.h>

#include <atomic>
#include <complex>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "tests/api/backend/backend_support.h"
#include "tests/support/sanitizer_limits.h"

using namespace pewter::backend;
using pewter::array;
using pewter::Dtype;
using pewter::Shape;
using pewter::test::counted;

namespace {

std::vector<float> random_values(std::size_t count) {
  std::mt19937 engine(17);  // NOLINT(bugprone-random-generator-seed): repeatable
  std::normal_distribution<float> distribution;
  std::vector<float> values(count);
  for (float& value : values) {
    value = distribution(engine);
  }
  return values;
}

}  // namespace

TEST_CASE("backend 1: a backend with a device says what it is") {
  const MetalBackend backend(3);
  CHECK(backend.backend_type() == BackendType::METAL);
  CHECK(backend.is_available());
  CHECK(backend.device_count() == 1);
  CHECK(backend.device_id() == 3);
  CHECK(MetalBackend().device_id() == 0);
  CHECK_THROWS_AS(MetalBackend(-1), std::invalid_argument);
}

TEST_CASE("backend 1: with a device every method works") {
  MetalBackend backend;
  const array x = backend.allocate({4}, HostDtype::Float32);
  CHECK(backend.allocate_zeros({4}, "float32").shape() == Shape{4});
  CHECK(backend.copy_to_host(backend.copy_to_device(HostArray{1.0F})) == HostArray{1.0F});
  backend.free(x);
  backend.synchronize();
  backend.clear_cache();
  CHECK(get_vector_add_kernel().has_value());
  CHECK(get_matrix_multiply_kernel().has_value());
  CHECK(get_elementwise_kernel("sqrt").has_value());
}

TEST_CASE("backend 2: allocations of any rank are zeros") {
  MetalBackend backend;
  const array x = backend.allocate({10, 20}, HostDtype::Float32);
  CHECK(x.shape() == Shape{10, 20});
  CHECK(x.to_vector<float>() == std::vector<float>(200, 0));
  CHECK(backend.allocate({2, 3, 4, 5}, HostDtype::Int32).size() == 120);
  CHECK(backend.allocate({}, HostDtype::Float32).to_vector<float>() == std::vector<float>{0});
  CHECK(backend.allocate({0}, HostDtype::Float32).to_vector<float>().empty());
}

TEST_CASE("backend 2: what cannot be allocated fails with its cause") {
  MetalBackend backend;
  CHECK(pewter::test::throws_because_of<MetalError, std::invalid_argument>(
      [&] { backend.allocate({-1}, HostDtype::Float32); }));
  CHECK(pewter::test::throws_because_of<MetalError, std::invalid_argument>(
      [&] { backend.allocate({4}, "nope"); }));
  CHECK(pewter::test::throws_because_of<MetalError, std::invalid_argument>(
      [&] { backend.allocate({1LL << 40, 1LL << 40}, HostDtype::Float32); }));
  CHECK(backend.get_memory_info().buffer_count == 0);
}

TEST_CASE("backend 3: every type is mapped as the table says") {
  MetalBackend backend;
  const std::vector<std::pair<const char*, HostDtype>> table = {
      {"float32", HostDtype::Float32}, {"float16", HostDtype::Float16},
      {"float64", HostDtype::Float32}, {"int32", HostDtype::Int32},
      {"int64", HostDtype::Int64},     {"int16", HostDtype::Int16},
      {"int8", HostDtype::Int8},       {"uint32", HostDtype::UInt32},
      {"uint64", HostDtype::UInt64},   {"uint16", HostDtype::UInt16},
      {"uint8", HostDtype::UInt8},     {"bool", HostDtype::Bool},
      {">f4", HostDtype::Float32}};
  for (const auto& [name, expected] : table) {
    CAPTURE(name);
    CHECK(backend.copy_to_host(backend.allocate({4}, name)).dtype() == expected);
  }
}

TEST_CASE("backend 4: what is copied there and back is the same") {
  MetalBackend backend;
  const HostArray x(random_values(10000), {100, 100});
  CHECK(backend.copy_to_host(backend.copy_to_device(x)) == x);
  CHECK(backend.copy_to_host(backend.copy_to_device(x.transposed())) == x.transposed());
  CHECK(backend.copy_to_host(backend.copy_to_device(x.slice(90, 5, 1, -7))) ==
        x.slice(90, 5, 1, -7));

  const HostArray wide{1.0 / 3, 1e-3, -7.0};
  const HostArray back = backend.copy_to_host(backend.copy_to_device(wide));
  CHECK(back.dtype() == HostDtype::Float32);
  CHECK(back == wide.astype(HostDtype::Float32));
}

TEST_CASE("backend 4: every type of the table and complex numbers keep their values") {
  MetalBackend backend;
  for (const HostDtype dtype :
       {HostDtype::Bool, HostDtype::UInt8, HostDtype::UInt16, HostDtype::UInt32, HostDtype::UInt64,
        HostDtype::Int8, HostDtype::Int16, HostDtype::Int32, HostDtype::Int64, HostDtype::Float16,
        HostDtype::Float32, HostDtype::Complex64}) {
    const HostArray x = HostArray(counted<float>(7)).astype(dtype);
    CHECK(backend.copy_to_host(backend.copy_to_device(x)) == x);
  }
  CHECK(backend.copy_to_host(backend.copy_to_device(HostArray::scalar(2.5F))).shape().empty());
  CHECK(backend.copy_to_host(backend.copy_to_device(HostArray({0, 3}, HostDtype::Int8))).shape() ==
        Shape{0, 3});
  CHECK(pewter::test::throws_because_of<MetalError, std::invalid_argument>(
      [&] { backend.copy_to_device(HostArray({1}, HostDtype::Complex128)); }));
}

TEST_CASE("backend 4: a copy does not see what happens to its source") {
  MetalBackend backend;
  const HostArray x{1.0F, 2.0F};
  const array copied = backend.copy_to_device(x);
  x.fill(9.0F);
  CHECK(backend.copy_to_host(copied) == HostArray{1.0F, 2.0F});
}

TEST_CASE("backend 5: what comes to the host is the caller's") {
  MetalBackend backend;
  const array x = backend.copy_to_device(HostArray{1.0F, 2.0F});
  const HostArray copied = backend.copy_to_host(x);
  copied.fill(5.0F);
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(backend.copy_to_host(HostArray{3}) == HostArray{3});
  CHECK_THROWS_AS(backend.copy_to_host(Value(3)), MetalError);
  CHECK_THROWS_AS(backend.copy_to_host(Value()), MetalError);
  const array brain(std::vector<pewter::BFloat16>{pewter::BFloat16(1.5F)});
  CHECK(backend.copy_to_host(brain) == HostArray{1.5F});
}

TEST_CASE("backend 6: the backend counts its arrays and their bytes") {
  MetalBackend backend;
  const array first = backend.allocate({50}, HostDtype::Float32);
  const array second = backend.allocate({100}, HostDtype::Float32);
  CHECK(backend.get_memory_info().buffer_count == 2);
  CHECK(backend.get_memory_info().allocated == 600);

  backend.free(first);
  CHECK(backend.get_memory_info().buffer_count == 1);
  CHECK(backend.get_memory_info().allocated == 400);
  backend.free(first);
  backend.free(array{1.0F});
  backend.free(nullptr);
  CHECK(backend.get_memory_info().buffer_count == 1);
  CHECK(first.to_vector<float>().size() == 50);
}

TEST_CASE("backend 7: float64 counts as it was asked for, and what is dropped is forgotten") {
  MetalBackend backend;
  {
    const array wide = backend.allocate({10}, HostDtype::Float64);
    CHECK(backend.get_memory_info().allocated == 80);
    const array copied = backend.copy_to_device(HostArray({10}, HostDtype::Float64));
    CHECK(backend.get_memory_info().allocated == 160);
    const auto records = backend.buffer_registry();
    REQUIRE(records.size() == 2);
    CHECK(records[0].size == 80);
    CHECK(records[0].shape == Shape{10});
    CHECK(records[0].dtype == HostDtype::Float64);
    CHECK(records[0].state == MetalBufferState::Allocated);
    CHECK(records[0].array_id != records[1].array_id);
  }
  CHECK(backend.get_memory_info().buffer_count == 0);
  CHECK(backend.get_memory_info().allocated == 0);
}

TEST_CASE("backend 7: a record knows when its array was used, and whether it is") {
  MetalBackend backend;
  const array a = backend.allocate({4}, HostDtype::Float32);
  const auto record = [&] { return backend.buffer_registry().at(0); };
  CHECK(record().last_accessed == record().created_at);

  backend.copy_to_host(a);
  const auto copied_at = record().last_accessed;
  CHECK(copied_at > record().created_at);

  MetalBufferState inside = MetalBufferState::Freed;
  backend.execute_kernel([&](const array&) { inside = record().state; }, {1}, {1}, a);
  CHECK(inside == MetalBufferState::InUse);
  CHECK(record().state == MetalBufferState::Allocated);
  CHECK(record().last_accessed > copied_at);
}

TEST_CASE("backend 8: many arrays, and backends that do not see each other's") {
  MetalBackend backend;
  MetalBackend other;
  std::vector<array> arrays;
  for (int i = 0; i < 100; ++i) {
    arrays.push_back(backend.allocate({8}, HostDtype::Float32));
  }
  CHECK(backend.get_memory_info().buffer_count == 100);
  CHECK(other.get_memory_info().buffer_count == 0);
  other.free(arrays[0]);
  CHECK(backend.get_memory_info().buffer_count == 100);
  for (const array& x : arrays) {
    backend.free(x);
  }
  CHECK(backend.get_memory_info().buffer_count == 0);
}

TEST_CASE("backend 7: records of arrays that were dropped do not pile up") {
  if (!pewter::test::can_see_memory_reused()) {
    return;
  }
  MetalBackend backend;
  // A record keeps the array's place in memory from being used again.
  std::set<const void*> places;
  for (int i = 0; i < 10000; ++i) {
    places.insert(backend.allocate({4}, HostDtype::Float32).node_pointer().get());
  }
  CHECK(places.size() < 1000);
  CHECK(backend.get_memory_info().buffer_count == 0);
}

TEST_CASE("backend 7: an array takes memory when it is evaluated, not when it is allocated") {
  MetalBackend backend;
  const std::size_t before = pewter::get_active_memory();
  const array x = backend.allocate({1 << 20}, HostDtype::Float32);
  CHECK(backend.get_memory_info().allocated == 4 << 20);
  CHECK(pewter::get_active_memory() < before + (1 << 20));
  x.eval();
  CHECK(pewter::get_active_memory() >= before + (4 << 20));
}

TEST_CASE("backend 16: memory information, the cache and the text of a backend") {
  MetalBackend backend;
  const array x = backend.allocate({1000}, HostDtype::Float32);
  const MetalMemoryInfo info = backend.get_memory_info();
  CHECK(info.cache_memory == pewter::get_cache_memory());
  CHECK(info.peak_memory == pewter::get_peak_memory());
  backend.clear_cache();
  CHECK(backend.get_memory_info().cache_memory == 0);
  CHECK(backend.get_memory_info().buffer_count == 1);
  CHECK(backend.repr() == "MetalBackend(device=0, available=True, buffers=1, cache=0KB)");
}

TEST_CASE("backend 17: eight threads share a backend without locks of their own") {
  MetalBackend backend;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const HostArray source({16}, HostDtype::Int32);
        source.fill(t * 1000 + i);
        const array x =
            i % 2 == 0 ? backend.copy_to_device(source) : backend.allocate({16}, HostDtype::Int32);
        const int expected = i % 2 == 0 ? t * 1000 + i : 0;
        const HostArray back = backend.copy_to_host(x);
        wrong += back.at<std::int32_t>({15}) != expected ? 1 : 0;
        wrong += backend.get_memory_info().buffer_count < 1 ? 1 : 0;
        backend.free(x);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(wrong == 0);
  CHECK(backend.get_memory_info().buffer_count == 0);
}

TEST_CASE("backend 28: arrays outlive the backend that made them") {
  auto backend = std::make_shared<MetalBackend>();
  const std::weak_ptr<MetalBackend> watched = backend;
  const array x = backend->copy_to_device(HostArray{1.0F, 2.0F});
  const array lazy = backend->allocate({2}, HostDtype::Float32) + x;
  backend.reset();
  CHECK(watched.expired());
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(lazy.to_vector<float>() == std::vector<float>{1, 2});
}

TEST_CASE("an array that is owned is freed with its owner") {
  MetalBackend backend;
  {
    const BackendArray owned(backend.copy_to_device(HostArray{1.0F, 2.0F}), backend);
    const array lent = backend.allocate({3}, HostDtype::Float32);
    {
      const BackendArray borrower(lent, backend, false);
    }
    CHECK(backend.get_memory_info().buffer_count == 2);
    CHECK(owned.shape() == Shape{2});
    CHECK(owned.dtype() == Dtype::Float32);
    CHECK(owned.nbytes() == 8);
    CHECK(&owned.backend() == &backend);
    CHECK(owned.to_host() == HostArray{1.0F, 2.0F});
    owned.synchronize();
    backend.free(lent);
  }
  CHECK(backend.get_memory_info().buffer_count == 0);
}
