#include <doctest/doctest.h>
#include <pewter/errors.h>
#include <pewter/host_array.h>
#include <pewter/unified_buffer.h>

#include <complex>
#include <limits>
#include <utility>

#include "tests/api/backend/backend_support.h"

using namespace pewter::backend;
using pewter::Dtype;
using pewter::Float16;
using pewter::Shape;
using pewter::Strides;
using pewter::test::counted;

TEST_CASE("NumPy's names for types are known, in either order of bytes") {
  CHECK(host_dtype_named("float64") == HostDtype::Float64);
  CHECK(host_dtype_named("double") == HostDtype::Float64);
  CHECK(host_dtype_named("<f4") == HostDtype::Float32);
  CHECK(host_dtype_named(">i8") == HostDtype::Int64);
  CHECK(host_dtype_named("?") == HostDtype::Bool);
  CHECK(host_dtype_named("c16") == HostDtype::Complex128);
  const std::pair<const char*, HostDtype> names[] = {
      {"e", HostDtype::Float16},         {"f", HostDtype::Float32},
      {"d", HostDtype::Float64},         {"F", HostDtype::Complex64},
      {"D", HostDtype::Complex128},      {"b", HostDtype::Int8},
      {"B", HostDtype::UInt8},           {"h", HostDtype::Int16},
      {"H", HostDtype::UInt16},          {"i", HostDtype::Int32},
      {"I", HostDtype::UInt32},          {"l", HostDtype::Int64},
      {"L", HostDtype::UInt64},          {"q", HostDtype::Int64},
      {"Q", HostDtype::UInt64},          {"<e", HostDtype::Float16},
      {">l", HostDtype::Int64},          {"|b1", HostDtype::Bool},
      {"long", HostDtype::Int64},        {"ulong", HostDtype::UInt64},
      {"longlong", HostDtype::Int64},    {"intp", HostDtype::Int64},
      {"uintp", HostDtype::UInt64},      {"int_", HostDtype::Int64},
      {"bool_", HostDtype::Bool},        {"float", HostDtype::Float64},
      {"complex", HostDtype::Complex128}};
  for (const auto& [name, dtype] : names) {
    CAPTURE(name);
    CHECK(host_dtype_named(name) == dtype);
  }
  CHECK_FALSE(host_dtype_named("<long"));
  CHECK_FALSE(host_dtype_named("float128"));
  CHECK_FALSE(host_dtype_named("l q"));
  CHECK_FALSE(host_dtype_named("nope"));
  CHECK_FALSE(host_dtype_named(""));
  CHECK_FALSE(host_dtype_named("<float32"));
}

TEST_CASE("each C++ type has the type of its name") {
  CHECK(kHostDtypeOf<bool> == HostDtype::Bool);
  CHECK(kHostDtypeOf<std::int64_t> == HostDtype::Int64);
  CHECK(kHostDtypeOf<Float16> == HostDtype::Float16);
  CHECK(kHostDtypeOf<float> == HostDtype::Float32);
  CHECK(kHostDtypeOf<double> == HostDtype::Float64);
  CHECK(kHostDtypeOf<std::complex<float>> == HostDtype::Complex64);
  CHECK(device_dtype(HostDtype::Float64) == Dtype::Float32);
  CHECK_FALSE(device_dtype(HostDtype::Complex128));
  CHECK(host_dtype(Dtype::BFloat16) == HostDtype::Float32);
  CHECK(host_dtype(Dtype::Float32) == HostDtype::Float32);
}

TEST_CASE("handles and views share their elements, copies do not") {
  const HostArray x(counted<double>(6), {2, 3});
  const HostArray copy = x.copy();
  x.transposed().at<double>({2, 1}) = -1;

  CHECK(x.at<double>({1, 2}) == -1);
  CHECK(x.at<double>({-1, -1}) == -1);
  CHECK(copy.at<double>({1, 2}) == 5);
  CHECK(x.transposed().copy().to_vector<double>() == std::vector<double>{0, 3, 1, 4, 2, -1});
}

TEST_CASE("host arrays are made of spans of any kind, and take them") {
  std::vector<double> values = {1, 2, 3, 4};
  const std::span<double> changeable(values);
  const std::span<const double, 4> sized(values);

  CHECK(HostArray(changeable, {2, 2}).at<double>({1, 0}) == 3);
  CHECK(HostArray(sized).shape() == Shape{4});
  CHECK(HostArray(changeable) == HostArray(values));

  const HostArray x = HostArray::zeros({2, 2}, HostDtype::Float64);
  UnifiedBuffer<float> buffer(Shape{2, 2});
  x.write(changeable);
  buffer.write(sized);
  CHECK(x.to_vector<double>() == values);
  CHECK(buffer[{1, 1}] == 4);
  CHECK_THROWS_AS(x.write(changeable.first(3)), std::invalid_argument);
}

TEST_CASE("an array that is assigned or moved to itself stays what it is") {
  HostArray values{1.0F, 2.0F, 3.0F};
  HostArray& same = values;

  values = same;
  values = std::move(same);

  CHECK(values == HostArray{1.0F, 2.0F, 3.0F});
}

TEST_CASE("slices take steps and negative positions as Python does") {
  const HostArray x(counted<std::int32_t>(10));
  using Values = std::vector<std::int32_t>;
  CHECK(x.slice(2, 8, 0, 3).copy().to_vector<std::int32_t>() == Values{2, 5});
  CHECK(x.slice(-3, 100).copy().to_vector<std::int32_t>() == Values{7, 8, 9});
  CHECK(x.slice(8, 2, 0, -3).copy().to_vector<std::int32_t>() == Values{8, 5});
  CHECK(x.slice(100, -100, 0, -4).copy().to_vector<std::int32_t>() == Values{9, 5, 1});
  CHECK(x.slice(5, 5).size() == 0);
  CHECK_THROWS_AS(x.slice(0, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(x.slice(0, 1, 0, 0), std::invalid_argument);
}

TEST_CASE("what is assigned may have axes of length 1 in front, as for np.copyto") {
  const HostArray row(std::vector<float>{1, 2, 3}, {1, 1, 3});
  const HostArray x = HostArray::zeros({3}, HostDtype::Float32);
  x.assign(row);
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3});
  x.assign(HostArray(std::vector<float>{7}, {1, 1}));
  CHECK(x.to_vector<float>() == std::vector<float>{7, 7, 7});

  UnifiedBuffer<float> buffer(3);
  buffer.copy_from(row);
  CHECK(buffer[2] == 3);
  CHECK_THROWS_AS(x.assign(HostArray::zeros({2, 3}, HostDtype::Float32)), std::invalid_argument);
  CHECK_THROWS_AS(HostArray::scalar(1.0F).assign(x), std::invalid_argument);
}

TEST_CASE("assignments broadcast and convert within the kind") {
  const HostArray x = HostArray::zeros({2, 3}, HostDtype::Float32);
  x.assign(HostArray{1, 2, 3});
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 1, 2, 3});
  x.assign(HostArray(std::vector<double>{4, 5}, {2, 1}));
  CHECK(x.to_vector<float>() == std::vector<float>{4, 4, 4, 5, 5, 5});

  CHECK_THROWS_AS(x.assign(HostArray{1, 2}), std::invalid_argument);
  CHECK_THROWS_AS(x.assign(HostArray({2, 1, 2, 3}, HostDtype::Float32)), std::invalid_argument);
  CHECK_THROWS_AS(x.assign(HostArray::scalar(std::complex<float>(1, 1))), pewter::TypeError);
  CHECK_THROWS_AS(HostArray::zeros({1}, HostDtype::UInt8).assign(HostArray{1}), pewter::TypeError);
  CHECK(x.to_vector<float>() == std::vector<float>{4, 4, 4, 5, 5, 5});
}

TEST_CASE("an array can be assigned to a view of itself") {
  const HostArray x(counted<std::int32_t>(4));
  x.assign(x.slice(10, -10, 0, -1));
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{3, 2, 1, 0});
}

TEST_CASE("every type converts to every other, out of range too") {
  for (int from = 0; from <= static_cast<int>(HostDtype::Complex128); ++from) {
    for (int to = 0; to <= static_cast<int>(HostDtype::Complex128); ++to) {
      const HostArray one = HostArray::scalar(1).astype(static_cast<HostDtype>(from));
      CHECK(one.astype(static_cast<HostDtype>(to)).to_vector<double>() == std::vector<double>{1});
    }
  }
  const HostArray wild{1e300, -1e300, std::numeric_limits<double>::quiet_NaN()};
  CHECK(wild.astype(HostDtype::Int32).size() == 3);
  CHECK(HostArray{1.8e19}.to_vector<std::uint64_t>()[0] == 18000000000000000000ULL);
}

TEST_CASE("wrong counts, types and positions are refused") {
  CHECK_THROWS_AS(HostArray(counted<float>(5), {2, 3}), std::invalid_argument);
  CHECK_THROWS_AS(HostArray({-1}, HostDtype::Float32), std::invalid_argument);
  const HostArray x(counted<float>(6), {2, 3});
  CHECK_THROWS_AS(x.data<double>(), pewter::TypeError);
  CHECK_THROWS_AS(x.at<float>({2, 0}), std::out_of_range);
  CHECK_THROWS_AS(x.at<float>({0}), std::out_of_range);
  CHECK_THROWS_AS(x.transposed().values<float>(), std::invalid_argument);
}

TEST_CASE("steps as large as their type can count take what Python's do") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const HostArray x(counted<float>(6));
  CHECK(x.slice(1, 6, 0, kMost) == HostArray{1.0F});
  CHECK(x.slice(4, kLeast, 0, kLeast) == HostArray{4.0F});
  CHECK(x.slice(kLeast, kMost, 0, 4) == HostArray{0.0F, 4.0F});
}

TEST_CASE("complex numbers are true when either part is") {
  const HostArray x{std::complex<float>(0, 1), std::complex<float>(0, 0),
                    std::complex<float>(2, 0)};
  CHECK(x.astype(HostDtype::Bool) == HostArray{true, false, true});
}

TEST_CASE("the caller's memory may be assigned to itself") {
  std::vector<float> memory = {1, 2, 3, 4};
  const HostArray x = HostArray::wrap(memory.data(), {4});
  x.slice(1, 4).assign(x.slice(0, 3));
  CHECK(memory == std::vector<float>{1, 1, 2, 3});
  const HostArray owned(counted<float>(4));
  owned.assign(HostArray::wrap(owned.data<float>(), {4}).slice(3, -5, 0, -1));
  CHECK(owned == HostArray{3.0F, 2.0F, 1.0F, 0.0F});
}

TEST_CASE("the caller's memory can be seen as an array") {
  std::vector<float> memory = {1, 2, 3};
  const HostArray x = HostArray::wrap(memory.data(), {3});
  x.at<float>({0}) = 7;
  CHECK(memory[0] == 7);
  CHECK(x == HostArray{7.0F, 2.0F, 3.0F});
  CHECK_FALSE(x == HostArray{7.0F, 2.0F});
}
