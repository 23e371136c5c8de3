#include "pewter/runtime/machine_guard.h"

#include <doctest/doctest.h>

#include "pewter/runtime/system_memory.h"

using pewter::runtime::available_memory;
using pewter::runtime::MachineGuard;
using pewter::runtime::physical_memory;
using pewter::runtime::resident_memory;

TEST_CASE("the system's numbers are in order") {
  CHECK(resident_memory() > 0);
  CHECK(available_memory() > resident_memory());
  CHECK(physical_memory() >= available_memory());
}

TEST_CASE("the guard lets pass what the machine can hold, and no more") {
  MachineGuard guard;
  CHECK(guard.allows(0, 1));
  CHECK(guard.budget() < physical_memory());
  CHECK(guard.allows(0, available_memory() / 2));
  CHECK(!guard.allows(0, physical_memory()));
  CHECK(!guard.allows(physical_memory(), 1));
  CHECK(guard.allows(0, 1));
}

TEST_CASE("memory that is allocated and untouched counts as if it were touched") {
  MachineGuard guard;
  const std::size_t half = available_memory() / 2;
  CHECK(guard.allows(0, half));
  CHECK(!guard.allows(half, half));
}
