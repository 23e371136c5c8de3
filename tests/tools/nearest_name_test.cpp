#include "tools/nearest_name.h"

#include <doctest/doctest.h>

namespace pewter::tools {
namespace {

TEST_CASE("a slip of the finger finds the name that was meant") {
  CHECK(nearest_name("vecotr_add", {"vector_add", "vector_mul", "reduce"}) == "vector_add");
  CHECK(nearest_name("Saxpy", {"copy", "saxpy"}) == "saxpy");
}

TEST_CASE("another word altogether finds nothing") {
  CHECK(nearest_name("mandelbrot", {"reduce", "copy"}).empty());
  CHECK(nearest_name("a", {"b"}).empty());
}

TEST_CASE("a suggestion falls back to the list of names") {
  CHECK(suggestion("sum2", {"sum", "product"}) == "; did you mean 'sum'?");
  CHECK(suggestion("mandelbrot", {"copy", "sum"}) == "; there are 'copy', 'sum'");
  CHECK(suggestion("mandelbrot", {"sum"}) == "; there is 'sum'");
  CHECK(suggestion("mandelbrot", {}).empty());
}

TEST_CASE("a long list is cut") {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) {
    names.push_back("kernel_" + std::to_string(i));
  }
  CHECK(suggestion("x", names).ends_with("'kernel_11' and 8 more"));
}

}  // namespace
}  // namespace pewter::tools
