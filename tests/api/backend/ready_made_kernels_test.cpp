#include <doctest/doctest.h>
#include <pewter/metal_backend.h>
#include <pewter/ops.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/api/backend/backend_support.h"

using namespace pewter::backend;
using pewter::array;
using pewter::Dtype;
using pewter::Shape;

namespace {

using Floats = std::vector<float>;

Floats run(const char* operation, const Value& a) {
  return (*get_elementwise_kernel(operation))(a).as_array().to_vector<float>();
}

Floats run(const char* operation, const Value& a, const Value& b) {
  return (*get_elementwise_kernel(operation))(a, b).as_array().to_vector<float>();
}

}  // namespace

TEST_CASE("backend 15: vectors are added and matrices multiplied") {
  const Kernel add = *get_vector_add_kernel();
  CHECK(add(array{1.0F, 2.0F, 3.0F}, array{4.0F, 5.0F, 6.0F}).as_array().to_vector<float>() ==
        Floats{5, 7, 9});

  const Kernel multiply = *get_matrix_multiply_kernel();
  const array product =
      multiply(array({{1.0F, 2.0F}, {3.0F, 4.0F}}), array({{5.0F, 6.0F}, {7.0F, 8.0F}}));
  CHECK(product.shape() == Shape{2, 2});
  CHECK(product.to_vector<float>() == Floats{19, 22, 43, 50});
  CHECK(multiply(array{1.0F, 2.0F}, array{3.0F, 4.0F}).as_array().item<float>() == 11);
  CHECK_THROWS_AS(multiply(array{1.0F, 2.0F}, array{1.0F, 2.0F, 3.0F}), std::invalid_argument);
}

TEST_CASE("backend 15: each operation does what its name says") {
  const array x{1.0F, 4.0F, 9.0F};
  CHECK(run("sqrt", x) == Floats{1, 2, 3});
  CHECK(run("negative", array{1.0F, -2.0F, 3.0F}) == Floats{-1, 2, -3});
  CHECK(run("square", x) == Floats{1, 16, 81});
  CHECK(run("abs", array{-1.5F, 2.0F}) == Floats{1.5F, 2});
  CHECK(run("sub", x, array{1.0F, 1.0F, 1.0F}) == Floats{0, 3, 8});
  CHECK(run("mul", x, 2) == Floats{2, 8, 18});
  CHECK(run("div", 9, array{2.0F, 3.0F}) == Floats{4.5F, 3});
  CHECK(run("exp", array{1.0F})[0] == doctest::Approx(std::exp(1.0)).epsilon(1e-5));
  CHECK(run("sin", array{1.0F})[0] == doctest::Approx(std::sin(1.0)).epsilon(1e-5));
  CHECK(run("cos", array{1.0F})[0] == doctest::Approx(std::cos(1.0)).epsilon(1e-5));
  CHECK(run("log", array{2.0F})[0] == doctest::Approx(std::log(2.0)).epsilon(1e-5));
}

TEST_CASE("backend 15: whole numbers become fractions where they must, and ends are kept") {
  CHECK(run("div", array{1, 2}, array{2, 4}) == Floats{0.5F, 0.5F});
  for (const char* operation : {"sqrt", "exp", "log", "sin", "cos"}) {
    CAPTURE(operation);
    CHECK((*get_elementwise_kernel(operation))(array{1, 2}).as_array().dtype() == Dtype::Float32);
  }
  CHECK(std::isnan(run("sqrt", array{-1.0F})[0]));
  CHECK(std::isnan(run("log", array{-1.0F})[0]));
  CHECK(run("log", array{0.0F})[0] == -INFINITY);
}

TEST_CASE("backend 15: whole numbers keep their digits and wrap around to the array's type") {
  const Kernel add = *get_vector_add_kernel();
  const array bytes(std::vector<std::uint8_t>{5, 200});
  CHECK(add(bytes, -1).as_array().to_vector<std::uint8_t>() == std::vector<std::uint8_t>{4, 199});
  CHECK(add(5000000000LL, 1).as_array().item<std::int64_t>() == 5000000001LL);
  CHECK(add(array{0.0F}, UINT64_MAX).as_array().item<float>() == 0x1p64F);
}

TEST_CASE("backend 15: all names are known as they are written, and no others") {
  for (const char* name : {"add", "sub", "mul", "div", "sqrt", "exp", "log", "sin", "cos", "abs",
                           "square", "negative"}) {
    CAPTURE(name);
    CHECK(get_elementwise_kernel(name).has_value());
  }
  for (const char* name : {"SQRT", "", "invalid_operation", "sqrt "}) {
    CAPTURE(name);
    CHECK_FALSE(get_elementwise_kernel(name).has_value());
  }
}

TEST_CASE(
    "backend 15: shapes broadcast, host arrays are taken, results are lazy and unregistered") {
  MetalBackend backend;
  const Kernel add = *get_vector_add_kernel();
  const array sum = add(array{1.0F, 2.0F, 3.0F}, array({{1.0F}, {2.0F}, {3.0F}}));
  CHECK(sum.shape() == Shape{3, 3});
  CHECK_FALSE(sum.is_available());
  CHECK(add(HostArray{1.0, 2.0}, array{1.0F, 1.0F}).as_array().to_vector<float>() == Floats{2, 3});
  CHECK(add(1, 2.5).as_array().item<float>() == 3.5F);
  CHECK(backend.get_memory_info().buffer_count == 0);
}
