#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pewter {

/// A 128-bit content hash.
///
/// Used to name cache entries and to detect damage, not against an attacker.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool operator==(const Digest&) const = default;
  /// 32 lower-case hexadecimal digits.
  std::string hex() const;
};

/// Hashes fields one after another; each field's length is hashed too, so "ab","c" and "a","bc"
/// differ.
class Hasher {
 public:
  Hasher& add(std::string_view text);
  Hasher& add(std::span<const std::byte> bytes);
  Hasher& add(std::uint64_t number);

  Digest digest() const;

 private:
  void mix(std::uint64_t word);

  std::array<std::uint64_t, 2> state_ = {0x9e3779b97f4a7c15U, 0xc2b2ae3d27d4eb4fU};
};

inline Digest digest_of(std::span<const std::byte> bytes) {
  return Hasher().add(bytes).digest();
}

}  // namespace pewter
