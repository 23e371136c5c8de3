#include <doctest/doctest.h>
#include <pewter/array.h>

#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include "pewter/runtime/allocator.h"
#include "tests/support/log_capture.h"

using pewter::array;
using pewter::Dtype;
using pewter::Placement;
using pewter::Shape;
using pewter::Strides;

namespace {

std::vector<std::int32_t> counted(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

}  // namespace

TEST_CASE("an array has the shape and elements that it was made from") {
  const array x(counted(6), Shape{2, 3});
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.strides() == Strides{3, 1});
  CHECK(x.dtype() == Dtype::Int32);
  CHECK(x.size() == 6);
  CHECK(x.nbytes() == 24);
  CHECK(x.placement() == Placement::Device);
  CHECK(x.metal_buffer() != nullptr);
  CHECK(x.to_vector<std::int32_t>() == counted(6));
  CHECK(x.description() == "int32[2, 3]");
}

TEST_CASE("arrays take memory of the allocator, and views and copies of handles none") {
  const std::size_t before = pewter::runtime::allocator().active();
  {
    const array x = array::empty({1024}, Dtype::Float32);
    const std::size_t with = pewter::runtime::allocator().active();
    CHECK(with >= before + 4096);
    const array view = x.slice(1, 5);
    const std::vector<array> again(3, x);
    const array host = x.copy(Placement::Host);
    CHECK(pewter::runtime::allocator().active() == with);
    CHECK(view.metal_buffer() == x.metal_buffer());
    CHECK(host.metal_buffer() == nullptr);
  }
  CHECK(pewter::runtime::allocator().active() == before);
}

TEST_CASE("a slice is an offset into the same memory") {
  const array x(counted(10));
  const array tail = x.slice(4, 10);
  CHECK(tail.offset() == 4);
  CHECK(tail.to_vector<std::int32_t>() == std::vector<std::int32_t>{4, 5, 6, 7, 8, 9});
  tail.data<std::int32_t>()[0] = 40;
  CHECK(x.to_vector<std::int32_t>()[4] == 40);
  CHECK(x.slice(-3, 100).to_vector<std::int32_t>() == std::vector<std::int32_t>{7, 8, 9});
  CHECK(x.slice(1, 8, 0, 3).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 40, 7});
  CHECK(x.slice(6, 2).size() == 0);
  CHECK(x.slice(6, 2).to_vector<std::int32_t>().empty());
}

TEST_CASE("elements of a transposed array are read and written through its strides") {
  const array x(counted(6), Shape{2, 3});
  const array y = x.transposed();
  CHECK(y.shape() == Shape{3, 2});
  CHECK(!y.row_contiguous());
  CHECK(y.to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 3, 1, 4, 2, 5});
  y.write(counted(6));
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 2, 4, 1, 3, 5});
  CHECK(y.copy(Placement::Device).row_contiguous());
  CHECK(x.reshaped({6}).to_vector<std::int32_t>() == x.to_vector<std::int32_t>());
}

TEST_CASE("an array of rank 0 holds one element, an empty one none") {
  const array scalar = array::scalar(2.5F);
  CHECK(scalar.ndim() == 0);
  CHECK(scalar.size() == 1);
  CHECK(scalar.item<float>() == 2.5F);
  CHECK(scalar.placement() == Placement::Host);

  const std::size_t before = pewter::runtime::allocator().active();
  const array empty = array::empty({3, 0}, Dtype::Float32);
  CHECK(empty.size() == 0);
  CHECK(empty.data<float>() == nullptr);
  CHECK(pewter::runtime::allocator().active() == before);
}

TEST_CASE("a number made into an array of a type is exact where the type has it, and wraps else") {
  CHECK(array(9007199254740993LL, Dtype::Int64).item<std::int64_t>() == 9007199254740993LL);
  CHECK(array(UINT64_MAX, Dtype::UInt64).item<std::uint64_t>() == UINT64_MAX);
  CHECK(array(-1, Dtype::UInt32).item<std::uint32_t>() == UINT32_MAX);
  CHECK(array(300, Dtype::UInt8).item<std::uint8_t>() == 44);
  CHECK(array(1e10, Dtype::Int32).item<std::int32_t>() == INT32_MAX);
  CHECK(array(std::complex<float>(1, 2), Dtype::Complex64).item<std::complex<float>>() ==
        std::complex<float>(1, 2));
}

TEST_CASE("doubles become float32, in lists, rows and vectors") {
  CHECK(array({1.5, 2.5}).to_vector<float>() == std::vector<float>{1.5F, 2.5F});
  CHECK(array({{1.0, 2.0}, {3.0, 4.0}}).description() == "float32[2, 2]");
  CHECK(array({{{1.0}, {2.0}}}).description() == "float32[1, 2, 1]");
  CHECK(array(std::vector<double>{1, 2, 3}).description() == "float32[3]");
  CHECK(array(std::vector<double>{1, 2, 3, 4}, Shape{2, 2}).description() == "float32[2, 2]");
}

TEST_CASE("a vector of bools makes an array, a character does not") {
  const std::vector<bool> truths = {true, false, true, true};
  CHECK(array(truths).to_vector<bool>() == truths);
  CHECK(array(truths, Shape{2, 2}).description() == "bool[2, 2]");
  CHECK(!std::is_constructible_v<array, char>);
}

TEST_CASE("memory that the device does not take as it is is copied, without a word in the log") {
  const pewter::test::LogCapture log;
  std::vector<float> values = {0, 1, 2, 3};
  bool is_released = false;
  const array copied =
      array::adopt(values.data() + 1, {3}, Dtype::Float32, [&] { is_released = true; });
  const array without_release = array::adopt(values.data() + 1, {3}, Dtype::Float32, {});
  const array empty = array::adopt(nullptr, {0}, Dtype::Float32, {});
  CHECK(is_released);
  CHECK(copied.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(without_release.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(empty.size() == 0);
  CHECK(log.lines().empty());
}

TEST_CASE("misuse of an array is refused with the reason") {
  CHECK_THROWS_WITH_AS(array::adopt(nullptr, {3}, Dtype::Float32, {}),
                       "[array::adopt] a null pointer for the shape [3], which has 3 elements",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(array(counted(5), Shape{2, 3}),
                       "[array] 5 values for the shape [2, 3], which has 6", std::invalid_argument);
  CHECK_THROWS_WITH_AS(array::empty({2, -1}, Dtype::Bool),
                       "[array] negative length -1 in the shape [2, -1]", std::invalid_argument);
  CHECK_THROWS_AS(array::empty({1LL << 40, 1LL << 40}, Dtype::Bool), std::invalid_argument);
  const array x(counted(6), Shape{2, 3});
  CHECK_THROWS_WITH_AS(x.data<float>(), "[array] the elements are int32, not float32",
                       std::invalid_argument);
  CHECK_THROWS_AS(x.item<std::int32_t>(), std::invalid_argument);
  CHECK_THROWS_AS(x.slice(0, 1, 2), std::invalid_argument);
  CHECK_THROWS_AS(x.slice(0, 1, 0, 0), std::invalid_argument);
  CHECK_THROWS_AS(x.transposed().reshaped({6}), std::invalid_argument);
  CHECK_THROWS_AS(x.reshaped({7}), std::invalid_argument);
  CHECK_THROWS_AS(x.write(counted(5)), std::invalid_argument);
}

TEST_CASE("spans of any kind become arrays and are written to them") {
  std::vector<float> values = {1, 2, 3};
  const std::array<float, 3> fixed = {4, 5, 6};
  const std::span<float> changeable(values);
  const std::span<const float> constant(values);
  const std::span<const float, 3> sized(fixed);

  CHECK(array(changeable, {3}).to_vector<float>() == values);
  CHECK(array(constant, {1, 3}).shape() == Shape{1, 3});
  CHECK(array(sized, {3, 1}).shape() == Shape{3, 1});
  CHECK(array(changeable).shape() == Shape{3});
  CHECK(array(constant, Placement::Host).placement() == Placement::Host);
  const array x(sized);
  CHECK(x.to_vector<float>() == std::vector<float>{4, 5, 6});
  x.write(changeable);
  CHECK(x.to_vector<float>() == values);
  x.write(sized);
  CHECK(x.to_vector<float>() == std::vector<float>{4, 5, 6});
  CHECK_THROWS_AS(x.write(changeable.first(2)), std::invalid_argument);
}

TEST_CASE("whole numbers of 64 bits are rounded once when they become complex") {
  // Halfway between two floats, but for the last bit, which a double does not have.
  for (const std::int64_t number :
       std::vector<std::int64_t>{9007199791611905, -9007199791611905, INT64_MAX}) {
    CAPTURE(number);
    const std::complex<float> expected(static_cast<float>(number), 0);
    CHECK(array(number, Dtype::Complex64).item<std::complex<float>>() == expected);
  }
  const std::uint64_t large = 0x8000008000000001U;
  CHECK(array(large, Dtype::Complex64).item<std::complex<float>>() ==
        std::complex<float>(static_cast<float>(large), 0));
}
