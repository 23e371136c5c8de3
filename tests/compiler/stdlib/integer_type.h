#pragma once

#include <algorithm>

namespace pewter::test {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

/// An integer type of MSL, whose arithmetic is done in numbers that hold every result.
struct IntegerType {
  const char* name;
  int bits;
  bool is_signed;

  Wide lowest() const { return is_signed ? -(Wide{1} << (bits - 1)) : Wide{0}; }
  Wide highest() const { return (Wide{1} << (is_signed ? bits - 1 : bits)) - 1; }
  /// The value that a number of this type has after wrapping around.
  Wide wrap(Wide x) const {
    const Wide low = x & ((Wide{1} << bits) - 1);
    return is_signed && (low >> (bits - 1)) != 0 ? low - (Wide{1} << bits) : low;
  }
  Wide bits_of(Wide x) const { return x & ((Wide{1} << bits) - 1); }
  Wide saturate(Wide x) const { return std::max(lowest(), std::min(highest(), x)); }
};

inline constexpr IntegerType kIntegerTypes[] = {
    {"char", 8, true}, {"uchar", 8, false}, {"short", 16, true}, {"ushort", 16, false},
    {"int", 32, true}, {"uint", 32, false}, {"long", 64, true},  {"ulong", 64, false}};

}  // namespace pewter::test
