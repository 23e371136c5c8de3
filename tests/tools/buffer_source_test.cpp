#include "tools/buffer_source.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "tools/failure.h"
#include "tools/statistics.h"

namespace pewter::tools {
namespace {

template <typename T>
std::vector<T> content(const std::string& text, std::uint64_t seed = 0) {
  const BufferSource source = parse_buffer_source(text, seed);
  std::vector<T> values(source.byte_count / sizeof(T));
  source.fill(std::as_writable_bytes(std::span(values)));
  return values;
}

TEST_CASE("generators fill every element") {
  CHECK(content<float>("zeros:f32:3") == std::vector<float>{0, 0, 0});
  CHECK(content<std::int16_t>("ones:i16:2") == std::vector<std::int16_t>{1, 1});
  CHECK(content<std::uint32_t>("range:uint:4") == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(content<float>("fill:float:2:-1.5") == std::vector<float>{-1.5f, -1.5f});
  CHECK(content<int>("values:int:3,-1,4") == std::vector<int>{3, -1, 4});
}

TEST_CASE("shapes of several dimensions and vector types multiply") {
  const BufferSource source = parse_buffer_source("zeros:float3:4x2", 0);

  CHECK(source.shape == std::vector<std::uint64_t>{4, 2});
  CHECK(source.byte_count == 4 * 2 * 16);
}

TEST_CASE("random numbers are spread over their range and repeat with the seed") {
  const auto numbers = content<float>("random:f32:64K", 7);
  const Statistics found = statistics(Element::Float, std::as_bytes(std::span(numbers)));

  CHECK(found.minimum >= 0);
  CHECK(found.maximum <= 1);
  CHECK(found.mean == doctest::Approx(0.5).epsilon(0.01));
  CHECK(numbers == content<float>("random:f32:64K", 7));
  CHECK(numbers != content<float>("random:f32:64K", 8));
}

TEST_CASE("whole random numbers lie in the range that is given") {
  auto numbers = content<int>("random:int:1000:-5:6");
  const auto [least, greatest] = std::minmax_element(numbers.begin(), numbers.end());

  CHECK(*least == -5);
  CHECK(*greatest == 5);
}

TEST_CASE("normal numbers have mean 0 and deviation 1") {
  const auto numbers = content<float>("normal:f32:64K");
  const Statistics found = statistics(Element::Float, std::as_bytes(std::span(numbers)));

  CHECK(found.mean == doctest::Approx(0).epsilon(0.02));
  CHECK(found.standard_deviation == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("malformed sources are refused with the form that is expected") {
  CHECK_THROWS_WITH_AS(parse_buffer_source("zeros:f32", 0),
                       "buffer 'zeros:f32' is not of the form zeros:TYPE:SHAPE", UsageError);
  CHECK_THROWS_AS(parse_buffer_source("fill:f32:4", 0), UsageError);
  CHECK_THROWS_AS(parse_buffer_source("random:f32:4:1", 0), UsageError);
  CHECK_THROWS_AS(parse_buffer_source("random:f32:4:2:1", 0), UsageError);
  CHECK_THROWS_AS(parse_buffer_source("values:int:1,x", 0), UsageError);
  CHECK_THROWS_AS(parse_buffer_source("", 0), UsageError);
  CHECK_THROWS_WITH_AS(parse_buffer_source("randm:f32:4", 0),
                       doctest::Contains("did you mean 'random'?"), UsageError);
}

TEST_CASE("a buffer too large for 64 bits is refused") {
  CHECK_THROWS_AS(parse_buffer_source("zeros:f32:4611686018427387904", 0), UsageError);
}

TEST_CASE("a missing file is named") {
  CHECK_THROWS_WITH_AS(parse_buffer_source("/no/such/file.npy", 0),
                       "cannot read '/no/such/file.npy': no such file", CommandError);
}

}  // namespace
}  // namespace pewter::tools
