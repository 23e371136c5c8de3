#include "pewter/compiler/spmd/shape.h"

#include <algorithm>

namespace pewter::compiler::spmd {
namespace {

constexpr std::size_t kMaxTerms = 4;

}  // namespace

std::int64_t wrap(std::int64_t value, unsigned bits) {
  if (bits >= 64) {
    return value;
  }
  const unsigned unused = 64 - bits;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

bool Shape::has_factors() const {
  return std::any_of(terms.begin(), terms.end(),
                     [](const Term& term) { return term.factor != nullptr; });
}

Shape Shape::uniform() {
  Shape shape;
  shape.kind = Kind::Uniform;
  return shape;
}

Shape Shape::varying() {
  Shape shape;
  shape.kind = Kind::Varying;
  return shape;
}

Shape Shape::of_known(std::vector<std::int64_t> lanes, unsigned bits) {
  Term term;
  bool differs = false;
  for (const std::int64_t lane : lanes) {
    term.lanes.push_back(wrap(static_cast<std::int64_t>(static_cast<std::uint64_t>(lane) -
                                                        static_cast<std::uint64_t>(lanes[0])),
                              bits));
    differs = differs || term.lanes.back() != 0;
  }
  Shape shape;
  shape.kind = Kind::Affine;
  if (differs) {
    shape.terms.push_back(std::move(term));
  }
  shape.known = std::move(lanes);
  return shape;
}

Shape add_scaled(const Shape& a, const Shape& b, std::int64_t factor, unsigned bits) {
  Shape sum;
  sum.kind = Shape::Kind::Affine;
  sum.accuracy = std::max(a.accuracy, b.accuracy);
  sum.terms = a.terms;
  const auto scaled = static_cast<std::uint64_t>(factor);
  for (const Term& term : b.terms) {
    const auto same = std::find_if(sum.terms.begin(), sum.terms.end(), [&](const Term& t) {
      return t.factor == term.factor && (t.factor == nullptr || t.sign_extend == term.sign_extend);
    });
    if (same == sum.terms.end()) {
      sum.terms.push_back(term);
      for (std::int64_t& lane : sum.terms.back().lanes) {
        lane = static_cast<std::int64_t>(static_cast<std::uint64_t>(lane) * scaled);
      }
      continue;
    }
    for (std::size_t lane = 0; lane < term.lanes.size(); ++lane) {
      same->lanes[lane] =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(same->lanes[lane]) +
                                    static_cast<std::uint64_t>(term.lanes[lane]) * scaled);
    }
  }
  for (Term& term : sum.terms) {
    for (std::int64_t& lane : term.lanes) {
      lane = wrap(lane, bits);
    }
  }
  std::erase_if(sum.terms, [](const Term& term) {
    return std::all_of(term.lanes.begin(), term.lanes.end(),
                       [](std::int64_t lane) { return lane == 0; });
  });
  return sum.terms.size() > kMaxTerms ? Shape::varying() : sum;
}

}  // namespace pewter::compiler::spmd
