#include "pewter/metal/foundation/string.h"

#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "pewter/base/log.h"
#include "pewter/metal/foundation/autorelease_pool.h"
#include "pewter/metal/foundation/text_encoding.h"

namespace pewter::foundation {
namespace {

std::u16string utf16_units(std::string_view bytes, NS::StringEncoding encoding) {
  bool big_endian = encoding == NS::UTF16BigEndianStringEncoding;
  if (encoding == NS::UTF16StringEncoding && bytes.size() >= 2) {
    // Without a byte order mark the host's order counts.
    const auto first = static_cast<unsigned char>(bytes[0]);
    const auto second = static_cast<unsigned char>(bytes[1]);
    if ((first == 0xfe && second == 0xff) || (first == 0xff && second == 0xfe)) {
      big_endian = first == 0xfe;
      bytes.remove_prefix(2);
    }
  }
  std::u16string units;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    units += static_cast<char16_t>(big_endian ? first << 8 | second : second << 8 | first);
  }
  return units;
}

}  // namespace

bool String::equals(const Object& other) const {
  return other.is(kClass) && static_cast<const String&>(other).text == text;
}

Object* String::copy() const {
  auto* self = const_cast<String*>(this);
  self->retain();
  return self;
}

std::optional<std::string> decode(std::string_view bytes, NS::StringEncoding encoding) {
  switch (encoding) {
    case NS::UTF8StringEncoding:
      if (!is_utf8(bytes)) {
        return std::nullopt;
      }
      return std::string(bytes);
    case NS::ASCIIStringEncoding:
    case NS::NonLossyASCIIStringEncoding:
      // Programs hand over UTF-8 sources as ASCII, and Foundation lets them.
      return is_utf8(bytes) ? std::string(bytes) : latin1_to_utf8(bytes);
    case NS::ISOLatin1StringEncoding:
      return latin1_to_utf8(bytes);
    case NS::UTF16StringEncoding:
    case NS::UTF16BigEndianStringEncoding:
    case NS::UTF16LittleEndianStringEncoding:
      if (bytes.size() % 2 != 0) {
        return std::nullopt;
      }
      return utf16_to_utf8(utf16_units(bytes, encoding));
    default:
      logging::error("metal", "NS::String: encoding {} is not supported", std::size_t{encoding});
      return std::nullopt;
  }
}

NS::String* string(std::string_view text) {
  return autoreleased(make_string(text));
}

Ref<String> make_string(std::string_view text) {
  return make_ref<String>(is_utf8(text) ? std::string(text) : latin1_to_utf8(text));
}

std::string text_of(const NS::String* string, const std::source_location& where) {
  auto* body = impl<String>(string, where);
  return body != nullptr ? body->text : std::string();
}

}  // namespace pewter::foundation

namespace foundation = pewter::foundation;
using Body = pewter::foundation::String;
using foundation::impl;

NS::String* NS::Private::constantString(const char* text, UInteger length) {
  // Neither is ever destroyed: constants are used by destructors of static duration too.
  static auto& mutex = *new std::mutex;
  static auto& strings = *new std::unordered_map<std::string, Body*>;
  std::scoped_lock lock(mutex);
  auto [entry, added] = strings.try_emplace(std::string(text, length));
  if (added) {
    entry->second = foundation::make_string(entry->first).leak();
    entry->second->make_immortal();
  }
  return foundation::handle(entry->second);
}

NS::String* NS::String::string() {
  return foundation::string("");
}

NS::String* NS::String::string(const String* pString) {
  auto* source = impl<Body>(pString);
  return source != nullptr ? foundation::string(source->text) : nullptr;
}

NS::String* NS::String::string(const char* pString, StringEncoding encoding) {
  return alloc()->init(pString, encoding)->autorelease();
}

NS::String* NS::String::alloc() {
  return foundation::handle(foundation::make<Body>());
}

NS::String* NS::String::init() {
  return this;
}

NS::String* NS::String::init(const String* pString) {
  auto* self = impl<Body>(this);
  auto* source = impl<Body>(pString);
  if (self == nullptr || source == nullptr) {
    release();
    return nullptr;
  }
  self->text = source->text;
  return this;
}

NS::String* NS::String::init(const char* pString, StringEncoding encoding) {
  auto* self = impl<Body>(this);
  auto text = pString != nullptr ? foundation::decode(pString, encoding) : std::nullopt;
  if (self == nullptr || !text) {
    release();
    return nullptr;
  }
  self->text = *std::move(text);
  return this;
}

NS::String* NS::String::init(void* pBytes, UInteger len, StringEncoding encoding, bool freeBuffer) {
  auto* self = impl<Body>(this);
  auto text = pBytes != nullptr || len == 0
                  ? foundation::decode({static_cast<const char*>(pBytes), len}, encoding)
                  : std::nullopt;
  if (self == nullptr || !text) {
    release();
    return nullptr;
  }
  self->text = *std::move(text);
  if (freeBuffer) {
    std::free(pBytes);
  }
  return this;
}

NS::unichar NS::String::character(UInteger index) const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return 0;
  }
  const std::u16string units = foundation::utf8_to_utf16(self->text);
  if (index >= units.size()) {
    pewter::logging::error("metal", "NS::String::character: index {} is past the end of {} units",
                           index, units.size());
    return 0;
  }
  return units[index];
}

NS::UInteger NS::String::length() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? foundation::utf16_length(self->text) : 0;
}

const char* NS::String::cString(StringEncoding encoding) const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return nullptr;
  }
  const bool ascii = std::all_of(self->text.begin(), self->text.end(),
                                 [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  const bool same_bytes =
      encoding == UTF8StringEncoding ||
      (ascii && (encoding == ASCIIStringEncoding || encoding == NonLossyASCIIStringEncoding ||
                 encoding == ISOLatin1StringEncoding));
  return same_bytes ? self->text.c_str() : nullptr;
}

const char* NS::String::utf8String() const {
  auto* self = impl<Body>(this);
  return self != nullptr ? self->text.c_str() : nullptr;
}

NS::UInteger NS::String::maximumLengthOfBytes(StringEncoding encoding) const {
  switch (encoding) {
    case UTF8StringEncoding:
      return 3 * length();
    case UTF16StringEncoding:
    case UTF16BigEndianStringEncoding:
    case UTF16LittleEndianStringEncoding:
      return 2 * length();
    case UTF32StringEncoding:
    case UTF32BigEndianStringEncoding:
    case UTF32LittleEndianStringEncoding:
      return 4 * length();
    default:
      return length();
  }
}

NS::UInteger NS::String::lengthOfBytes(StringEncoding encoding) const {
  auto* self = impl<Body>(this);
  if (self == nullptr) {
    return 0;
  }
  switch (encoding) {
    case UTF8StringEncoding:
      return self->text.size();
    case UTF16StringEncoding:
    case UTF16BigEndianStringEncoding:
    case UTF16LittleEndianStringEncoding:
      return 2 * length();
    default:
      return cString(encoding) != nullptr ? self->text.size() : 0;
  }
}

bool NS::String::isEqualToString(const String* pString) const {
  return isEqual(pString);
}

NS::Range NS::String::rangeOfString(const String* pString, StringCompareOptions options) const {
  const Range none(static_cast<UInteger>(NotFound), 0);
  auto* self = impl<Body>(this);
  auto* wanted = impl<Body>(pString);
  if (self == nullptr || wanted == nullptr || wanted->text.empty()) {
    return none;
  }
  std::string text = self->text;
  std::string pattern = wanted->text;
  if ((options & CaseInsensitiveSearch) != 0) {
    const auto lower = [](char byte) {
      return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
    };
    std::transform(text.begin(), text.end(), text.begin(), lower);
    std::transform(pattern.begin(), pattern.end(), pattern.begin(), lower);
  }
  const bool backwards = (options & BackwardsSearch) != 0;
  const std::size_t at = backwards ? text.rfind(pattern) : text.find(pattern);
  const std::size_t anchor =
      backwards && text.size() >= pattern.size() ? text.size() - pattern.size() : 0;
  if (at == std::string::npos || ((options & AnchoredSearch) != 0 && at != anchor)) {
    return none;
  }
  return Range(foundation::utf16_length(std::string_view(text).substr(0, at)),
               foundation::utf16_length(pattern));
}

const char* NS::String::fileSystemRepresentation() const {
  return utf8String();
}

NS::String* NS::String::stringByAppendingString(const String* pString) const {
  auto* self = impl<Body>(this);
  auto* tail = impl<Body>(pString);
  if (self == nullptr || tail == nullptr) {
    return nullptr;
  }
  return foundation::string(self->text + tail->text);
}

NS::ComparisonResult NS::String::caseInsensitiveCompare(const String* pString) const {
  auto* self = impl<Body>(this);
  auto* other = impl<Body>(pString);
  if (self == nullptr || other == nullptr) {
    return OrderedSame;
  }
  const int order = strcasecmp(self->text.c_str(), other->text.c_str());
  return order < 0 ? OrderedAscending : order > 0 ? OrderedDescending : OrderedSame;
}
