#include "tests/fuzz/operations.h"

namespace pewter::fuzz {
namespace {

constexpr Operation kBool[] = {
    {"($ < $)", "ss"},
    {"($ <= $)", "ss"},
    {"($ > $)", "ss"},
    {"($ >= $)", "ss"},
    {"($ == $)", "ss"},
    {"($ != $)", "ss"},
    {"($ && $)", "tt"},
    {"($ || $)", "tt"},
    {"!$", "t"},
    {"($ ? $ : $)", "ttt"},
    {"(($ & 1u) != 0u)", "u"},
    {"(($ & 3u) == 1u)", "u"},
    {"isnan(float($))", "f"},
    {"isinf(float($))", "f"},
    {"signbit(plain(float($)))", "f"},
    {"((($ ^ $) & 4u) == 0u)", "uu"},
};

constexpr Operation kVectorBool[] = {
    {"any($ < $)", "ww"},
    {"all($ != $)", "ww"},
    {"any($ == $)", "ww"},
};

constexpr Operation kInteger[] = {
    {"@T(@U($) + @U($))", "tt"},
    {"@T(@U($) - @U($))", "tt"},
    {"@T(@U($) * @U($))", "tt"},
    {"@T(@U($) * @U($) + @U($))", "ttt"},
    {"@T($ & $)", "tt"},
    {"@T($ | $)", "tt"},
    {"@T($ ^ $)", "tt"},
    {"@T(~$)", "t"},
    {"@T(@U(0) - @U($))", "t"},
    {"@T(@U($) << ($ & @Mu))", "tu"},
    {"@T($ >> ($ & @Mu))", "tu"},
    {"@T($ / @T(($ & 63) + 1))", "tt"},
    {"@T($ % @T(($ & 63) + 1))", "tt"},
    {"quotient($, $, $)", "ttt"},
    {"($ ? $ : $)", "btt"},
    {"select($, $, $)", "ttb"},
    {"min($, $)", "tt"},
    {"max($, $)", "tt"},
    {"abs($)", "t"},
    {"@T(absdiff($, $))", "tt"},
    {"addsat($, $)", "tt"},
    {"subsat($, $)", "tt"},
    {"mulhi($, $)", "tt"},
    {"hadd($, $)", "tt"},
    {"clz($)", "t"},
    {"popcount($)", "t"},
    {"rotate($, $)", "tt"},
    {"reverse_bits($)", "t"},
    {"@T($)", "b"},
    {"@T($)", "i"},
    {"@T($)", "i"},
    {"@T($)", "r"},
    {"narrow<@T>(float($))", "f"},
    {"@T(bits(float($)))", "f"},
};

constexpr Operation kFloat[] = {
    {"@T($ + $)", "tt"},
    {"@T($ - $)", "tt"},
    {"@T($ * $)", "tt"},
    {"@T($ / $)", "tt"},
    {"@T($ * $ + $)", "ttt"},
    {"(-$)", "t"},
    {"($ ? $ : $)", "btt"},
    {"select($, $, $)", "ttb"},
    {"@T(fabs($))", "t"},
    {"@T(floor($))", "t"},
    {"@T(ceil($))", "t"},
    {"@T(trunc($))", "t"},
    {"@T(rint($))", "t"},
    {"@T(sqrt(fabs($)))", "t"},
    {"@T(fmin($, $) + @T(0))", "tt"},
    {"@T(fmax($, $) + @T(0))", "tt"},
    {"@T(clamp($, @T(-4), @T(4)))", "t"},
    {"@T(float($))", "f"},
    {"@T($)", "r"},
};

constexpr Operation kSingle[] = {
    {"fma($, $, $)", "ttt"},
    {"float($)", "i"},
    {"fract(clamp($, -1e6f, 1e6f))", "t"},
    {"as_type<float>($ & 0xbfffffffu)", "u"},
    {"mix($, $, $)", "ttt"},
    {"sign($)", "t"},
};

constexpr Operation kVector[] = {
    {"($ + $)", "tt"},      {"($ - $)", "tt"},          {"($ * $)", "tt"},
    {"($ ? $ : $)", "btt"}, {"select($, $, $)", "ttm"}, {"@T($)", "c"},
    {"swizzle", "v"},       {"construct", ""},          {"construct", ""},
};

constexpr Operation kIntegerVector[] = {
    {"($ & $)", "tt"},   {"($ | $)", "tt"},   {"($ ^ $)", "tt"},    {"(~$)", "t"},
    {"min($, $)", "tt"}, {"max($, $)", "tt"}, {"popcount($)", "t"}, {"@T($)", "x"},
};

constexpr Operation kFloatVector[] = {
    {"($ / $)", "tt"}, {"(-$)", "t"},    {"clamp($, @T(-4), @T(4))", "t"},
    {"floor($)", "t"}, {"fabs($)", "t"},
};

std::vector<Operation> join(std::span<const Operation> first,
                            std::span<const Operation> second = {}) {
  std::vector<Operation> result;
  result.reserve(first.size() + second.size());
  for (const std::span<const Operation> part : {first, second}) {
    for (const Operation& operation : part) {
      result.push_back(operation);
    }
  }
  return result;
}

struct Tables {
  std::vector<Operation> boolean = join(kBool, kVectorBool);
  std::vector<Operation> integer = join(kInteger);
  std::vector<Operation> half = join(kFloat);
  std::vector<Operation> single = join(kFloat, kSingle);
  std::vector<Operation> integer_vector = join(kVector, kIntegerVector);
  std::vector<Operation> bfloat_vector = join(kVector);
  std::vector<Operation> float_vector = join(kVector, kFloatVector);
  std::vector<Operation> bool_vector = {{"($ < $)", "yy"}, {"($ == $)", "yy"}, {"construct", ""}};
};

}  // namespace

std::span<const Operation> operations(const Type& type) {
  static const Tables tables;
  if (type.is_bool()) {
    return type.is_vector() ? tables.bool_vector : tables.boolean;
  }
  if (type.is_integer()) {
    return type.is_vector() ? tables.integer_vector : tables.integer;
  }
  if (type.is_vector()) {
    return type.scalar == Scalar::BFloat ? tables.bfloat_vector : tables.float_vector;
  }
  return type.scalar == Scalar::Float ? tables.single : tables.half;
}

}  // namespace pewter::fuzz
