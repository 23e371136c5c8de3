#include "tests/compiler/spmd/shared_code.h"

// Checks for overflow, which LLVM makes into operations of their own, that say both what the result
// is and whether it overflowed.

namespace pewter {
namespace {

using test::check_shared;
using test::kHead;
using test::uint;
using test::ulong;
using test::ushort;

// clang-format off
PEWTER_SHARED(uint, divided_product, (uint i, uint x), {
  uint y = (x >> 16) + i % 5;
  uint product = x * y;
  if (y != 0 && product / y != x) return 0xffffffffu;
  return product + 1;
})

PEWTER_SHARED(uint, largest_quotient, (uint i, uint x), {
  ushort y = ushort(x >> (i % 16));
  uint z = x ^ (i * 77u);
  if (y != 0 && z > 0xffffffffu / y) return i;
  return z * y;
})

PEWTER_SHARED(uint, widened_product, (uint i, uint x), {
  ulong product = ulong(x) * (i * 3u + 1u);
  return product > 0xffffffffu ? 77u : uint(product);
})

PEWTER_SHARED(uint, divided_product_of_long, (uint i, uint x), {
  ulong a = ulong(x) * x;
  ulong b = ulong(x) << (i % 32);
  ulong product = a * b;
  return b != 0 && product / b != a ? i + 5u : uint(product >> 7);
})

PEWTER_SHARED(uint, widened_signed_product, (uint i, uint x), {
  int a = int(x);
  int b = int(i) - 17;
  long product = long(a) * b;
  return product != long(int(product)) ? 99u : uint(product);
})

PEWTER_SHARED(uint, in_a_divergent_loop, (uint i, uint x), {
  uint result = 1;
  for (uint k = 0; k < (i & 15); ++k) {
    uint factor = (x >> k & 7) + k;
    uint next = result * factor;
    if (factor != 0 && next / factor != result) break;
    result = next + 1;
  }
  return result;
})

PEWTER_SHARED(uint, carried_sum, (uint i, uint x), {
  uint sum = x + (x ^ i * 2654435761u);
  uint carry = sum < x ? 1u : 0u;
  uint difference = sum - i * 99u;
  uint borrow = sum < i * 99u ? 1u : 0u;
  return difference + carry * 3u + borrow * 5u;
})
// clang-format on

}  // namespace

TEST_CASE("checks for overflow mean what they say") {
  check_shared(divided_product_text, "divided_product", divided_product);
  check_shared(largest_quotient_text, "largest_quotient", largest_quotient);
  check_shared(widened_product_text, "widened_product", widened_product);
  check_shared(divided_product_of_long_text, "divided_product_of_long", divided_product_of_long);
  check_shared(widened_signed_product_text, "widened_signed_product", widened_signed_product);
  check_shared(in_a_divergent_loop_text, "in_a_divergent_loop", in_a_divergent_loop);
  check_shared(carried_sum_text, "carried_sum", carried_sum);
}

TEST_CASE("checks for overflow run on lanes") {
  for (const std::string type : {"uint", "ulong", "ushort", "uint4"}) {
    const bool is_vector = type == "uint4";
    const std::string source = kHead + "kernel void f(device const " + type +
                               "* x [[buffer(0)]], device " + type +
                               "* y [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n  " +
                               type + " a = x[i], b = y[i], product = a * b;\n  y[i] = " +
                               (is_vector ? "select(product, a, b != 0 && product / b != a)"
                                          : "b != 0 && product / b != a ? a : product") +
                               ";\n}\n";
    CAPTURE(type);
    CHECK(test::vectorised(source)->explanation.fallback.empty());
  }
}

}  // namespace pewter
