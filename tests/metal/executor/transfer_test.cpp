#include <doctest/doctest.h>

#include <algorithm>

#include "tests/metal/executor/executor_support.h"

namespace pewter::executor::test {
namespace {

std::vector<std::uint8_t> pattern(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
  }
  return bytes;
}

TEST_CASE("a copy of any length arrives complete") {
  for (const std::size_t size : {0, 1, 4095, 1 << 20, (1 << 20) + 1, 5'000'003}) {
    const auto from = pattern(size);
    std::vector<std::uint8_t> to(size + 1, 0xee);

    const Fault fault = copy(to.data(), from.data(), size);

    CAPTURE(size);
    CHECK(!fault);
    CHECK(std::equal(from.begin(), from.end(), to.begin()));
    CHECK(to.back() == 0xee);
  }
}

TEST_CASE("ranges that overlap are copied as if through a third place") {
  for (const std::ptrdiff_t shift : {1, 1000, 2'000'000}) {
    const auto original = pattern(5'000'000);
    auto up = original;
    auto down = original;
    const auto count = static_cast<std::uint64_t>(5'000'000 - shift);

    CHECK(!copy(up.data() + shift, up.data(), count));
    CHECK(!copy(down.data(), down.data() + shift, count));

    CHECK(std::equal(original.begin(), original.end() - shift, up.begin() + shift));
    CHECK(std::equal(original.begin() + shift, original.end(), down.begin()));
  }
}

TEST_CASE("a fill sets every byte and no more") {
  std::vector<std::uint8_t> bytes(3'000'001, 1);

  CHECK(!fill(bytes.data(), 0xab, 3'000'000));

  CHECK(std::count(bytes.begin(), bytes.end(), 0xab) == 3'000'000);
  CHECK(bytes.back() == 1);
}

TEST_CASE("memory that is not there is a fault") {
  std::vector<std::uint8_t> bytes(100);
  ensure_fault_handlers();

  const Fault fault = copy(bytes.data(), reinterpret_cast<const void*>(0x4321), 100);

  CHECK(fault.kind == FaultKind::PageFault);
}

}  // namespace
}  // namespace pewter::executor::test
