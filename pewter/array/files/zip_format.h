#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Names of what stands in a ZIP archive (APPNOTE, "4.3 General Format of a .ZIP file"). "Wide" is
/// what that calls ZIP64.
namespace pewter::files {

inline constexpr std::string_view kLocalMark = "PK\x03\x04";
inline constexpr std::string_view kDirectoryMark = "PK\x01\x02";
inline constexpr std::string_view kEndMark = "PK\x05\x06";
inline constexpr std::string_view kWideEndMark = "PK\x06\x06";
inline constexpr std::string_view kWideLocatorMark = "PK\x06\x07";

inline constexpr std::uint64_t kEncrypted = 1;
inline constexpr std::uint64_t kStored = 0;
inline constexpr std::uint64_t kDeflated = 8;
inline constexpr std::uint64_t kWideExtra = 1;
/// In the place of a number that needs more bits.
inline constexpr std::uint64_t kSeeWide = 0xffffffff;
inline constexpr std::uint64_t kSeeWideCount = 0xffff;

/// The number of `count` bytes at `at`, which must be there.
inline std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(text[at + i - 1]);
  }
  return value;
}

inline void append_number(std::string& text, std::uint64_t value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, value >>= 8) {
    text += static_cast<char>(value & 0xff);
  }
}

}  // namespace pewter::files
