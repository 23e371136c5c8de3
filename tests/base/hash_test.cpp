#include "pewter/base/hash.h"

#include <doctest/doctest.h>

#include <bit>
#include <set>
#include <string>
#include <vector>

namespace pewter {
namespace {

Digest digest_of(const std::string& text) {
  return Hasher().add(text).digest();
}

int distance(const Digest& a, const Digest& b) {
  return std::popcount(a.high ^ b.high) + std::popcount(a.low ^ b.low);
}

TEST_CASE("equal content has equal digests") {
  CHECK(digest_of("kernel") == digest_of("kernel"));
}

TEST_CASE("the digest is written as 32 lower-case hexadecimal digits") {
  const std::string hex = digest_of("kernel").hex();

  CHECK(hex.size() == 32);
  CHECK(hex.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(Digest{0x1, 0xf}.hex() == "0000000000000001000000000000000f");
}

TEST_CASE("the border between fields counts") {
  const Digest first = Hasher().add("ab").add("c").digest();
  const Digest second = Hasher().add("a").add("bc").digest();
  const Digest empty_last = Hasher().add("abc").add("").digest();

  CHECK(first != second);
  CHECK(first != empty_last);
  CHECK(second != empty_last);
}

TEST_CASE("trailing zero bytes count") {
  CHECK(digest_of(std::string("a")) != digest_of(std::string("a\0", 2)));
  CHECK(digest_of("") != digest_of(std::string(1, '\0')));
  CHECK(digest_of("") != digest_of(std::string(8, '\0')));
}

TEST_CASE("the order of fields counts") {
  CHECK(Hasher().add(1).add(2).digest() != Hasher().add(2).add(1).digest());
}

TEST_CASE("one changed bit changes about half of the digest, wherever it is") {
  const std::string text(40, 'x');
  const Digest original = digest_of(text);

  for (std::size_t position = 0; position < text.size(); ++position) {
    std::string changed = text;
    changed[position] = static_cast<char>(changed[position] ^ 1);
    CAPTURE(position);
    CHECK(distance(original, digest_of(changed)) > 32);
  }
}

TEST_CASE("a hundred thousand texts of all lengths have different digests") {
  std::set<std::string> seen;
  for (int i = 0; i < 100000; ++i) {
    seen.insert(
        digest_of(std::string(static_cast<std::size_t>(i % 37), 'a') + std::to_string(i)).hex());
  }
  CHECK(seen.size() == 100000);
}

TEST_CASE("text and the same bytes have the same digest") {
  const std::string text = "vector_add";
  CHECK(Hasher().add(text).digest() == Hasher().add(std::as_bytes(std::span(text))).digest());
}

}  // namespace
}  // namespace pewter
