#include "pewter/metal/foundation/url.h"

#include <filesystem>
#include <optional>

#include "pewter/metal/foundation/autorelease_pool.h"
#include "pewter/metal/foundation/string.h"

namespace pewter::foundation {
namespace {

constexpr std::string_view kFileScheme = "file://";

std::optional<unsigned> hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') {
    return letter - '0';
  }
  const char lower = static_cast<char>(letter | 0x20);
  if (lower >= 'a' && lower <= 'f') {
    return lower - 'a' + 10;
  }
  return std::nullopt;
}

/// Replaces %20 and the like; leaves what is not such a sequence alone.
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto high =
        text[at] == '%' && at + 2 < text.size() ? hex_digit(text[at + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[at + 2]) : std::nullopt;
    if (low) {
      decoded += static_cast<char>(*high << 4 | *low);
      at += 2;
    } else {
      decoded += text[at];
    }
  }
  return decoded;
}

/// Relative paths count from the working directory, and stay as they are when that is gone.
std::string absolute(const std::string& path) {
  std::error_code failure;
  const auto full = std::filesystem::absolute(path, failure);
  return failure ? path : full.string();
}

}  // namespace

bool Url::equals(const Object& other) const {
  return other.is(kClass) && description() == other.description();
}

Object* Url::copy() const {
  auto* self = const_cast<Url*>(this);
  self->retain();
  return self;
}

NS::URL* file_url(std::string_view path) {
  auto url = make_ref<Url>();
  url->is_file = true;
  url->path = absolute(std::string(path));
  return autoreleased(std::move(url));
}

}  // namespace pewter::foundation

namespace foundation = pewter::foundation;
using Body = foundation::Url;
using foundation::impl;

NS::URL* NS::URL::fileURLWithPath(const String* pPath) {
  return alloc()->initFileURLWithPath(pPath)->autorelease();
}

NS::URL* NS::URL::alloc() {
  return foundation::handle(foundation::make<Body>());
}

NS::URL* NS::URL::init() {
  return this;
}

NS::URL* NS::URL::init(const String* pString) {
  auto* self = impl<Body>(this);
  auto* text = impl<foundation::String>(pString);
  if (self == nullptr || text == nullptr) {
    release();
    return nullptr;
  }
  std::string_view address = text->text;
  self->is_file = address.starts_with(foundation::kFileScheme);
  if (self->is_file) {
    address.remove_prefix(foundation::kFileScheme.size());
    self->path = foundation::percent_decoded(address);
  } else {
    self->address = address;
  }
  return this;
}

NS::URL* NS::URL::initFileURLWithPath(const String* pPath) {
  auto* self = impl<Body>(this);
  auto* path = impl<foundation::String>(pPath);
  if (self == nullptr || path == nullptr) {
    release();
    return nullptr;
  }
  self->is_file = true;
  self->path = foundation::absolute(path->text);
  return this;
}

const char* NS::URL::fileSystemRepresentation() const {
  auto* self = impl<Body>(this);
  return self != nullptr && self->is_file ? self->path.c_str() : nullptr;
}
