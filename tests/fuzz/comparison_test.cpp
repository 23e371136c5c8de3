#include "tests/fuzz/comparison.h"

#include <doctest/doctest.h>

#include <cstring>
#include <limits>

namespace pewter::fuzz {
namespace {

template <typename T>
Difference compare_values(Scalar scalar,
                          const std::vector<T>& expected,
                          const std::vector<T>& actual) {
  Program program;
  program.buffers.push_back({BufferKind::Output, "out", scalar, expected.size(), {}});
  const auto outcome = [](const std::vector<T>& values) {
    Outcome made;
    made.contents.emplace_back(values.size() * sizeof(T));
    std::memcpy(made.contents[0].data(), values.data(), values.size() * sizeof(T));
    return made;
  };
  return compare(program, outcome(expected), outcome(actual));
}

}  // namespace

TEST_CASE("integers have to be equal, and a difference is shown with its place") {
  const auto difference = compare_values<std::uint16_t>(Scalar::UShort, {1, 2, 3}, {1, 2, 0xffff});

  CHECK(difference.count == 1);
  CHECK(difference.lines == "  out[2]: expected 0x3, got 0xffff\n");
}

TEST_CASE("one NaN is as good as another, but minus zero is not zero") {
  const float nan = std::numeric_limits<float>::quiet_NaN();

  CHECK(compare_values<float>(Scalar::Float, {nan}, {-nan}).count == 0);
  CHECK(compare_values<float>(Scalar::Float, {0.0F}, {-0.0F}).count == 1);
}

}  // namespace pewter::fuzz
