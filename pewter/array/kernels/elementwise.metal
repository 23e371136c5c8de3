// What the rows of the table of elementwise operations call. The paragraphs that a kernel needs are
// put before it: a blank line ends one, and each line that defines a function begins with "inline".

#include <metal_stdlib>
#include <pewter/stream.h>
using namespace metal;

template <typename T>
inline bool is_nan(T) { return false; }
inline bool is_nan(float a) { return isnan(a); }

template <typename T>
inline bool is_infinite(T) { return false; }
inline bool is_infinite(float a) { return isinf(a); }

template <typename T>
inline bool is_finite(T) { return true; }
inline bool is_finite(float a) { return isfinite(a); }

template <typename T>
inline T magnitude(T a) { return a < T(0) ? T(-a) : a; }
inline float magnitude(float a) { return fabs(a); }
inline bool magnitude(bool a) { return a; }

template <typename T>
inline T sign_of(T a) { return a > T(0) ? T(1) : a < T(0) ? T(-1) : T(0); }
inline float sign_of(float a) { return isnan(a) ? a : a > 0 ? 1.0f : a < 0 ? -1.0f : 0.0f; }
inline bool sign_of(bool a) { return a; }

template <typename T>
inline T rounded_up(T a) { return a; }
inline float rounded_up(float a) { return ceil(a); }

template <typename T>
inline T rounded_down(T a) { return a; }
inline float rounded_down(float a) { return floor(a); }

template <typename T>
inline T rounded_to_zero(T a) { return a; }
inline float rounded_to_zero(float a) { return trunc(a); }

template <typename T>
inline T rounded(T a) { return a; }
inline float rounded(float a) { return rint(a); }

template <typename T>
inline T inverted(T a) { return T(~a); }
inline bool inverted(bool a) { return !a; }

template <typename T>
inline T conjugated(T a) { return a; }

template <typename T>
inline T real_part(T a) { return a; }

template <typename T>
inline T imaginary_part(T) { return T(0); }

template <typename T>
inline T greater_of(T a, T b) { return a > b ? a : b; }
inline float greater_of(float a, float b) { return b > a || b != b ? b : a; }

template <typename T>
inline T lesser_of(T a, T b) { return a < b ? a : b; }
inline float lesser_of(float a, float b) { return b < a || b != b ? b : a; }

// Division by 0 and of the least number by -1 would trap.
template <typename T>
inline T floor_quotient(T a, T b) {
  if (b == T(0)) {
    return T(0);
  }
  if (T(-1) < T(0)) {
    if (b == T(-1)) {
      return T(-a);
    }
    const T quotient = T(a / b);
    return T(a % b) != T(0) && (a < T(0)) != (b < T(0)) ? T(quotient - T(1)) : quotient;
  }
  return T(a / b);
}
inline bool floor_quotient(bool a, bool b) { return a && b; }
// As NumPy has it: below the exact quotient, which a / b may be rounded above. What is left has the sign of b then.
inline float floor_quotient(float a, float b) {
  if (isinf(a) && b != 0) {
    return NAN;
  }
  const float quotient = floor(a / b);
  const float left = isinf(b) ? a : fma(-quotient, b, a);
  return (b < 0 ? left > 0 : left < 0) ? quotient - 1 : quotient;
}

template <typename T>
inline T floor_remainder(T a, T b) {
  if (b == T(0)) {
    return T(0);
  }
  if (T(-1) < T(0)) {
    if (b == T(-1)) {
      return T(0);
    }
    const T left = T(a % b);
    return left != T(0) && (left < T(0)) != (b < T(0)) ? T(left + b) : left;
  }
  return T(a % b);
}
inline bool floor_remainder(bool, bool) { return false; }
inline float floor_remainder(float a, float b) {
  const float left = fmod(a, b);
  return left == 0 ? copysign(0.0f, b) : (left < 0) != (b < 0) ? left + b : left;
}

template <typename T>
inline T shifted_left(T a, T b) { return T(a << (b & T(sizeof(T) * 8 - 1))); }

template <typename T>
inline T shifted_right(T a, T b) { return T(a >> (b & T(sizeof(T) * 8 - 1))); }

template <typename T>
inline T raised(T a, T b) {
  if (b < T(0)) {
    return a == T(1) ? T(1) : a == T(-1) ? (b & T(1) ? T(-1) : T(1)) : T(0);
  }
  T result = T(1);
  while (b > T(0)) {
    if (b & T(1)) {
      result = T(result * a);
    }
    a = T(a * a);
    b = T(b >> 1);
  }
  return result;
}
inline bool raised(bool a, bool b) { return a || !b; }
inline float raised(float a, float b) { return pow(a, b); }

inline float exponential_minus_one(float a) {
  // exp(k ln 2 + r) - 1 = 2^k (p + 1) - 1 with p = exp(r) - 1 as a polynomial.
  const float k = rint(a * 1.44269504f);
  const float r = fma(k, -1.42860677e-6f, fma(k, -0.693145752f, a));
  float p = 1.98412698e-4f;
  p = fma(p, r, 1.38888889e-3f);
  p = fma(p, r, 8.33333333e-3f);
  p = fma(p, r, 4.16666667e-2f);
  p = fma(p, r, 1.66666667e-1f);
  p = fma(p, r, 0.5f);
  p = fma(p * r, r, r);
  const float scale = exp2(min(k, 127.0f));
  const float tail = fma(p, scale, scale - 1.0f);
  const float value = k > 127.0f ? 2.0f * (p + 1.0f) * exp2(127.0f) : tail;
  return isnan(a) ? a : a > 88.8f ? INFINITY : a < -17.5f ? -1.0f : a == 0.0f ? a : value;
}

inline float log_one_plus(float a) {
  const float u = 1.0f + a;
  // What was lost in the sum, over u, corrects the logarithm.
  const float lost = a - (u - 1.0f);
  const float value = log(u) + lost / u;
  return isnan(a) ? a : isinf(u) ? (a > 0 ? u : NAN) : u == 0 ? -INFINITY : fabs(a) < 1e-7f ? a : value;
}

inline float log_add_exp(float a, float b) {
  const float high = greater_of(a, b);
  const float low = lesser_of(a, b);
  return isinf(high) ? high : high + log_one_plus(exp(low - high));
}

inline float error_function(float a) {
  const float x = fabs(a);
  const float square = x * x;
  float small = -5.96761703e-4f;
  small = fma(small, square, 4.99119423e-3f);
  small = fma(small, square, -2.67681349e-2f);
  small = fma(small, square, 1.12819925e-1f);
  small = fma(small, square, -3.76125336e-1f);
  small = fma(small, square, 1.28379166e-1f);
  small = fma(small, x, x);
  // 1 - exp(q(x)) with q as a polynomial.
  const float top = fma(-1.72853470e-5f, x, 3.83197126e-4f);
  const float next = fma(-3.88396438e-3f, x, 2.42546219e-2f);
  float large = fma(top, square, next);
  large = fma(large, x, -1.06777877e-1f);
  large = fma(large, x, -6.34846687e-1f);
  large = fma(large, x, -1.28717512e-1f);
  large = fma(large, x, -x);
  large = 1.0f - exp(large);
  const float value = x > 0.921875f ? large : small;
  return isnan(a) ? a : copysign(value, a);
}

inline float inverse_error_function(float a) {
  const float w = -log_one_plus(-a * a);
  float p;
  if (w < 5.0f) {
    const float x = w - 2.5f;
    p = 2.81022636e-08f;
    p = fma(p, x, 3.43273939e-07f);
    p = fma(p, x, -3.5233877e-06f);
    p = fma(p, x, -4.39150654e-06f);
    p = fma(p, x, 0.00021858087f);
    p = fma(p, x, -0.00125372503f);
    p = fma(p, x, -0.00417768164f);
    p = fma(p, x, 0.246640727f);
    p = fma(p, x, 1.50140941f);
  } else {
    const float x = sqrt(w) - 3.0f;
    p = -0.000200214257f;
    p = fma(p, x, 0.000100950558f);
    p = fma(p, x, 0.00134934322f);
    p = fma(p, x, -0.00367342844f);
    p = fma(p, x, 0.00573950773f);
    p = fma(p, x, -0.0076224613f);
    p = fma(p, x, 0.00943887047f);
    p = fma(p, x, 1.00167406f);
    p = fma(p, x, 2.83297682f);
  }
  return fabs(a) == 1.0f ? a * INFINITY : fabs(a) > 1.0f ? NAN : p * a;
}

template <typename R, typename T>
inline R converted(T a) { return R(a); }
