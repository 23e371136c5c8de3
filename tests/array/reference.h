#pragma once

#include <doctest/doctest.h>
#include <pewter/ops.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "pewter/array/graph/constant.h"
#include "pewter/array/graph/node.h"

/// Arrays of any type from and to doubles, for comparison with plain loops.
namespace pewter::test {

/// Sizes that straddle edges.
inline const std::vector<std::int64_t>& sizes() {
  static const std::vector<std::int64_t> sizes = {0, 1, 31, 32, 33, 1025, 1009};
  return sizes;
}

inline array make_array(const std::vector<double>& values, const Shape& shape, Dtype dtype) {
  array made = array::empty(shape, dtype);
  REQUIRE(made.size() == values.size());
  std::byte* to = made.node().first();
  for (const double value : values) {
    graph::write_element(value, to, dtype);
    to += size_of(dtype);
  }
  return made;
}

/// The elements row by row; real parts of complex ones.
inline std::vector<double> read(const array& a) {
  const array flat = contiguous(a);
  flat.eval();
  std::vector<double> values(flat.size());
  const std::byte* from = flat.node().first();
  for (double& value : values) {
    value = graph::read_element(from, flat.dtype());
    from += size_of(flat.dtype());
  }
  return values;
}

/// What the elements are once they are stored as `dtype`.
inline std::vector<double> stored(const std::vector<double>& values, Dtype dtype) {
  return read(make_array(values, {static_cast<std::int64_t>(values.size())}, dtype));
}

/// `count` numbers from low to high that do not repeat a pattern; whole ones for integer types.
inline std::vector<double> numbers(std::size_t count, double low, double high, Dtype dtype) {
  std::vector<double> values(count);
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (double& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = low + (high - low) * (static_cast<double>(state >> 33U) / 0x1p31);
    value = dtype < Dtype::Float16 ? std::floor(value) : value;
  }
  return stored(values, dtype);
}

/// The distance between neighbours around 1.
inline double epsilon(Dtype dtype) {
  switch (dtype) {
    case Dtype::Float16:
      return 0x1p-10;
    case Dtype::BFloat16:
      return 0x1p-7;
    case Dtype::Float32:
    case Dtype::Complex64:
      return 0x1p-23;
    default:
      return 0;
  }
}

/// Whether every element is within `ulps` units in the last place of its type, or `absolute`.
inline void check_close(const array& result,
                        const std::vector<double>& expected,
                        double ulps,
                        double absolute = 0) {
  const std::vector<double> got = read(result);
  REQUIRE(got.size() == expected.size());
  const double unit = epsilon(result.dtype()) * ulps;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same_special = (std::isnan(got[i]) && std::isnan(expected[i])) ||
                              (std::isinf(expected[i]) && got[i] == expected[i]);
    const bool is_close =
        same_special || std::abs(got[i] - expected[i]) <= unit * std::abs(expected[i]) + absolute;
    if (!is_close) {
      FAIL_CHECK("element " << i << " of " << result.description() << ": " << got[i]
                            << " instead of " << expected[i]);
      return;
    }
  }
}

inline const std::vector<Dtype>& all_dtypes() {
  static const std::vector<Dtype> types = {
      Dtype::Bool,  Dtype::UInt8, Dtype::UInt16, Dtype::UInt32,  Dtype::UInt64,   Dtype::Int8,
      Dtype::Int16, Dtype::Int32, Dtype::Int64,  Dtype::Float16, Dtype::BFloat16, Dtype::Float32};
  return types;
}

inline std::vector<Dtype> every_dtype() {
  std::vector<Dtype> types = all_dtypes();
  types.push_back(Dtype::Complex64);
  return types;
}

inline bool is_integer(Dtype dtype) {
  return dtype >= Dtype::UInt8 && dtype <= Dtype::Int64;
}

inline bool is_unsigned(Dtype dtype) {
  return dtype >= Dtype::Bool && dtype <= Dtype::UInt64;
}

/// `count` numbers of a range, as far as the type has them.
inline std::vector<double> elements(std::int64_t count,
                                    Dtype dtype,
                                    double low = -50,
                                    double high = 50) {
  return numbers(static_cast<std::size_t>(count), is_unsigned(dtype) ? std::max(low, 0.0) : low,
                 dtype == Dtype::Bool ? 2 : high, dtype);
}

}  // namespace pewter::test
