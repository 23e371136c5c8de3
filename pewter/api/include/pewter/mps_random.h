#pragma once

#include <pewter/array.h>
#include <pewter/export.h>

#include <concepts>
#include <cstdint>

namespace pewter::mps {

/// The state of the generator, 44 bytes of type uint8 on the host. Later draws do not alter it.
PEWTER_EXPORT array get_rng_state();
/// Continues exactly as after the matching get_rng_state(). Also takes a state of 36 bytes, which
/// has no offset. Throws TypeError for elements that are not uint8, std::runtime_error for another
/// size.
PEWTER_EXPORT void set_rng_state(const array& state);

PEWTER_EXPORT void manual_seed(std::uint64_t seed);
/// Negative seeds are taken modulo 2^64.
template <std::integral T>
void manual_seed(T seed) {
  manual_seed(static_cast<std::uint64_t>(static_cast<std::int64_t>(seed)));
}
/// Takes a seed from the system's entropy source.
PEWTER_EXPORT void seed();

/// Random arrays on the device. The same state of the generator gives the same numbers, whatever
/// the number of threads or lanes. Each call throws std::invalid_argument for values that make no
/// sense.
namespace random {

/// Random words.
PEWTER_EXPORT array bits(const Shape& shape);
/// From `low` up to but not `high`. float32, float16 or bfloat16.
PEWTER_EXPORT array uniform(const Shape& shape,
                            double low = 0,
                            double high = 1,
                            Dtype dtype = Dtype::Float32);
/// float32, float16 or bfloat16.
PEWTER_EXPORT array normal(const Shape& shape,
                           double mean = 0,
                           double deviation = 1,
                           Dtype dtype = Dtype::Float32);
/// Whole numbers from `low` up to but not `high`.
PEWTER_EXPORT array randint(std::int64_t low,
                            std::int64_t high,
                            const Shape& shape,
                            Dtype dtype = Dtype::Int64);
/// True with the given probability.
PEWTER_EXPORT array bernoulli(double probability, const Shape& shape);

}  // namespace random
}  // namespace pewter::mps
