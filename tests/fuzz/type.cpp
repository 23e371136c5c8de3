#include "tests/fuzz/type.h"

namespace pewter::fuzz {
namespace {

struct Row {
  const char* name;
  unsigned bits;
};

// In the order of the enumerators.
constexpr Row kRows[] = {
    {"bool", 8},  {"char", 8},  {"uchar", 8},  {"short", 16}, {"ushort", 16}, {"int", 32},
    {"uint", 32}, {"long", 64}, {"ulong", 64}, {"half", 16},  {"bfloat", 16}, {"float", 32},
};

const Row& row(Scalar scalar) {
  return kRows[static_cast<std::size_t>(scalar)];
}

}  // namespace

unsigned Type::bits() const {
  return row(scalar).bits;
}

std::string Type::name() const {
  return is_vector() ? row(scalar).name + std::to_string(count) : row(scalar).name;
}

const std::vector<Scalar>& memory_scalars() {
  static const std::vector<Scalar> scalars = {
      Scalar::Char, Scalar::UChar, Scalar::Short, Scalar::UShort, Scalar::Int,  Scalar::UInt,
      Scalar::Long, Scalar::ULong, Scalar::Half,  Scalar::BFloat, Scalar::Float};
  return scalars;
}

std::size_t byte_size(Scalar scalar) {
  return row(scalar).bits / 8;
}

}  // namespace pewter::fuzz
