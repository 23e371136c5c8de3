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
inline bool operator==(complex64_t a, complex64_t b) { return a.real == b.real && a.imag == b.imag; }

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
