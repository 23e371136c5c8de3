#include "pewter/base/hash.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

namespace pewter {
namespace {

// The finaliser of SplitMix64: every input bit reaches every output bit.
std::uint64_t scramble(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

}  // namespace

std::string Digest::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

void Hasher::mix(std::uint64_t word) {
  state_[0] = std::rotl(state_[0] ^ scramble(word), 29) * 0x9fb21c651e98df25U;
  state_[1] = std::rotl(state_[1] + scramble(word ^ 0xa0761d6478bd642fU), 37) * 0xd6e8feb86659fd93U;
}

Hasher& Hasher::add(std::span<const std::byte> bytes) {
  mix(bytes.size());
  std::size_t position = 0;
  for (; position + 8 <= bytes.size(); position += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + position, 8);
    mix(word);
  }
  if (position < bytes.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + position, bytes.size() - position);
    mix(word);
  }
  return *this;
}

Hasher& Hasher::add(std::string_view text) {
  return add(std::as_bytes(std::span(text)));
}

Hasher& Hasher::add(std::uint64_t number) {
  mix(number);
  return *this;
}

Digest Hasher::digest() const {
  return {scramble(state_[0] + std::rotl(state_[1], 17)),
          scramble(state_[1] ^ std::rotl(state_[0], 43))};
}

}  // namespace pewter
