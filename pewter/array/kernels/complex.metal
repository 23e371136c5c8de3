// Complex numbers. Put behind elementwise.metal when a kernel has some.

struct complex64_t {
  float re;
  float im;

  complex64_t() thread = default;
  constexpr complex64_t(float r, float i = 0.0f) : re(r), im(i) {}
};

inline complex64_t operator-(complex64_t a) { return complex64_t(-a.re, -a.im); }
inline complex64_t operator+(complex64_t a, complex64_t b) { return complex64_t(a.re + b.re, a.im + b.im); }
inline complex64_t operator-(complex64_t a, complex64_t b) { return complex64_t(a.re - b.re, a.im - b.im); }
inline complex64_t operator*(complex64_t a, complex64_t b) {
  return complex64_t(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
// What the infinite parts of a number say of its direction.
inline float direction(float a) { return isnan(a) ? a : copysign(isinf(a) ? 1.0f : 0.0f, a); }
inline complex64_t direction(complex64_t a) { return complex64_t(direction(a.re), direction(a.im)); }
inline complex64_t operator/(complex64_t a, complex64_t b) {
  if ((isinf(b.re) || isinf(b.im)) && isfinite(a.re) && isfinite(a.im)) {
    const complex64_t to = direction(b);
    return complex64_t(0.0f * (a.re * to.re + a.im * to.im), 0.0f * (a.im * to.re - a.re * to.im));
  }
  // Smith: by the ratio of the parts, so that squares neither overflow nor vanish.
  const bool is_steep = fabs(b.im) > fabs(b.re);
  const float large = is_steep ? b.im : b.re;
  const float ratio = large == 0.0f ? 0.0f : (is_steep ? b.re : b.im) / large;
  const float size = large + (is_steep ? b.re : b.im) * ratio;
  return is_steep ? complex64_t((a.re * ratio + a.im) / size, (a.im * ratio - a.re) / size)
                  : complex64_t((a.re + a.im * ratio) / size, (a.im - a.re * ratio) / size);
}
inline bool operator==(complex64_t a, complex64_t b) { return a.re == b.re && a.im == b.im; }
inline bool operator!=(complex64_t a, complex64_t b) { return !(a == b); }

// Real parts are compared first; nothing is less or greater than what has a NaN.
inline bool operator<(complex64_t a, complex64_t b) {
  return a.re == b.re ? a.im < b.im : a.re < b.re && !isnan(a.im) && !isnan(b.im);
}
inline bool operator>(complex64_t a, complex64_t b) { return b < a; }
inline bool operator<=(complex64_t a, complex64_t b) {
  return a.re == b.re ? a.im <= b.im : a.re < b.re && !isnan(a.im) && !isnan(b.im);
}
inline bool operator>=(complex64_t a, complex64_t b) { return b <= a; }

inline float magnitude(complex64_t a) {
  const float high = max(fabs(a.re), fabs(a.im));
  const float low = min(fabs(a.re), fabs(a.im));
  const float ratio = low / high;
  // An infinite part outweighs NaN, as hypot has it; max and min pass over NaN.
  if (isinf(high)) {
    return high;
  }
  return isnan(a.re) || isnan(a.im) ? NAN : high == 0.0f ? high : high * sqrt(1.0f + ratio * ratio);
}
inline complex64_t conjugated(complex64_t a) { return complex64_t(a.re, -a.im); }
inline float real_part(complex64_t a) { return a.re; }
inline float imaginary_part(complex64_t a) { return a.im; }
inline bool is_nan(complex64_t a) { return isnan(a.re) || isnan(a.im); }
inline bool is_infinite(complex64_t a) { return isinf(a.re) || isinf(a.im); }
inline bool is_finite(complex64_t a) { return isfinite(a.re) && isfinite(a.im); }
inline complex64_t greater_of(complex64_t a, complex64_t b) { return b > a || (is_nan(b) && !is_nan(a)) ? b : a; }
inline complex64_t lesser_of(complex64_t a, complex64_t b) { return b < a || (is_nan(b) && !is_nan(a)) ? b : a; }
inline complex64_t sign_of(complex64_t a) {
  const float size = magnitude(a);
  return size == 0.0f ? a : complex64_t(a.re / size, a.im / size);
}

// Products with sines and cosines: those that are 0 stay so beside infinity, and where the exponential
// alone overflows its root is multiplied twice.
constant constexpr float kLargeExponent = 80.0f;
inline float exp_times(float x, float factor) {
  const float root = exp(0.5f * x);
  return factor == 0.0f        ? factor
         : x > kLargeExponent  ? root * factor * root
         : x == -INFINITY      ? copysign(0.0f, factor)
                               : exp(x) * factor;
}
inline float cosh_times(float x, float factor) {
  return fabs(x) > kLargeExponent ? exp_times(fabs(x), 0.5f * factor) : factor == 0.0f ? factor : cosh(x) * factor;
}
inline float sinh_times(float x, float factor) {
  const float turned = x < 0.0f ? -factor : factor;
  return x == 0.0f                    ? (signbit(factor) && !isnan(factor) ? -x : x)
         : fabs(x) > kLargeExponent   ? exp_times(fabs(x), 0.5f * turned)
         : factor == 0.0f             ? turned
                                      : sinh(x) * factor;
}

inline complex64_t exp(complex64_t a) {
  return a.im == 0.0f ? complex64_t(exp(a.re), a.im)
                      : complex64_t(exp_times(a.re, cos(a.im)), exp_times(a.re, sin(a.im)));
}
inline complex64_t log(complex64_t a) {
  const bool is_large = max(fabs(a.re), fabs(a.im)) > 1e38f;
  const float size = log(magnitude(is_large ? complex64_t(0.5f * a.re, 0.5f * a.im) : a));
  return complex64_t(is_large ? size + 0.693147181f : size, atan2(a.im, a.re));
}
inline complex64_t log2(complex64_t a) {
  const complex64_t natural = log(a);
  return complex64_t(natural.re * 1.44269504f, natural.im * 1.44269504f);
}
inline complex64_t log10(complex64_t a) {
  const complex64_t natural = log(a);
  return complex64_t(natural.re * 0.434294482f, natural.im * 0.434294482f);
}
inline complex64_t log_one_plus(complex64_t a) {
  const complex64_t sum(1.0f + a.re, a.im);
  // |1 + a|^2 - 1, without the 1.
  const float excess = a.re * (2.0f + a.re) + a.im * a.im;
  return magnitude(a) < 0.5f ? complex64_t(0.5f * log_one_plus(excess), atan2(sum.im, sum.re)) : log(sum);
}
inline complex64_t exponential_minus_one(complex64_t a) {
  const float size = exponential_minus_one(a.re);
  if (a.im == 0.0f) {
    return complex64_t(size, a.im);
  }
  // cos(b) - 1 = -2 sin(b / 2)^2.
  const float half_sine = sin(0.5f * a.im);
  return complex64_t(size * cos(a.im) - 2.0f * half_sine * half_sine, exp(a.re) * sin(a.im));
}
inline complex64_t log_add_exp(complex64_t a, complex64_t b) {
  const complex64_t high = a.re >= b.re ? a : b;
  const complex64_t low = a.re >= b.re ? b : a;
  return isinf(high.re) ? high : high + log_one_plus(exp(low - high));
}
inline complex64_t sin(complex64_t a) {
  return complex64_t(cosh_times(a.im, sin(a.re)), sinh_times(a.im, cos(a.re)));
}
inline complex64_t cos(complex64_t a) {
  return complex64_t(cosh_times(a.im, cos(a.re)), -sinh_times(a.im, sin(a.re)));
}
inline complex64_t sinh(complex64_t a) {
  return complex64_t(sinh_times(a.re, cos(a.im)), cosh_times(a.re, sin(a.im)));
}
inline complex64_t cosh(complex64_t a) {
  return complex64_t(cosh_times(a.re, cos(a.im)), sinh_times(a.re, sin(a.im)));
}
inline complex64_t tanh(complex64_t a) {
  // On the axes the other part is a zero, whose sign a quotient would lose.
  if (a.im == 0.0f) {
    return complex64_t(tanh(a.re), a.im);
  }
  if (a.re == 0.0f) {
    return complex64_t(a.re, tan(a.im));
  }
  const float size = fabs(a.re);
  if (!(size > 20.0f)) {
    return sinh(a) / cosh(a);
  }
  // The real part is 1 to the last digit, and the exponentials of the quotient would overflow.
  const float turn = isinf(size) && !isfinite(a.im) ? 0.0f : 4.0f * sin(a.im) * cos(a.im) * exp(-2.0f * size);
  return complex64_t(copysign(1.0f, a.re), turn);
}
inline complex64_t tan(complex64_t a) {
  const complex64_t turned = tanh(complex64_t(-a.im, a.re));
  return complex64_t(turned.im, -turned.re);
}
inline complex64_t sqrt(complex64_t a) {
  if (isinf(a.im)) {
    return complex64_t(INFINITY, a.im);
  }
  // A quarter of what is large: its size does not overflow, and its root is the half.
  const bool is_large = max(fabs(a.re), fabs(a.im)) > 1e38f;
  const complex64_t part = is_large ? complex64_t(0.25f * a.re, 0.25f * a.im) : a;
  const float size = magnitude(part);
  if (size == 0.0f) {
    return complex64_t(0.0f, a.im);
  }
  const float root = sqrt(0.5f * (size + fabs(part.re)));
  const float other = 0.5f * fabs(part.im) / root;
  const float high = is_large ? 2.0f * root : root;
  const float low = is_large ? 2.0f * other : other;
  return a.re >= 0.0f ? complex64_t(high, copysign(low, a.im)) : complex64_t(low, copysign(high, a.im));
}
// Kahan: Branch cuts for complex elementary functions.
inline complex64_t asin(complex64_t a) {
  if (is_infinite(a)) {
    const complex64_t to = direction(a);
    return complex64_t(atan2(to.re, fabs(to.im)), copysign(INFINITY, a.im));
  }
  const complex64_t below = sqrt(complex64_t(1.0f - a.re, -a.im));
  const complex64_t above = sqrt(complex64_t(1.0f + a.re, a.im));
  return complex64_t(atan2(a.re, below.re * above.re - below.im * above.im),
                     asinh(below.re * above.im - below.im * above.re));
}
inline complex64_t acos(complex64_t a) {
  if (is_infinite(a)) {
    const complex64_t to = direction(a);
    return complex64_t(atan2(fabs(to.im), to.re), copysign(INFINITY, -a.im));
  }
  const complex64_t below = sqrt(complex64_t(1.0f - a.re, -a.im));
  const complex64_t above = sqrt(complex64_t(1.0f + a.re, a.im));
  return complex64_t(2.0f * atan2(below.re, above.re), asinh(above.re * below.im - above.im * below.re));
}
inline complex64_t acosh(complex64_t a) {
  if (is_infinite(a)) {
    const complex64_t to = direction(a);
    return complex64_t(INFINITY, atan2(to.im, to.re));
  }
  const complex64_t below = sqrt(complex64_t(a.re - 1.0f, a.im));
  const complex64_t above = sqrt(complex64_t(a.re + 1.0f, a.im));
  return complex64_t(asinh(below.re * above.re + below.im * above.im), 2.0f * atan2(below.im, above.re));
}
inline complex64_t atanh(complex64_t a) {
  if (is_infinite(a)) {
    return complex64_t(copysign(0.0f, a.re), isnan(a.im) ? a.im : copysign(M_PI_2_F, a.im));
  }
  const float size = fabs(a.re);
  const float rest = 1.0f - size;
  // So near to 1 that the square of the distance vanishes.
  const float distance = magnitude(complex64_t(rest, a.im));
  // So far away that it has no number.
  const bool is_far = distance > 1e18f;
  const float re = is_far             ? size / distance / distance
                   : distance < 1e-9f ? 0.5f * (0.693147181f - log(distance))
                                      : 0.25f * log_one_plus(4.0f * size / (rest * rest + a.im * a.im));
  return complex64_t(copysign(re, a.re), 0.5f * atan2(2.0f * a.im, rest * (1.0f + size) - a.im * a.im));
}
inline complex64_t asinh(complex64_t a) {
  const complex64_t turned = asin(complex64_t(-a.im, a.re));
  return complex64_t(turned.im, -turned.re);
}
inline complex64_t atan(complex64_t a) {
  const complex64_t turned = atanh(complex64_t(-a.im, a.re));
  return complex64_t(turned.im, -turned.re);
}
inline complex64_t raised(complex64_t a, complex64_t b) {
  if (a.re == 0.0f && a.im == 0.0f) {
    const bool is_one = b.re == 0.0f && b.im == 0.0f;
    return is_one ? complex64_t(1.0f) : b.re > 0.0f ? complex64_t(0.0f) : complex64_t(NAN, NAN);
  }
  return exp(b * log(a));
}

template <typename R>
struct FromComplex {
  static R convert(complex64_t a) { return R(a.re); }
};
template <>
struct FromComplex<bool> {
  static bool convert(complex64_t a) { return a.re != 0.0f || a.im != 0.0f; }
};
template <>
struct FromComplex<complex64_t> {
  static complex64_t convert(complex64_t a) { return a; }
};
template <typename R>
inline R converted(complex64_t a) { return FromComplex<R>::convert(a); }
