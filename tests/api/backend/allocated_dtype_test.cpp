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

TEST_CASE("types that the device has stay") {
  CHECK(allocated_dtype(HostDtype::Bool) == Dtype::Bool);
  CHECK(allocated_dtype(HostDtype::UInt64) == Dtype::UInt64);
  CHECK(allocated_dtype(HostDtype::Float16) == Dtype::Float16);
  CHECK(allocated_dtype(HostDtype::Float64) == Dtype::Float32);
}
