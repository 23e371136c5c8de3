#include "pewter/metal/foundation/text_encoding.h"

namespace pewter::foundation {
namespace {

/// Bytes of the sequence that starts with `lead`; 0 when none can.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xc2 && lead < 0xe0) {
    return 2;
  }
  if (lead >= 0xe0 && lead < 0xf0) {
    return 3;
  }
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

/// The code point of a complete sequence.
char32_t decode(std::string_view sequence) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(sequence[index]); };
  if (sequence.size() == 1) {
    return byte(0);
  }
  char32_t point = byte(0) & (0x7fU >> sequence.size());
  for (std::size_t index = 1; index < sequence.size(); ++index) {
    point = (point << 6) | (byte(index) & 0x3fU);
  }
  return point;
}

void append_utf8(std::string& text, char32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0 | (point >> 6));
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0 | (point >> 12));
    text += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | (point >> 18));
    text += static_cast<char>(0x80 | ((point >> 12) & 0x3f));
    text += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  }
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(static_cast<unsigned char>(bytes[at]));
    if (length == 0 || length > bytes.size() - at) {
      return false;
    }
    for (std::size_t index = 1; index < length; ++index) {
      if ((static_cast<unsigned char>(bytes[at + index]) & 0xc0U) != 0x80) {
        return false;
      }
    }
    const char32_t point = decode(bytes.substr(at, length));
    const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
    if (overlong || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
      return false;
    }
    at += length;
  }
  return true;
}

std::string latin1_to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (char byte : bytes) {
    append_utf8(text, static_cast<unsigned char>(byte));
  }
  return text;
}

std::string utf16_to_utf8(std::u16string_view units) {
  std::string text;
  text.reserve(units.size());
  for (std::size_t at = 0; at < units.size(); ++at) {
    char32_t point = units[at];
    if (point >= 0xd800 && point < 0xe000) {
      const bool paired = point < 0xdc00 && at + 1 < units.size() && units[at + 1] >= 0xdc00 &&
                          units[at + 1] < 0xe000;
      point = paired ? 0x10000 + ((point - 0xd800) << 10) + (units[++at] - 0xdc00U) : 0xfffd;
    }
    append_utf8(text, point);
  }
  return text;
}

std::u16string utf8_to_utf16(std::string_view bytes) {
  std::u16string units;
  units.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = sequence_length(static_cast<unsigned char>(bytes[at]));
    const char32_t point = decode(bytes.substr(at, length));
    if (point < 0x10000) {
      units += static_cast<char16_t>(point);
    } else {
      units += static_cast<char16_t>(0xd800 + ((point - 0x10000) >> 10));
      units += static_cast<char16_t>(0xdc00 + ((point - 0x10000) & 0x3ff));
    }
    at += length;
  }
  return units;
}

std::size_t utf16_length(std::string_view bytes) {
  std::size_t units = 0;
  for (char byte : bytes) {
    // Continuation bytes add nothing; a four-byte sequence is a pair of units.
    const auto value = static_cast<unsigned char>(byte);
    units += (value & 0xc0U) != 0x80 ? 1 : 0;
    units += value >= 0xf0 ? 1 : 0;
  }
  return units;
}

}  // namespace pewter::foundation
