#include <doctest/doctest.h>
#include <pewter/mps.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "tests/api/mps_support.h"

using namespace pewter;
using namespace pewter::test;
using mps::compile_shader;

namespace {

constexpr const char* kCount = R"(
kernel void count(device int* x, constant long* unused, uint3 i [[thread_position_in_grid]],
                  uint3 size [[threads_per_grid]]) {
  x[(i.z * size.y + i.y) * size.x + i.x] += 1 + int(unused[0]);
})";

const std::vector<std::int64_t> kZero = {0};

array int_zeros(std::size_t count) {
  return array(std::vector<std::int32_t>(count, 0));
}

// How many of the first elements were counted once; -1 when any other element changed.
int covered(const array& x) {
  const std::vector<std::int32_t> values = x.to_vector<std::int32_t>();
  std::size_t count = 0;
  while (count < values.size() && values[count] == 1) {
    ++count;
  }
  for (std::size_t i = count; i < values.size(); ++i) {
    if (values[i] != 0) {
      return -1;
    }
  }
  return static_cast<int>(count);
}

}  // namespace

TEST_CASE("mps 21: by default there are as many threads as the first array has elements") {
  const mps::Kernel kernel = compile_shader(R"(
    kernel void mark(constant float& first, device int* x, device int* y,
                     uint i [[thread_position_in_grid]]) {
      x[i] += int(first);
    })")
                                 .kernel("mark");
  const array memory = int_zeros(40);
  kernel({1.0, memory.slice(0, 12), int_zeros(40)});
  CHECK(covered(memory) == 12);
}

TEST_CASE("mps 21: an array of rank 0 on the host counts as the first array") {
  const mps::Kernel kernel = compile_shader(R"(
    kernel void mark(constant int& value, device int* x, uint i [[thread_position_in_grid]]) {
      x[i] += value;
    })")
                                 .kernel("mark");
  const array x = int_zeros(8);
  kernel({array::scalar(std::int32_t{1}), x});
  CHECK(covered(x) == 1);
}

TEST_CASE("mps 21: threads along one, two and three axes cover every index once") {
  const mps::Kernel count = compile_shader(kCount).kernel("count");
  const array x = int_zeros(32);
  count({x, kZero}, {.threads = 5});
  CHECK(covered(x) == 5);
  const array y = int_zeros(32);
  count({y, kZero}, {.threads = {4, 3}});
  CHECK(covered(y) == 12);
  const array z = int_zeros(32);
  count({z, kZero}, {.threads = {4, 3, 2}});
  CHECK(covered(z) == 24);
}

TEST_CASE("mps 21: no axes, four axes, or nothing to count are refused") {
  const mps::Kernel count = compile_shader(kCount).kernel("count");
  const array x = int_zeros(4);
  CHECK_THROWS_AS(count({x, kZero}, {.threads = {1, 1, 1, 1}}), std::runtime_error);
  CHECK_THROWS_AS(count({x, kZero}, {.threads = mps::Extent(std::vector<std::int64_t>())}),
                  std::runtime_error);
  CHECK_THROWS_AS(compile_shader(kFull).kernel("full")({1.0, 2.0}), std::runtime_error);
  CHECK_THROWS_AS(count({std::vector<array>{x}, kZero}), std::runtime_error);
  CHECK(covered(x) == 0);
}

TEST_CASE("mps 21: no threads along an axis run nothing, and negative ones are refused") {
  const mps::Kernel count = compile_shader(kCount).kernel("count");
  const array x = int_zeros(4);
  count({x, kZero}, {.threads = 0});
  count({x, kZero}, {.threads = {4, 0}});
  count({x.slice(2, 2), kZero});
  CHECK_THROWS_AS(count({x, kZero}, {.threads = -1}), std::invalid_argument);
  CHECK_THROWS_AS(count({x, kZero}, {.threads = {1, -1}}), std::invalid_argument);
  CHECK(covered(x) == 0);
}

TEST_CASE("mps 22: groups are at most as large as the kernel allows") {
  const mps::Kernel count = compile_shader(kCount).kernel("count");
  const array x = int_zeros(16);
  const auto max = static_cast<std::int64_t>(count.max_threads_per_threadgroup());
  REQUIRE(max == 1024);
  CHECK(thrown_text<std::invalid_argument>([&] {
          count({x, kZero}, {.group_size = max + 1});
        }).find("1024") != std::string::npos);
  CHECK_THROWS_AS(count({x, kZero}, {.threads = {4, 4}, .group_size = {32, 64}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(count({x, kZero}, {.threads = {4, 4, 1}, .group_size = {1LL << 62, 4, 4}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(count({x, kZero}, {.threads = {4, 4}, .group_size = 4}), std::runtime_error);
  CHECK_THROWS_AS(count({x, kZero}, {.group_size = {4, 1}}), std::runtime_error);
  CHECK_THROWS_AS(count({x, kZero}, {.group_size = 0}), std::invalid_argument);
  CHECK_THROWS_AS(count({x, kZero}, {.group_size = -4}), std::invalid_argument);
  CHECK(covered(x) == 0);
}

TEST_CASE("mps 22: a group size that does not divide the threads covers exactly these") {
  const mps::Kernel count = compile_shader(kCount).kernel("count");
  const array x = int_zeros(40);
  count({x, kZero}, {.threads = 16, .group_size = 7});
  CHECK(covered(x) == 16);
  const array y = int_zeros(40);
  count({y, kZero}, {.threads = {5, 7}, .group_size = {3, 2}});
  CHECK(covered(y) == 35);
  const array z = int_zeros(40);
  count({z, kZero}, {.threads = 33, .group_size = 1024});
  CHECK(covered(z) == 33);
}

TEST_CASE("mps 23: an array on the host must have rank 0") {
  const mps::Kernel full = compile_shader(kFull).kernel("full");
  const array x = zeros(4);
  const array host(std::vector<float>{1, 2}, Placement::Host);
  CHECK_THROWS_AS(full({x, host}), std::runtime_error);
  CHECK_THROWS_AS(full({host, 1.0}), std::runtime_error);
  CHECK_THROWS_AS(full({std::vector<array>{host}, x}), std::runtime_error);
  CHECK(x.to_vector<float>() == std::vector<float>(4, 0.0F));
  full({x, array::scalar(1.5F)});
  CHECK(x.to_vector<float>() == std::vector<float>(4, 1.5F));
}

TEST_CASE("mps 23: texts and other values are no arguments") {
  static_assert(!std::is_convertible_v<const char*, mps::Argument>);
  static_assert(!std::is_convertible_v<std::string, mps::Argument>);
  static_assert(!std::is_convertible_v<std::nullptr_t, mps::Argument>);
  static_assert(!std::is_convertible_v<std::complex<float>, mps::Argument>);
  static_assert(!std::is_convertible_v<std::vector<std::string>, mps::Argument>);
  CHECK(std::get<std::int64_t>(mps::Argument(true).value()) == 1);
}

TEST_CASE("mps 23: a buffer that the kernel uses must be covered by an argument") {
  const mps::Kernel full = compile_shader(kFull).kernel("full");
  const array x = zeros(4);
  const std::string error = thrown_text<std::runtime_error>([&] { full({x}); });
  CHECK(error.find("buffer index 1") != std::string::npos);
  CHECK(x.to_vector<float>() == std::vector<float>(4, 0.0F));
  full({x, 1.0, 2, 3.0, x});
  CHECK(x.to_vector<float>() == std::vector<float>(4, 1.0F));
}

TEST_CASE("a whole number that does not fit in 8 signed bytes is refused") {
  CHECK_THROWS_AS(mps::Argument(~0ULL), std::runtime_error);
  CHECK_NOTHROW(mps::Argument(~0ULL >> 1));
}

TEST_CASE("whole numbers are bound as 8 bytes and floats as 4") {
  const mps::Kernel kernel = compile_shader(R"(
    kernel void read(device long* out, constant long& number, constant float& real,
                     constant bool& truth) {
      out[0] = number;
      out[1] = long(real * 4);
      out[2] = truth;
    })")
                                 .kernel("read");
  const array out = array::empty({3}, Dtype::Int64);
  kernel({out, -(1LL << 40), 0.25F, true}, {.threads = 1});
  CHECK(out.to_vector<std::int64_t>() == std::vector<std::int64_t>{-(1LL << 40), 1, 1});
}
