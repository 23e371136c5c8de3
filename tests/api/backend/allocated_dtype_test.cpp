#include "pewter/api/backend/allocated_dtype.h"

#include <doctest/doctest.h>
#include <pewter/metal_backend.h>

#include "tests/support/log_capture.h"

using namespace pewter::backend;
using pewter::Dtype;

TEST_CASE("backend 3: what the device lacks becomes float32 with one warning") {
  const pewter::test::LogCapture log;
  MetalBackend backend;
  CHECK(backend.allocate({4}, HostDtype::Complex64).dtype() == Dtype::Float32);
  CHECK(log.lines().size() == 1);
  CHECK(log.contains("complex64"));
  CHECK(backend.allocate({4}, HostDtype::Float32).dtype() == Dtype::Float32);
  CHECK(log.lines().size() == 1);
}

TEST_CASE("backend 3: other types of NumPy become float32 with one warning") {
  MetalBackend backend;
  const auto bytes = [&](const char* name) {
    CAPTURE(name);
    const pewter::test::LogCapture log;
    const std::size_t before = backend.get_memory_info().allocated;
    const pewter::array made = backend.allocate({2, 3}, name);
    CHECK(made.dtype() == Dtype::Float32);
    CHECK(made.shape() == pewter::Shape{2, 3});
    CHECK(log.lines().size() == 1);
    CHECK(log.contains(name));
    return backend.get_memory_info().allocated - before;
  };

  CHECK(bytes("float128") == 6 * 16);
  CHECK(bytes("G") == 6 * 32);
  CHECK(bytes("O") == 6 * 8);
  CHECK(bytes("S4") == 6 * 4);
  CHECK(bytes("<U3") == 6 * 12);
  CHECK(bytes("S") == 0);
  CHECK(bytes("datetime64[ns]") == 6 * 8);
  CHECK(bytes("<m8[25s]") == 6 * 8);
  for (const char* const name :
       {"nope", "", "S-1", "U999999999999", "M8[parsec]", "f5", "<", " "}) {
    CAPTURE(name);
    CHECK_THROWS_AS(backend.allocate({2}, name), MetalError);
  }
}

TEST_CASE("types that the device has stay") {
  CHECK(allocated_dtype(HostDtype::Bool) == Dtype::Bool);
  CHECK(allocated_dtype(HostDtype::UInt64) == Dtype::UInt64);
  CHECK(allocated_dtype(HostDtype::Float16) == Dtype::Float16);
  CHECK(allocated_dtype(HostDtype::Float64) == Dtype::Float32);
}
