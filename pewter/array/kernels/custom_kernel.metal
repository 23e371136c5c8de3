#include <metal_stdlib>
using namespace metal;

typedef half float16_t;
typedef bfloat bfloat16_t;

struct complex64_t {
  float real;
  float imag;

  complex64_t() thread = default;
  constexpr complex64_t(float r, float i) : real(r), imag(i) {}
  constexpr complex64_t(float r) : real(r), imag(0.0f) {}
};
inline complex64_t operator-(complex64_t a) { return complex64_t(-a.real, -a.imag); }
inline complex64_t operator+(complex64_t a, complex64_t b) { return complex64_t(a.real + b.real, a.imag + b.imag); }
inline complex64_t operator-(complex64_t a, complex64_t b) { return complex64_t(a.real - b.real, a.imag - b.imag); }
inline complex64_t operator*(complex64_t a, complex64_t b) {
  return complex64_t(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real);
}
inline complex64_t operator/(complex64_t a, complex64_t b) {
  // Smith: by the ratio of the parts, so that squares neither overflow nor vanish.
  const bool is_steep = fabs(b.imag) > fabs(b.real);
  const float large = is_steep ? b.imag : b.real;
  const float ratio = large == 0.0f ? 0.0f : (is_steep ? b.real : b.imag) / large;
  const float size = large + (is_steep ? b.real : b.imag) * ratio;
  return is_steep ? complex64_t((a.real * ratio + a.imag) / size, (a.imag * ratio - a.real) / size)
                  : complex64_t((a.real + a.imag * ratio) / size, (a.imag - a.real * ratio) / size);
}
inline complex64_t operator+(complex64_t a) { return a; }
inline bool operator==(complex64_t a, complex64_t b) { return a.real == b.real && a.imag == b.imag; }
inline bool operator!=(complex64_t a, complex64_t b) { return !(a == b); }
// By the real part, then by the imaginary one.
inline bool operator<(complex64_t a, complex64_t b) {
  return a.real < b.real || (a.real == b.real && a.imag < b.imag);
}
inline bool operator>(complex64_t a, complex64_t b) { return b < a; }
inline bool operator<=(complex64_t a, complex64_t b) { return a < b || a == b; }
inline bool operator>=(complex64_t a, complex64_t b) { return b <= a; }

#define PEWTER_ASSIGNMENT(space, op)                                            \
  inline space complex64_t& operator op##=(space complex64_t& a, complex64_t b) { \
    a = complex64_t(a) op b;                                                    \
    return a;                                                                   \
  }
#define PEWTER_ASSIGNMENTS(space) \
  PEWTER_ASSIGNMENT(space, +)     \
  PEWTER_ASSIGNMENT(space, -)     \
  PEWTER_ASSIGNMENT(space, *)     \
  PEWTER_ASSIGNMENT(space, /)
PEWTER_ASSIGNMENTS(thread)
PEWTER_ASSIGNMENTS(device)
PEWTER_ASSIGNMENTS(threadgroup)
#undef PEWTER_ASSIGNMENTS
#undef PEWTER_ASSIGNMENT

template <typename T, typename U>
inline T ceildiv(T a, U b) { return (a + b - 1) / b; }

// The place of an element, counted row by row, in memory.
template <typename Index>
inline int64_t elem_to_loc(Index elem, constant const int* shape, constant const int64_t* strides, int ndim) {
  int64_t loc = 0;
  for (int i = ndim - 1; i >= 0 && elem > 0; --i) {
    loc += int64_t(elem % Index(shape[i])) * strides[i];
    elem /= Index(shape[i]);
  }
  return loc;
}
