#include "pewter/runtime/philox.h"

namespace pewter::runtime {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

constexpr std::uint32_t high(std::uint64_t product) {
  return static_cast<std::uint32_t>(product >> 32);
}

constexpr std::uint32_t low(std::uint64_t product) {
  return static_cast<std::uint32_t>(product);
}

}  // namespace

PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

PhiloxCounter advanced(PhiloxCounter counter, std::uint64_t blocks) {
  const PhiloxCounter added = {low(blocks), high(blocks), 0, 0};
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < counter.size(); ++i) {
    const std::uint64_t sum = std::uint64_t{counter[i]} + added[i] + carry;
    counter[i] = low(sum);
    carry = high(sum);
  }
  return counter;
}

}  // namespace pewter::runtime
