#include <pewter/ops.h>

#include <array>

namespace pewter {
namespace {

bool is_signed(Dtype dtype) {
  return dtype >= Dtype::Int8 && dtype <= Dtype::Int64;
}

/// The signed type of that many bytes; more than 8 take a float32.
Dtype signed_of(std::size_t bytes) {
  switch (bytes) {
    case 1:
      return Dtype::Int8;
    case 2:
      return Dtype::Int16;
    case 4:
      return Dtype::Int32;
    case 8:
      return Dtype::Int64;
    default:
      return Dtype::Float32;
  }
}

}  // namespace

Dtype promote_types(Dtype a, Dtype b) {
  if (a == b) {
    return a;
  }
  const Dtype low = a < b ? a : b;
  const Dtype high = a < b ? b : a;
  if (low == Dtype::Bool || high == Dtype::Complex64) {
    return high;
  }
  if (high >= Dtype::Float16) {
    // The two types of 16 bits have only float32 in common.
    return low >= Dtype::Float16 ? Dtype::Float32 : high;
  }
  if (is_signed(low) == is_signed(high)) {
    return size_of(low) > size_of(high) ? low : high;
  }
  // `low` is unsigned: it takes a signed type of twice its size.
  const std::size_t needed = 2 * size_of(low);
  return needed > size_of(high) ? signed_of(needed) : high;
}

Dtype result_type(const std::vector<array>& arrays) {
  Dtype result = Dtype::Bool;
  for (const array& a : arrays) {
    result = promote_types(result, a.dtype());
  }
  return result;
}

}  // namespace pewter
