#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "pewter/metal/executor/builtins.h"

namespace pewter::executor {
namespace {

// Computed in double where float would lose more than the tables of the MSL specification allow.

float exp10_f32(float x) {
  return static_cast<float>(std::pow(10.0, static_cast<double>(x)));
}

float rsqrt_f32(float x) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}

// Not defined for negative bases, unlike pow.
float powr_f32(float x, float y) {
  return x < 0 ? std::numeric_limits<float>::quiet_NaN() : std::pow(x, y);
}

/// x - 2 * round(x / 2), exactly, in [-1, 1].
double reduce_to_one_turn(float x) {
  return std::remainder(static_cast<double>(x), 2.0);
}

float sinpi_f32(float x) {
  const double turn = reduce_to_one_turn(x);
  if (turn == 0 || std::fabs(turn) == 1) {
    return std::copysign(0.0F, x);
  }
  return static_cast<float>(std::sin(std::numbers::pi * turn));
}

float cospi_f32(float x) {
  const double turn = reduce_to_one_turn(x);
  if (std::fabs(turn) == 0.5) {
    return 0.0F;
  }
  return static_cast<float>(std::cos(std::numbers::pi * turn));
}

float tanpi_f32(float x) {
  const double turn = std::remainder(static_cast<double>(x), 1.0);
  if (turn == 0) {
    return std::copysign(0.0F, x);
  }
  if (std::fabs(turn) == 0.5) {
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(turn));
  }
  return static_cast<float>(std::tan(std::numbers::pi * turn));
}

float fract_f32(float x) {
  const float largest_below_one = std::nextafter(1.0F, 0.0F);
  return std::fmin(x - std::floor(x), largest_below_one);
}

float frexp_f32(float x, int* exponent) {
  *exponent = 0;
  return std::frexp(x, exponent);
}

float modf_f32(float x, float* whole) {
  return std::modf(x, whole);
}

float sincos_f32(float x, float* cosine) {
  *cosine = std::cos(x);
  return std::sin(x);
}

using Unary = float (*)(float);
using Binary = float (*)(float, float);

}  // namespace

std::span<const Builtin> math_builtins() {
  // Chosen among the overloads of <cmath> by type.
  const auto one = [](std::string_view name, Unary function) {
    return Builtin{name, address_of(function)};
  };
  const auto two = [](std::string_view name, Binary function) {
    return Builtin{name, address_of(function)};
  };
  static const Builtin table[] = {
      one("air.acos.f32", std::acos),
      one("air.acosh.f32", std::acosh),
      one("air.asin.f32", std::asin),
      one("air.asinh.f32", std::asinh),
      one("air.atan.f32", std::atan),
      one("air.atanh.f32", std::atanh),
      one("air.cbrt.f32", std::cbrt),
      one("air.ceil.f32", std::ceil),
      one("air.cos.f32", std::cos),
      one("air.cosh.f32", std::cosh),
      one("air.cospi.f32", cospi_f32),
      one("air.erf.f32", std::erf),
      one("air.erfc.f32", std::erfc),
      one("air.exp.f32", std::exp),
      one("air.exp10.f32", exp10_f32),
      one("air.exp2.f32", std::exp2),
      one("air.expm1.f32", std::expm1),
      one("air.fabs.f32", std::fabs),
      one("air.floor.f32", std::floor),
      one("air.fract.f32", fract_f32),
      one("air.log.f32", std::log),
      one("air.log10.f32", std::log10),
      one("air.log1p.f32", std::log1p),
      one("air.log2.f32", std::log2),
      one("air.rint.f32", std::rint),
      one("air.round.f32", std::round),
      one("air.rsqrt.f32", rsqrt_f32),
      one("air.sin.f32", std::sin),
      one("air.sinh.f32", std::sinh),
      one("air.sinpi.f32", sinpi_f32),
      one("air.sqrt.f32", std::sqrt),
      one("air.tan.f32", std::tan),
      one("air.tanh.f32", std::tanh),
      one("air.tanpi.f32", tanpi_f32),
      one("air.trunc.f32", std::trunc),
      two("air.atan2.f32", std::atan2),
      two("air.copysign.f32", std::copysign),
      two("air.fdim.f32", std::fdim),
      two("air.fmax.f32", std::fmax),
      two("air.fmin.f32", std::fmin),
      two("air.fmod.f32", std::fmod),
      two("air.hypot.f32", std::hypot),
      two("air.nextafter.f32", std::nextafter),
      two("air.pow.f32", std::pow),
      two("air.powr.f32", powr_f32),
      two("air.remainder.f32", std::remainder),
      {"air.fma.f32", address_of(static_cast<float (*)(float, float, float)>(std::fma))},
      {"air.frexp.f32", address_of(&frexp_f32)},
      {"air.ilogb.f32", address_of(static_cast<int (*)(float)>(std::ilogb))},
      {"air.ldexp.f32", address_of(static_cast<float (*)(float, int)>(std::ldexp))},
      {"air.modf.f32", address_of(&modf_f32)},
      {"air.sincos.f32", address_of(&sincos_f32)},
  };
  return table;
}

}  // namespace pewter::executor
