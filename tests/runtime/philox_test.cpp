#include "pewter/runtime/philox.h"

#include <doctest/doctest.h>

using pewter::runtime::advanced;
using pewter::runtime::philox;
using pewter::runtime::PhiloxCounter;

TEST_CASE("Philox gives the words that its authors publish") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) ==
        PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0U, ~0U, ~0U, ~0U}, {~0U, ~0U}) ==
        PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a counter carries from word to word and wraps at 128 bits") {
  CHECK(advanced({1, 1, 1, 1}, 5) == PhiloxCounter{6, 1, 1, 1});
  CHECK(advanced({~0U, 1, 1, 1}, 1) == PhiloxCounter{0, 2, 1, 1});
  CHECK(advanced({1, 0, 7, 7}, ~0ULL) == PhiloxCounter{0, 0, 8, 7});
  CHECK(advanced({~0U, ~0U, ~0U, ~0U}, 1) == PhiloxCounter{0, 0, 0, 0});
  CHECK(advanced({3, 0, 0, 0}, 2ULL << 32) == PhiloxCounter{3, 2, 0, 0});
}
