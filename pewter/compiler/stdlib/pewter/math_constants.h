// Constants of "Math Functions" in the three floating-point types.
#pragma once

#include <pewter/scalar.h>

#define MAXFLOAT 0x1.fffffep127f
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXHALF 0x1.ffcp15f16
#define HUGE_VALH ((half)__builtin_inff())
#define MAXBFLOAT ((bfloat)0x1.fep127f)
#define HUGE_VALBF ((bfloat)__builtin_inff())

#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.434294481903251827651f
#define M_LN2_F 0.693147180559945309417f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.785398163397448309616f
#define M_1_PI_F 0.318309886183790671538f
#define M_2_PI_F 0.636619772367581343076f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.707106781186547524401f

#define M_E_H 2.71828182845904523536f16
#define M_LOG2E_H 1.44269504088896340736f16
#define M_LOG10E_H 0.434294481903251827651f16
#define M_LN2_H 0.693147180559945309417f16
#define M_LN10_H 2.30258509299404568402f16
#define M_PI_H 3.14159265358979323846f16
#define M_PI_2_H 1.57079632679489661923f16
#define M_PI_4_H 0.785398163397448309616f16
#define M_1_PI_H 0.318309886183790671538f16
#define M_2_PI_H 0.636619772367581343076f16
#define M_2_SQRTPI_H 1.12837916709551257390f16
#define M_SQRT2_H 1.41421356237309504880f16
#define M_SQRT1_2_H 0.707106781186547524401f16

#define M_E_BF ((bfloat)M_E_F)
#define M_LOG2E_BF ((bfloat)M_LOG2E_F)
#define M_LOG10E_BF ((bfloat)M_LOG10E_F)
#define M_LN2_BF ((bfloat)M_LN2_F)
#define M_LN10_BF ((bfloat)M_LN10_F)
#define M_PI_BF ((bfloat)M_PI_F)
#define M_PI_2_BF ((bfloat)M_PI_2_F)
#define M_PI_4_BF ((bfloat)M_PI_4_F)
#define M_1_PI_BF ((bfloat)M_1_PI_F)
#define M_2_PI_BF ((bfloat)M_2_PI_F)
#define M_2_SQRTPI_BF ((bfloat)M_2_SQRTPI_F)
#define M_SQRT2_BF ((bfloat)M_SQRT2_F)
#define M_SQRT1_2_BF ((bfloat)M_SQRT1_2_F)
