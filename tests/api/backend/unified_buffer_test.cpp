#include <doctest/doctest.h>
#include <pewter/errors.h>
#include <pewter/ops.h>
#include <pewter/unified_buffer.h>

#include <algorithm>
#include <complex>
#include <thread>
#include <vector>

#include "tests/api/backend/backend_support.h"

using namespace pewter::backend;
using pewter::array;
using pewter::Dtype;
using pewter::Shape;
using pewter::test::counted;
using State = BufferState;

namespace {

bool is_same(const array& left, const array& right) {
  return left.node_pointer() == right.node_pointer();
}

bool all_equal(const array& values, float expected) {
  const auto elements = values.to_vector<float>();
  return std::all_of(elements.begin(), elements.end(), [&](float e) { return e == expected; });
}

/// A buffer of four elements in the state that is asked for, with 1 to 4 on the host.
UnifiedBuffer<float> in_state(State state) {
  UnifiedBuffer<float> buffer(4);
  if (state == State::Uninitialized) {
    return buffer;
  }
  buffer.allocate();
  std::ranges::copy(std::vector<float>{1, 2, 3, 4}, buffer.host().begin());
  if (state == State::HostDirty) {
    buffer.mark_host_dirty();
  } else if (state != State::HostOnly) {
    const array on_device = buffer.metal();
    if (state == State::DeviceDirty) {
      buffer.set_metal(on_device * 10.0F);
    }
  }
  REQUIRE(buffer.state() == state);
  return buffer;
}

const std::vector<State> kAllocated = {State::HostOnly, State::Synchronized, State::HostDirty,
                                       State::DeviceDirty};

}  // namespace

TEST_CASE("backend 20: allocate gives host memory from any state") {
  for (const State from : {State::Uninitialized, State::HostOnly, State::Synchronized,
                           State::HostDirty, State::DeviceDirty}) {
    for (const bool host : {true, false}) {
      auto buffer = in_state(from);
      CHECK(&buffer.allocate(host) == &buffer);
      CHECK(buffer.state() == State::HostOnly);
      CHECK(buffer.host().size() == 4);
    }
  }
}

TEST_CASE("backend 20: free drops every copy") {
  for (const State from : kAllocated) {
    auto buffer = in_state(from);
    buffer.free();
    CHECK(buffer.state() == State::Uninitialized);
    CHECK_FALSE(buffer.is_allocated());
  }
}

TEST_CASE("backend 20: host gives the array itself and pulls only what is newer") {
  auto none = in_state(State::Uninitialized);
  CHECK_THROWS_AS(none.host(), BufferNotAllocatedError);
  for (const State from : {State::HostOnly, State::Synchronized, State::HostDirty}) {
    const auto buffer = in_state(from);
    CHECK(buffer.host_array().is_same(buffer.host_array()));
    CHECK(buffer.host()[3] == 4);
    buffer.host()[3] = 9;
    CHECK(buffer.host()[3] == 9);
    CHECK(buffer.state() == from);
  }
  const auto dirty = in_state(State::DeviceDirty);
  const float* const memory = dirty.host().data();
  CHECK(dirty.host()[3] == 40);
  CHECK(dirty.host().data() == memory);
  CHECK(dirty.state() == State::Synchronized);
}

TEST_CASE("backend 20: metal is made or renewed from the host, or given as it is") {
  CHECK_THROWS_AS(in_state(State::Uninitialized).metal(), BufferNotAllocatedError);
  for (const State from : {State::HostOnly, State::HostDirty}) {
    const auto buffer = in_state(from);
    CHECK(buffer.metal().to_vector<float>() == std::vector<float>{1, 2, 3, 4});
    CHECK(buffer.state() == State::Synchronized);
  }
  for (const State from : {State::Synchronized, State::DeviceDirty}) {
    const auto buffer = in_state(from);
    const array first = buffer.metal();
    CHECK(is_same(first, buffer.metal()));
    CHECK(buffer.state() == from);
  }
}

TEST_CASE("backend 20: device is the host's array, there being no other device") {
  CHECK_THROWS_AS(in_state(State::Uninitialized).device(), BufferNotAllocatedError);
  for (const State from : kAllocated) {
    const auto buffer = in_state(from);
    CHECK(buffer.device().is_same(buffer.host_array()));
  }
}

TEST_CASE("backend 20: marks say which side is newer, and the last one counts") {
  for (const State from : kAllocated) {
    auto buffer = in_state(from);
    buffer.mark_host_dirty();
    CHECK(buffer.state() == State::HostDirty);
    buffer.mark_metal_dirty();
    CHECK(buffer.state() == State::DeviceDirty);
    buffer.mark_host_dirty();
    buffer.mark_device_dirty();
    CHECK(buffer.state() == State::DeviceDirty);
  }
  auto none = in_state(State::Uninitialized);
  CHECK_THROWS_AS(none.mark_host_dirty(), BufferNotAllocatedError);
  CHECK_THROWS_AS(none.mark_metal_dirty(), BufferNotAllocatedError);
  CHECK_THROWS_AS(none.mark_device_dirty(), BufferNotAllocatedError);
}

TEST_CASE("backend 20: marking a device copy that is not there keeps the host's data") {
  auto buffer = in_state(State::HostOnly);
  buffer.mark_metal_dirty();
  CHECK(buffer.host()[0] == 1);
  CHECK(buffer.state() == State::HostOnly);
}

TEST_CASE("backend 20: synchronize copies from the newer side") {
  auto host_dirty = in_state(State::HostDirty);
  host_dirty.synchronize();
  CHECK(host_dirty.state() == State::Synchronized);
  auto device_dirty = in_state(State::DeviceDirty);
  device_dirty.synchronize();
  CHECK(device_dirty.state() == State::Synchronized);
  CHECK(device_dirty.host()[1] == 20);
  for (const State from : {State::Uninitialized, State::HostOnly, State::Synchronized}) {
    auto buffer = in_state(from);
    buffer.synchronize();
    CHECK(buffer.state() == from);
  }
}

TEST_CASE("backend 20: pushes and pulls on request") {
  auto buffer = in_state(State::DeviceDirty);
  buffer.sync_to_device();
  CHECK(buffer.state() == State::Synchronized);
  CHECK(buffer.metal().to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  auto pulled = in_state(State::DeviceDirty);
  pulled.sync_to_host();
  CHECK(pulled.state() == State::Synchronized);
  CHECK(pulled.to_numpy() == HostArray{10.0F, 20.0F, 30.0F, 40.0F});
  CHECK_FALSE(pulled.to_numpy().is_same(pulled.host_array()));
  CHECK_THROWS_AS(in_state(State::Uninitialized).sync_to_device(), BufferNotAllocatedError);
}

TEST_CASE("backend 20: elements are read and written one by one") {
  auto buffer = in_state(State::DeviceDirty);
  buffer[-1] = 7.0F;
  CHECK(buffer.state() == State::HostDirty);
  CHECK(buffer.host()[0] == 10);
  CHECK(static_cast<float>(buffer[3]) == 7);
  CHECK_THROWS_AS(buffer[4] = 1.0F, std::out_of_range);

  auto synchronized = in_state(State::Synchronized);
  CHECK_THROWS_AS(synchronized[9] = 1.0F, std::out_of_range);
  CHECK(synchronized.state() == State::Synchronized);

  UnifiedBuffer<std::int32_t> grid(Shape{2, 3});
  CHECK_THROWS_AS((grid[{0, 0}] = 1), BufferNotAllocatedError);
  CHECK_THROWS_AS(static_cast<void>(static_cast<std::int32_t>(grid[{0, 0}])),
                  BufferNotAllocatedError);
  grid.zeros();
  grid[{1, 2}] = 5;
  CHECK(grid.host()[5] == 5);
}

TEST_CASE("backend 20: an element may be set to another") {
  auto buffer = in_state(State::Synchronized);
  buffer[0] = buffer[3];
  CHECK(buffer.host()[0] == 4);
  CHECK(buffer.state() == State::HostDirty);
}

TEST_CASE("backend 20: the awaitable forms do what the plain ones do") {
  auto buffer = in_state(State::DeviceDirty);
  buffer.ensure_on_host().get();
  CHECK(buffer.state() == State::Synchronized);
  buffer.ensure_on_device().get();
  auto none = in_state(State::Uninitialized);
  CHECK_THROWS_AS(none.ensure_on_host().get(), BufferNotAllocatedError);
}

TEST_CASE("backend 21: what the host marks as newer reaches the device, what it does not stays") {
  UnifiedBuffer<float> buffer(1000);
  buffer.allocate();
  std::ranges::fill(buffer.host(), 42.0F);
  buffer.mark_host_dirty();
  const array on_device = buffer.metal();
  CHECK(all_equal(on_device, 42));
  CHECK(buffer.state() == State::Synchronized);
  CHECK(is_same(buffer.metal(), on_device));

  std::ranges::fill(buffer.host(), 1.0F);
  CHECK(all_equal(buffer.metal(), 42));
}

TEST_CASE("backend 22: a new array on the device reaches the host") {
  UnifiedBuffer<float> narrow(5);
  narrow.fill(3.0F);
  narrow.set_metal(narrow.metal() * 2.0F);
  CHECK(narrow.state() == State::DeviceDirty);
  CHECK(narrow.host()[4] == 6);
  CHECK(narrow.state() == State::Synchronized);

  UnifiedBuffer<double> wide(5);
  wide.fill(1.25);
  CHECK(wide.metal().dtype() == Dtype::Float32);
  wide.set_metal(wide.metal() * 2.0F);
  CHECK(wide.host()[0] == 2.5);
  CHECK(wide.state() == State::Synchronized);
}

TEST_CASE("backend 22: an array of another shape is refused, of another type converted") {
  UnifiedBuffer<float> buffer(3);
  CHECK_THROWS_AS(buffer.set_metal(array{1.0F, 2.0F, 3.0F}), BufferNotAllocatedError);
  buffer.zeros();
  CHECK_THROWS_AS(buffer.set_metal(array{1.0F, 2.0F}), std::invalid_argument);
  CHECK(buffer.state() == State::HostDirty);
  buffer.set_metal(array{1, 2, 3});
  CHECK(buffer.metal().dtype() == Dtype::Float32);
  CHECK(buffer.host()[2] == 3);
}

TEST_CASE("backend 23: a buffer that was freed shows nothing of what it held") {
  UnifiedBuffer<float> buffer(64);
  buffer.fill(5.0F);
  CHECK(all_equal(buffer.metal(), 5));
  buffer.free();
  CHECK_THROWS_AS(buffer.host(), BufferNotAllocatedError);
  CHECK_THROWS_AS(buffer.metal(), BufferNotAllocatedError);
  buffer.allocate();
  buffer.zeros();
  CHECK(all_equal(buffer.metal(), 0));
}

TEST_CASE("backend 24: filling and copying allocate and mark the host as newer") {
  AnyUnifiedBuffer zeroed(4);
  CHECK(&zeroed.zeros() == &zeroed);
  CHECK(zeroed.state() == State::HostDirty);
  AnyUnifiedBuffer filled(Shape{2, 2}, HostDtype::Int32);
  CHECK(filled.zeros().fill(2.9).host().to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{2, 2, 2, 2});
  CHECK(filled.state() == State::HostDirty);

  AnyUnifiedBuffer copied(Shape{2, 3});
  copied.copy_from(HostArray(counted<float>(3)));
  CHECK(copied.state() == State::HostDirty);
  const HostArray out = HostArray::zeros({2, 3}, HostDtype::Float64);
  copied.copy_to(out);
  CHECK(out.to_vector<double>() == std::vector<double>{0, 1, 2, 0, 1, 2});
}

TEST_CASE("backend 24: copies that do not fit change nothing") {
  AnyUnifiedBuffer fresh(3);
  CHECK_THROWS_AS(fresh.copy_from(HostArray(counted<float>(4))), std::invalid_argument);
  CHECK(fresh.state() == State::Uninitialized);
  AnyUnifiedBuffer whole(3, HostDtype::Int32);
  whole.allocate();
  CHECK_THROWS_AS(whole.copy_from(HostArray{1.5F, 2.5F, 3.5F}), pewter::TypeError);
  CHECK(whole.state() == State::HostOnly);
  CHECK_THROWS_AS(AnyUnifiedBuffer(2).copy_to(HostArray{1.0F, 2.0F}), BufferNotAllocatedError);
}

TEST_CASE("backend 25: sizes and types are those that were asked for") {
  const AnyUnifiedBuffer buffer(Shape{4, 5, 6}, HostDtype::Float64);
  CHECK(buffer.length() == 4);
  CHECK(buffer.size() == 120);
  CHECK(buffer.nbytes() == 960);
  CHECK(AnyUnifiedBuffer(50).shape() == Shape{50});
  CHECK_THROWS_AS(AnyUnifiedBuffer(Shape{}).length(), std::out_of_range);
  CHECK_THROWS_AS(AnyUnifiedBuffer(-1), std::invalid_argument);
  CHECK(AnyUnifiedBuffer(1, HostDtype::Float32, true).pinned());
  for (const HostDtype dtype : {HostDtype::Float32, HostDtype::Float64, HostDtype::Int32,
                                HostDtype::Int64, HostDtype::UInt8, HostDtype::Complex64}) {
    AnyUnifiedBuffer typed(3, dtype);
    CHECK(typed.allocate().host().dtype() == dtype);
    CHECK(typed.dtype() == dtype);
  }
}

TEST_CASE("backend 25: complex numbers keep their type on the device") {
  UnifiedBuffer<std::complex<float>> buffer(2);
  buffer.fill(std::complex<float>(1, -2));
  CHECK(buffer.metal().dtype() == Dtype::Complex64);
  CHECK(buffer.metal().to_vector<std::complex<float>>()[1] == std::complex<float>(1, -2));
}

TEST_CASE("backend 25: what the device has no type for fails with the cause") {
  AnyUnifiedBuffer buffer(2, HostDtype::Complex128);
  buffer.zeros();
  CHECK(
      pewter::test::throws_because_of<MetalError, std::invalid_argument>([&] { buffer.metal(); }));
  CHECK(buffer.state() == State::HostDirty);
}

TEST_CASE("backend 20: the text of a buffer has shape, type, state and copies") {
  auto buffer = in_state(State::Synchronized);
  CHECK(buffer.repr() ==
        "UnifiedBuffer(shape=(4,), dtype=float32, state=SYNCHRONIZED, host_available=True, "
        "device_available=False, metal_available=True)");
  CHECK(name_of(State::DeviceDirty) == "device_dirty");
}

TEST_CASE("backend 20: threads that ask for the device's copy get the same one") {
  auto buffer = in_state(State::HostDirty);
  std::vector<std::shared_ptr<pewter::graph::Node>> seen(8);
  std::vector<std::thread> threads;
  for (auto& node : seen) {
    threads.emplace_back([&] { node = buffer.metal().node_pointer(); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(std::ranges::all_of(seen, [&](const auto& node) { return node == seen[0]; }));
}
