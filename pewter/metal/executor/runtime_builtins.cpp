#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "pewter/metal/executor/builtins.h"

// What LLVM calls of its own accord when it lowers an operation: the C library's mathematics and
// memory functions, and the compiler's run-time library.

extern "C" {
// Under names of their own, because <cmath> and <cstring> declare overloads and const variants.
float exp10f(float x);
double exp10(double x);
void sincosf(float x, float* sine, float* cosine);
void sincos(double x, double* sine, double* cosine);
float roundevenf(float x);
double roundeven(double x);
int bcmp(const void* a, const void* b, std::size_t count);

#if defined(__SIZEOF_INT128__)
__extension__ typedef __int128 pewter_int128;
__extension__ typedef unsigned __int128 pewter_uint128;
pewter_int128 __divti3(pewter_int128 a, pewter_int128 b);
pewter_int128 __modti3(pewter_int128 a, pewter_int128 b);
pewter_uint128 __udivti3(pewter_uint128 a, pewter_uint128 b);
pewter_uint128 __umodti3(pewter_uint128 a, pewter_uint128 b);
#endif
}

namespace pewter::executor {
namespace {

// A 16-bit float as LLVM passes it: on x86-64 in the low bits of a vector register, whatever its
// format.
__extension__ typedef _Float16 Half;

Half half_from_bits(std::uint16_t bits) {
  return std::bit_cast<Half>(bits);
}

std::uint16_t bits_of(Half value) {
  return std::bit_cast<std::uint16_t>(value);
}

/// Rounds to nearest, ties to even; NaN stays NaN.
Half float_to_bfloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) {
    return half_from_bits(static_cast<std::uint16_t>(bits >> 16 | 0x40));
  }
  return half_from_bits(static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16));
}

Half double_to_bfloat(double value) {
  // Rounding twice would be wrong near ties, so the first step rounds to odd.
  auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) != value && !std::isnan(value)) {
    auto bits = std::bit_cast<std::uint32_t>(narrow);
    if (std::fabs(static_cast<double>(narrow)) > std::fabs(value)) {
      --bits;
    }
    narrow = std::bit_cast<float>(bits | 1);
  }
  return float_to_bfloat(narrow);
}

float bfloat_to_float(Half value) {
  return std::bit_cast<float>(std::uint32_t(bits_of(value)) << 16);
}

Half float_to_half(float value) {
  return static_cast<Half>(value);
}

Half double_to_half(double value) {
  return static_cast<Half>(value);
}

float half_to_float(Half value) {
  return static_cast<float>(value);
}

template <typename T>
using One = T (*)(T);
template <typename T>
using Two = T (*)(T, T);
template <typename T>
using Three = T (*)(T, T, T);

template <typename T>
Builtin one(std::string_view name, One<T> function) {
  return {name, address_of(function)};
}

template <typename T>
Builtin two(std::string_view name, Two<T> function) {
  return {name, address_of(function)};
}

}  // namespace

// clang-format off
#define PEWTER_ONE(NAME) one<float>(#NAME "f", std::NAME), one<double>(#NAME, std::NAME)
#define PEWTER_TWO(NAME) two<float>(#NAME "f", std::NAME), two<double>(#NAME, std::NAME)
// clang-format on

std::span<const Builtin> runtime_builtins() {
  static const Builtin table[] = {
      PEWTER_ONE(acos),
      PEWTER_ONE(acosh),
      PEWTER_ONE(asin),
      PEWTER_ONE(asinh),
      PEWTER_ONE(atan),
      PEWTER_ONE(atanh),
      PEWTER_ONE(cbrt),
      PEWTER_ONE(ceil),
      PEWTER_ONE(cos),
      PEWTER_ONE(cosh),
      PEWTER_ONE(exp),
      PEWTER_ONE(exp2),
      PEWTER_ONE(expm1),
      PEWTER_ONE(fabs),
      PEWTER_ONE(floor),
      PEWTER_ONE(log),
      PEWTER_ONE(log10),
      PEWTER_ONE(log1p),
      PEWTER_ONE(log2),
      PEWTER_ONE(nearbyint),
      PEWTER_ONE(rint),
      PEWTER_ONE(round),
      PEWTER_ONE(sin),
      PEWTER_ONE(sinh),
      PEWTER_ONE(sqrt),
      PEWTER_ONE(tan),
      PEWTER_ONE(tanh),
      PEWTER_ONE(trunc),
      PEWTER_TWO(atan2),
      PEWTER_TWO(copysign),
      PEWTER_TWO(fdim),
      PEWTER_TWO(fmax),
      PEWTER_TWO(fmin),
      PEWTER_TWO(fmod),
      PEWTER_TWO(hypot),
      PEWTER_TWO(nextafter),
      PEWTER_TWO(pow),
      PEWTER_TWO(remainder),
      {"fmaf", address_of(static_cast<Three<float>>(std::fma))},
      {"fma", address_of(static_cast<Three<double>>(std::fma))},
      {"exp10f", address_of(&::exp10f)},
      {"exp10", address_of(static_cast<One<double>>(::exp10))},
      {"roundevenf", address_of(&::roundevenf)},
      {"roundeven", address_of(static_cast<One<double>>(::roundeven))},
      {"sincosf", address_of(&::sincosf)},
      {"sincos", address_of(static_cast<void (*)(double, double*, double*)>(::sincos))},
      {"ldexpf", address_of(static_cast<float (*)(float, int)>(std::ldexp))},
      {"ldexp", address_of(static_cast<double (*)(double, int)>(std::ldexp))},
      {"frexpf", address_of(static_cast<float (*)(float, int*)>(std::frexp))},
      {"frexp", address_of(static_cast<double (*)(double, int*)>(std::frexp))},
      {"modff", address_of(static_cast<float (*)(float, float*)>(std::modf))},
      {"modf", address_of(static_cast<double (*)(double, double*)>(std::modf))},
      {"ilogbf", address_of(static_cast<int (*)(float)>(std::ilogb))},
      {"ilogb", address_of(static_cast<int (*)(double)>(std::ilogb))},
      {"memcpy", address_of(&std::memcpy)},
      {"memmove", address_of(&std::memmove)},
      {"memset", address_of(&std::memset)},
      {"memcmp", address_of(&std::memcmp)},
      {"bcmp", address_of(&::bcmp)},
      {"strlen", address_of(&std::strlen)},
      {"__truncsfbf2", address_of(&float_to_bfloat)},
      {"__truncdfbf2", address_of(&double_to_bfloat)},
      {"__extendbfsf2", address_of(&bfloat_to_float)},
      {"__truncsfhf2", address_of(&float_to_half)},
      {"__truncdfhf2", address_of(&double_to_half)},
      {"__extendhfsf2", address_of(&half_to_float)},
#if defined(__SIZEOF_INT128__)
      {"__divti3", address_of(&__divti3)},
      {"__modti3", address_of(&__modti3)},
      {"__udivti3", address_of(&__udivti3)},
      {"__umodti3", address_of(&__umodti3)},
#endif
  };
  return table;
}

}  // namespace pewter::executor
