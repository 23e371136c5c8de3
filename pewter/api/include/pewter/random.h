#pragma once

#include <pewter/array.h>
#include <pewter/device.h>
#include <pewter/export.h>

#include <cstdint>
#include <optional>
#include <utility>

/// Random arrays from keys, as MLX has them.
///
/// A key is two words of type uint32. The same key gives the same numbers, on every machine and
/// whatever the number of threads; two draws with one key are not independent, so keys are split.
/// Without a key, one is split off the calling thread's default key. All functions are lazy, and
/// throw std::invalid_argument for shapes, types and keys that make no sense.
namespace pewter::random {

using Key = std::optional<array>;

/// The key of a seed: its upper and its lower half.
PEWTER_EXPORT array key(std::uint64_t seed);
/// Sets the calling thread's default key to that of `seed`.
PEWTER_EXPORT void seed(std::uint64_t seed);

/// Keys that are independent of each other and of `key`: two, or `count` as rows.
PEWTER_EXPORT std::pair<array, array> split(const array& key, StreamOrDevice s = {});
PEWTER_EXPORT array split(const array& key, int count, StreamOrDevice s = {});

/// Random words of 1, 2 or 4 bytes, of type uint8, uint16 or uint32.
PEWTER_EXPORT array bits(const Shape& shape,
                         int width = 4,
                         const Key& key = std::nullopt,
                         StreamOrDevice s = {});

/// From `low` up to but not `high`, which are broadcast to `shape`. Of a floating-point type. MLX's
/// numbers, but `low` where those are rounded to `high`.
PEWTER_EXPORT array uniform(const array& low,
                            const array& high,
                            const Shape& shape,
                            Dtype dtype = Dtype::Float32,
                            const Key& key = std::nullopt,
                            StreamOrDevice s = {});
/// From 0 up to but not 1.
PEWTER_EXPORT array uniform(const Shape& shape,
                            Dtype dtype = Dtype::Float32,
                            const Key& key = std::nullopt,
                            StreamOrDevice s = {});

/// With that mean and standard deviation, of which each part of `complex64` has 1 / sqrt(2).
PEWTER_EXPORT array normal(const Shape& shape,
                           Dtype dtype = Dtype::Float32,
                           float mean = 0,
                           float deviation = 1,
                           const Key& key = std::nullopt,
                           StreamOrDevice s = {});
/// With means and deviations that are broadcast to `shape`.
PEWTER_EXPORT array normal(const Shape& shape,
                           Dtype dtype,
                           const array& mean,
                           const array& deviation,
                           const Key& key = std::nullopt,
                           StreamOrDevice s = {});
/// A normal distribution between `lower` and `upper`, which are broadcast to `shape`.
PEWTER_EXPORT array truncated_normal(const array& lower,
                                     const array& upper,
                                     const Shape& shape,
                                     Dtype dtype = Dtype::Float32,
                                     const Key& key = std::nullopt,
                                     StreamOrDevice s = {});
PEWTER_EXPORT array truncated_normal(const array& lower,
                                     const array& upper,
                                     Dtype dtype = Dtype::Float32,
                                     const Key& key = std::nullopt,
                                     StreamOrDevice s = {});

/// Whole numbers from `low` up to but not `high`, which are broadcast to `shape`. Throws when the
/// type does not have C++ numbers that are given; arrays must hold numbers that it has.
PEWTER_EXPORT array randint(const array& low,
                            const array& high,
                            const Shape& shape,
                            Dtype dtype = Dtype::Int32,
                            const Key& key = std::nullopt,
                            StreamOrDevice s = {});
PEWTER_EXPORT array randint(std::int64_t low,
                            std::int64_t high,
                            const Shape& shape,
                            Dtype dtype = Dtype::Int32,
                            const Key& key = std::nullopt,
                            StreamOrDevice s = {});

/// True with probability `p`, which is broadcast to `shape`.
PEWTER_EXPORT array bernoulli(const array& p,
                              const Shape& shape,
                              const Key& key = std::nullopt,
                              StreamOrDevice s = {});
PEWTER_EXPORT array bernoulli(const array& p, const Key& key = std::nullopt, StreamOrDevice s = {});
PEWTER_EXPORT array bernoulli(float p = 0.5F,
                              const Shape& shape = {},
                              const Key& key = std::nullopt,
                              StreamOrDevice s = {});

/// The standard Gumbel distribution.
PEWTER_EXPORT array gumbel(const Shape& shape,
                           Dtype dtype = Dtype::Float32,
                           const Key& key = std::nullopt,
                           StreamOrDevice s = {});

/// Positions along `axis`, each with the probability that softmax(logits, axis) gives it, of type
/// uint32: one for each row; `count` for each row, along a new last axis; or as many as `shape`
/// has, to which the rows are broadcast.
PEWTER_EXPORT array categorical(const array& logits,
                                int axis = -1,
                                const Key& key = std::nullopt,
                                StreamOrDevice s = {});
PEWTER_EXPORT array categorical(
    const array& logits, int axis, int count, const Key& key = std::nullopt, StreamOrDevice s = {});
PEWTER_EXPORT array categorical(const array& logits,
                                int axis,
                                const Shape& shape,
                                const Key& key = std::nullopt,
                                StreamOrDevice s = {});

/// The slices along an axis in random order; the numbers below `count` in random order.
PEWTER_EXPORT array permutation(const array& x,
                                int axis = 0,
                                const Key& key = std::nullopt,
                                StreamOrDevice s = {});
PEWTER_EXPORT array permutation(int count, const Key& key = std::nullopt, StreamOrDevice s = {});

}  // namespace pewter::random
