#include "pewter/runtime/generator.h"

#include <fmt/core.h>

#include <bit>
#include <random>
#include <stdexcept>

namespace pewter::runtime {
namespace {

constexpr std::size_t kWords = 7;
constexpr std::size_t kSeedAt = kWords * sizeof(std::uint32_t);
constexpr std::size_t kOffsetAt = kSeedAt + sizeof(std::uint64_t);
static_assert(kOffsetAt == Generator::kShortStateBytes);
static_assert(kOffsetAt + sizeof(std::uint64_t) == Generator::kStateBytes);

template <typename Number>
void store(Number number, std::byte* bytes) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes[i] = static_cast<std::byte>(number >> (8 * i));
  }
}

template <typename Number>
Number load(const std::byte* bytes) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number |= static_cast<Number>(bytes[i]) << (8 * i);
  }
  return number;
}

std::uint64_t entropy() {
  std::random_device source;
  return (std::uint64_t{source()} << 32) | source();
}

}  // namespace

Generator::Generator() {
  seed_locked(entropy());
}

void Generator::seed(std::uint64_t seed) {
  const std::scoped_lock lock(mutex_);
  seed_locked(seed);
}

void Generator::seed_from_entropy() {
  seed(entropy());
}

void Generator::seed_locked(std::uint64_t seed) {
  words_ = {
      1, 1, 1, 1, 1, static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  seed_ = seed;
  offset_ = 0;
}

Generator::State Generator::state() const {
  const std::scoped_lock lock(mutex_);
  State state;
  for (std::size_t i = 0; i < kWords; ++i) {
    store(words_[i], state.data() + i * sizeof(std::uint32_t));
  }
  store(seed_, state.data() + kSeedAt);
  store(offset_, state.data() + kOffsetAt);
  return state;
}

void Generator::set_state(std::span<const std::byte> state) {
  if (state.size() != kStateBytes && state.size() != kShortStateBytes) {
    throw std::runtime_error(
        fmt::format("[mps::set_rng_state] state of {} bytes; expected {}, or {} without an offset",
                    state.size(), kStateBytes, kShortStateBytes));
  }

  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < kWords; ++i) {
    words_[i] = load<std::uint32_t>(state.data() + i * sizeof(std::uint32_t));
  }
  seed_ = load<std::uint64_t>(state.data() + kSeedAt);
  offset_ = state.size() == kStateBytes ? load<std::uint64_t>(state.data() + kOffsetAt) : 0;
}

RandomPosition Generator::take(std::uint64_t blocks) {
  const std::scoped_lock lock(mutex_);
  const PhiloxCounter counter = {words_[1], words_[2], words_[3], words_[4]};
  const PhiloxCounter next = advanced(counter, blocks);
  for (std::size_t i = 0; i < next.size(); ++i) {
    words_[i + 1] = next[i];
  }
  offset_ += blocks * counter.size();
  return {counter, {words_[5], words_[6]}};
}

Generator& default_generator() {
  static Generator generator;
  return generator;
}

}  // namespace pewter::runtime
