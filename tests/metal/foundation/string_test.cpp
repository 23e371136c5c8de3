#include "pewter/metal/foundation/string.h"

#include <doctest/doctest.h>
#include <algorithm>
#include <vector>

#include <Foundation/Foundation.hpp>
#include <cstdlib>
#include <cstring>

#include "tests/support/log_capture.h"
#include "tests/support/text.h"

namespace pewter::foundation {
namespace {

using test::text;

struct Pool {
  NS::SharedPtr<NS::AutoreleasePool> pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
};

NS::String* utf8(const char* bytes) {
  return NS::String::string(bytes, NS::UTF8StringEncoding);
}

TEST_CASE_FIXTURE(Pool, "length counts UTF-16 units and lengthOfBytes bytes") {
  auto* string = utf8("h\u00e9llo \U0001f600");

  CHECK(string->length() == 8);
  CHECK(string->lengthOfBytes(NS::UTF8StringEncoding) == 11);
  CHECK(string->lengthOfBytes(NS::UTF16StringEncoding) == 16);
  CHECK(string->character(1) == 0xe9);
  CHECK(string->character(6) == 0xd83d);
}

TEST_CASE_FIXTURE(Pool, "bytes that are not UTF-8 give no string") {
  CHECK(utf8("\xff") == nullptr);
  CHECK(utf8("\xc0\x80") == nullptr);
  CHECK(utf8("\xed\xa0\x80") == nullptr);
  CHECK(utf8("\xe2\x82") == nullptr);
}

TEST_CASE_FIXTURE(Pool, "ASCII lets UTF-8 through and reads other bytes as Latin 1") {
  CHECK(text(NS::String::string("\u00a9", NS::ASCIIStringEncoding)) == "\u00a9");
  CHECK(text(NS::String::string("\xa9", NS::ASCIIStringEncoding)) == "\u00a9");
  CHECK(text(NS::String::string("\xa9", NS::ISOLatin1StringEncoding)) == "\u00a9");
}

TEST_CASE_FIXTURE(Pool, "UTF-16 of either byte order is read") {
  const auto read = [](std::vector<char> bytes, NS::StringEncoding encoding) {
    auto* string = NS::String::alloc()->init(bytes.data(), bytes.size(), encoding, false);
    return text(string->autorelease());
  };
  CHECK(read({'A', 0, '\xac', '\x20'}, NS::UTF16LittleEndianStringEncoding) == "A\u20ac");
  CHECK(read({0, 'A', '\x20', '\xac'}, NS::UTF16BigEndianStringEncoding) == "A\u20ac");
  CHECK(read({'\xfe', '\xff', 0, 'A'}, NS::UTF16StringEncoding) == "A");
  CHECK(read({'\x3d', '\xd8', 0, '\xde'}, NS::UTF16LittleEndianStringEncoding) == "\U0001f600");
}

TEST_CASE_FIXTURE(Pool, "an unknown encoding gives no string and says which") {
  test::LogCapture log;
  CHECK(NS::String::string("x", NS::ShiftJISStringEncoding) == nullptr);
  CHECK(log.contains("encoding 8 is not supported"));
}

TEST_CASE_FIXTURE(Pool, "a string can take over its bytes") {
  auto* bytes = static_cast<char*>(std::malloc(3));
  std::copy_n("abc", 3, bytes);

  auto string = NS::TransferPtr(NS::String::alloc()->init(bytes, 3, NS::UTF8StringEncoding, true));

  CHECK(text(string.get()) == "abc");
}

TEST_CASE_FIXTURE(Pool, "equal texts are equal objects with equal hashes") {
  auto* left = utf8("same");
  auto* right = utf8("same");

  CHECK(left != right);
  CHECK(left->isEqualToString(right));
  CHECK(left->hash() == right->hash());
  CHECK_FALSE(left->isEqualToString(utf8("other")));
  CHECK_FALSE(left->isEqualToString(nullptr));
}

TEST_CASE_FIXTURE(Pool, "constants with the same text are one immortal object") {
  CHECK(MTLSTR("constant") == NS::MakeConstantString("constant"));
  CHECK(MTLSTR("constant")->retainCount() == NS::UIntegerMax);
  CHECK(text(MTLSTR("constant")) == "constant");
}

TEST_CASE_FIXTURE(Pool, "a text is found from either end and in any case") {
  auto* string = utf8("\u00e9 Kernel kernel");

  CHECK(string->rangeOfString(utf8("kernel"), 0).Equal(NS::Range(9, 6)));
  CHECK(string->rangeOfString(utf8("KERNEL"), NS::CaseInsensitiveSearch).location == 2);
  CHECK(string->rangeOfString(utf8("ernel"), NS::BackwardsSearch).location == 10);
  CHECK(string->rangeOfString(utf8("Kernel"), NS::AnchoredSearch).location == NS::NotFound);
  CHECK(string->rangeOfString(utf8("none"), 0).location == NS::NotFound);
}

TEST_CASE_FIXTURE(Pool, "strings append and compare without regard to case") {
  CHECK(text(utf8("metal")->stringByAppendingString(utf8("lib"))) == "metallib");
  CHECK(utf8("Abc")->caseInsensitiveCompare(utf8("aBC")) == NS::OrderedSame);
  CHECK(utf8("a")->caseInsensitiveCompare(utf8("B")) == NS::OrderedAscending);
}

TEST_CASE_FIXTURE(Pool, "cString gives ASCII only where the text is") {
  CHECK(std::strcmp(utf8("plain")->cString(NS::ASCIIStringEncoding), "plain") == 0);
  CHECK(utf8("\u00e9")->cString(NS::ASCIIStringEncoding) == nullptr);
}

TEST_CASE_FIXTURE(Pool, "a position past the end is reported") {
  test::LogCapture log;
  CHECK(utf8("ab")->character(2) == 0);
  CHECK(log.contains("index 2 is past the end of 2 units"));
}

}  // namespace
}  // namespace pewter::foundation
