#include "tests/compiler/stdlib/elementwise.h"

// Matrices of every shape against loops, and geometric functions against double.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

// Counts how many elements differ from loops over elements. All values are small integers, so exact
// in half.
const std::string kMatrixProgram = R"(
  #include <metal_stdlib>
  using namespace metal;
  template <typename T, int C, int R> matrix<T, C, R> filled(int seed) {
    matrix<T, C, R> m;
    for (int c = 0; c < C; ++c)
      for (int r = 0; r < R; ++r) m[c][r] = T((c * 5 + r * 3 + seed) % 7 - 3);
    return m;
  }
  template <typename T, int N> vec<T, N> row(int seed) {
    vec<T, N> v;
    for (int i = 0; i < N; ++i) v[i] = T((i * 2 + seed) % 5 - 1);
    return v;
  }
  template <typename T, int C, int R> uint wrong() {
    const matrix<T, C, R> a = filled<T, C, R>(1), b = filled<T, C, R>(4), d(T(3));
    const vec<T, C> x = row<T, C>(1);
    const vec<T, R> y = row<T, R>(2);
    matrix<T, C, R> e = a;
    e += b;
    e -= d;
    e *= T(2);
    const matrix<T, R, C> t = transpose(a);
    const matrix<T, C, R> sum = a + b, difference = a - b, scaled = a * T(2), left = T(2) * a, minus = -a;
    const vec<T, R> ax = a * x;
    const vec<T, C> ya = y * a;
    uint bad = 0;
    for (int c = 0; c < C; ++c) {
      T dot_y = 0;
      for (int r = 0; r < R; ++r) {
        const T diagonal = T(c == r ? 3 : 0);
        bad += sum[c][r] != a[c][r] + b[c][r] || difference[c][r] != a[c][r] - b[c][r] ||
               scaled[c][r] != T(2) * a[c][r] || left[c][r] != T(2) * a[c][r] ||
               minus[c][r] != -a[c][r] || t[r][c] != a[c][r] || d[c][r] != diagonal ||
               e[c][r] != (a[c][r] + b[c][r] - diagonal) * T(2) || a.columns[c][r] != a[c][r];
        dot_y += y[r] * a[c][r];
      }
      bad += ya[c] != dot_y;
    }
    for (int r = 0; r < R; ++r) {
      T dot_x = 0;
      for (int c = 0; c < C; ++c) dot_x += a[c][r] * x[c];
      bad += ax[r] != dot_x;
    }
    return bad;
  }
  template <typename T, int K, int C, int R> uint wrong_product() {
    const matrix<T, C, R> a = filled<T, C, R>(2);
    const matrix<T, K, C> b = filled<T, K, C>(3);
    const matrix<T, K, R> p = a * b;
    uint bad = 0;
    for (int k = 0; k < K; ++k)
      for (int r = 0; r < R; ++r) {
        T sum = 0;
        for (int c = 0; c < C; ++c) sum += a[c][r] * b[k][c];
        bad += p[k][r] != sum;
      }
    return bad;
  }
  kernel void f(device uint* out [[buffer(0)]]) {
)";

}  // namespace

TEST_CASE("matrices of every shape compute like loops over their elements") {
  const Gpu gpu;
  std::string source = kMatrixProgram;
  std::size_t index = 0;
  for (const std::string type : {"float", "half"}) {
    for (const char* columns : {"2", "3", "4"}) {
      for (const char* rows : {"2", "3", "4"}) {
        const std::string shape = std::string(columns) + ", " + rows + ">();\n";
        source += "    out[" + std::to_string(index++) + "] = wrong<" + type + ", " + shape;
        source += "    out[" + std::to_string(index++) + "] = wrong_product<" + type + ", " + rows +
                  ", " + shape;
      }
    }
  }
  std::vector<std::uint32_t> out(index, 1);

  gpu.run(source + "  }\n", "f", {.grid = size(1)}, out);

  CHECK(out == std::vector<std::uint32_t>(index));
}

TEST_CASE("matrices are made of columns, elements, a diagonal or another type") {
  test::check_values(
      {"float2x3(float3(1, 2, 3), float3(4, 5, 6))[1].y", "float2x2(1, 2, 3, 4)[1][0]",
       "float3x2(1, 2, 3, 4, 5, 6)[2].x", "half2x2(float2x2(1, 2, 3, 4))[1].y",
       "float4x4(2)[3].w + float4x4(2)[3].z", "determinant(float2x2(1, 2, 3, 4))",
       "determinant(float4x4(float4(2, 0, 0, 1), float4(0, 3, 0, 0), float4(0, 1, 4, 0), "
       "float4(1, 0, 0, 5)))",
       "determinant(half3x3(half3(1, 2, 3), half3(0, 1, 4), half3(5, 6, 0)))", "changed()[0].z",
       "(float3x3(2.0f) * float3x3(1.5f))[2].z", "simd_float4x4(3.0f)[1].y",
       "matrix_float2x2(1, 2, 3, 4)[0][1]", "braced[1].z", "braced[2][0]",
       "float2x2{1, 2, 3, 4}[1].x"},
      "float4x3 changed() { float4x3 m(1.0f); m[0] = float3(7, 8, 9); m[0].z += 1; m[1][2] = 2; "
      "return m; }\n#include <simd/simd.h>\n"
      "constant float3x3 braced = {{1, 2, 3}, float3(4, 5, 6), {7, 8}};",
      {5, 3, 5, 4, 2, -2, 108, 1, 10, 3, 3, 2, 6, 7, 3});
}

TEST_CASE("geometric functions agree with their definitions") {
  test::check_values(
      {"dot(packed_float3(1, 2, 3), packed_float3(4, 5, 6))", "dot(float3(1, 2, 3), 2.0f)",
       "length(half4(1, 1, 1, 1))", "length(packed_float2(3, 4))", "fast::length(float2(6, 8))",
       "precise::distance(float3(1, 2, 3), float3(1, 2, 8))", "normalize(float3(0, 0, 9)).z",
       "cross(half3(1, 2, 3), half3(4, 5, 6)).y",
       "cross(packed_float3(0, 1, 0), float3(0, 0, 1)).x",
       "reflect(float3(1, -1, 0), float3(0, 1, 0)).y",
       "faceforward(float2(1, 2), float2(1), "
       "float2(-1)).y",
       "refract(float2(0, -1), float2(0, 1), 2.0f).y",
       "length(refract(float2(0.8f, -0.6f), "
       "float2(0, 1), 1.5f))",
       "distance_squared(half2(1, 2), half2(4, 6))", "length_squared(float4(2))"},
      {32, 12, 2, 5, 10, 5, 1, 6, 1, 1, 2, -1, 0, 25, 16});
}

}  // namespace pewter
