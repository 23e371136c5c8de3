#pragma once

#include <cstdint>
#include <vector>

#include "llvm/IR/Value.h"

namespace pewter::compiler::spmd {

/// A part of an affine value: `factor * lanes[l]`, with compile-time numbers for the lanes and a
/// factor that is uniform at run time; null means 1.
struct Term {
  llvm::Value* factor = nullptr;
  /// How the factor is widened to the type of the value.
  bool sign_extend = true;
  std::vector<std::int64_t> lanes;

  bool operator==(const Term&) const = default;
};

/// How a value differs from lane to lane.
///
/// An affine value is `base + sum of its terms`, modulo the width of its type; the base is its
/// value in lane 0, where every term is 0.
struct Shape {
  enum class Kind : std::uint8_t { Unknown, Uniform, Affine, Varying };

  /// What the affine form may be used for. Unsigned indices are widened to 64 bits before they
  /// become addresses, and a lane whose index has wrapped below zero, as that of `x[i - 1]` in lane
  /// 0, then is out of line with the others. Such a lane has no memory to access.
  enum class Accuracy : std::uint8_t {
    /// Equal to the value in every lane.
    Exact,
    /// Good for addresses: wrong only in lanes whose index has wrapped.
    Address,
    /// Lane 0 alone is sure: other lanes have to be computed for themselves.
    LaneZero,
  };

  Kind kind = Kind::Unknown;
  Accuracy accuracy = Accuracy::Exact;
  std::vector<Term> terms;
  /// The value itself in every lane, when it is known at compile time; otherwise empty.
  std::vector<std::int64_t> known;

  bool operator==(const Shape&) const = default;

  bool has_factors() const;

  /// Whether the value of lane 0 and the terms do not say it all.
  bool needs_vector() const {
    return kind == Kind::Varying || (kind == Kind::Affine && accuracy != Accuracy::Exact);
  }

  static Shape uniform();
  static Shape varying();
  /// A value whose lanes are all known.
  static Shape of_known(std::vector<std::int64_t> lanes, unsigned bits);
};

/// `value` as a signed number of `bits` bits.
std::int64_t wrap(std::int64_t value, unsigned bits);

/// The shape of `a + factor * b`; varying when it has too many parts to be of use.
Shape add_scaled(const Shape& a, const Shape& b, std::int64_t factor, unsigned bits);

}  // namespace pewter::compiler::spmd
