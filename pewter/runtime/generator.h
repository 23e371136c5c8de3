#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "pewter/runtime/philox.h"

namespace pewter::runtime {

/// Where a stretch of random numbers begins; what the kernels are given.
struct RandomPosition {
  PhiloxCounter counter;
  PhiloxKey key;
};

/// A Philox generator: hands out stretches of its sequence, no two of which overlap.
///
/// The serialised state is little-endian: seven 32-bit words (1, the four words of the counter, low
/// and high half of the seed), then the seed and the number of 32-bit words drawn since it was set,
/// 64 bits each. Safe to use from any thread.
class Generator {
 public:
  static constexpr std::size_t kStateBytes = 44;
  /// A state of older programs, which ends before the number of words drawn.
  static constexpr std::size_t kShortStateBytes = 36;
  using State = std::array<std::byte, kStateBytes>;

  /// Starts from a seed of the system's entropy source.
  Generator();

  void seed(std::uint64_t seed);
  /// Takes a seed from the system's entropy source.
  void seed_from_entropy();

  State state() const;
  /// Goes on exactly where `state` was taken. Throws std::runtime_error when it has neither 44 nor
  /// 36 bytes.
  void set_state(std::span<const std::byte> state);

  /// Takes the next `blocks` blocks of four words.
  RandomPosition take(std::uint64_t blocks);

 private:
  void seed_locked(std::uint64_t seed);

  mutable std::mutex mutex_;  // guards the members below
  std::array<std::uint32_t, 7> words_ = {};
  std::uint64_t seed_ = 0;
  std::uint64_t offset_ = 0;
};

/// The generator behind the `mps` front door.
Generator& default_generator();

}  // namespace pewter::runtime
