#include "tests/support/gpu.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// Runs `body` in one thread with `out` to write floats to, and gives back the first `count` of
/// them.
std::vector<float> values_of(const std::string& body,
                             std::size_t count,
                             const std::string& before = {}) {
  const Gpu gpu;
  const std::string source =
      kHead + before + "\nkernel void f(device float* out [[buffer(0)]]) {\n" + body + "\n}\n";
  std::vector<float> out(count);
  gpu.run(source, "f", {.grid = size(1)}, out);
  return out;
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("literals without suffix are float, h is half and bf is bfloat") {
  CHECK(values_of("out[0] = sizeof(1.0); out[1] = sizeof(1.5h); out[2] = sizeof(2.5bf);"
                  "out[3] = 1e-3; out[4] = 1.5h; out[5] = 2.5bf; out[6] = .5; out[7] = 0x10;"
                  "out[8] = (0.1 + 0.2 == 0.1f + 0.2f); out[9] = 0x1p-2; out[10] = 3h;",
                  11) == Floats{4, 2, 2, 1e-3F, 1.5F, 2.5F, 0.5F, 16, 1, 0.25F, 3});
}

TEST_CASE("swizzles read, write and chain") {
  CHECK(values_of("float4 v = float4(1, 2, 3, 4); v.xz = v.yw; out[0] = v.x; out[1] = v.z;"
                  "v.wzyx = float4(5, 6, 7, 8); out[2] = v.x; out[3] = v.w;"
                  "out[4] = v.rgba.bgr.x; v.xy += 1; out[5] = v.y; out[6] = (v + v).zw.y;"
                  "v.x *= 2; out[7] = v.x; v.y++; out[8] = v.y;",
                  9) == Floats{2, 4, 8, 5, 6, 8, 10, 18, 9});
}

TEST_CASE("a user's own members may be called like swizzles") {
  CHECK(values_of("A a; a.xy = float2(1, 2); a.rg = 7; out[0] = a.xy.y; out[1] = a.rg;", 2,
                  "struct A { float2 xy; int rg; };") == Floats{2, 7});
}

TEST_CASE("swizzles work in templates") {
  CHECK(values_of("out[0] = f(float4(1, 2, 3, 4)); out[1] = g<float>(2);", 2,
                  "template <typename V> float f(V v) { v.xy += v.zw; return v.x + v.yx.x; }\n"
                  "template <typename T> T g(T s) { vec<T, 4> v(s); v.zw *= T(3); return "
                  "dot(v.xz, v.yw); }") == Floats{10, 40});
}

TEST_CASE("templates change components in place where operators are overloaded") {
  CHECK(values_of("out[0] = f<float>(2); out[1] = g<int>(5);", 2,
                  "struct C { float r; };\n"
                  "thread C& operator+=(thread C& a, C b) { a.r += b.r; return a; }\n"
                  "C operator++(thread C& a, int) { C c = a; a.r += 1; return c; }\n"
                  "thread C& operator--(thread C& a) { a.r -= 1; return a; }\n"
                  "struct P { C x; };\n"
                  "template <typename T> T f(T s) {\n"
                  "  vec<T, 2> v(s, 1); v.x += s; v.y++; --v.x; (v.xy) += vec<T, 2>(1);\n"
                  "  return v.x * 10 + v.y; }\n"
                  "template <typename T> float g(T s) {\n"
                  "  P p{{float(s)}}; p.x += C{float(s)}; return p.x.r; }") == Floats{43, 10});
}

TEST_CASE("vectors are built from scalars and vectors in any mix") {
  CHECK(values_of("float4 v(float2(1, 2), 3, 4); out[0] = v.z; float4 w(1, float3(2, 3, 4));"
                  "out[1] = w.w; float3 s(7); out[2] = s.z; int3 i = int3(float3(1.9, -1.9, 2));"
                  "out[3] = i.x; out[4] = i.y; uint3 u = {1, 2, 3}; out[5] = u.z;"
                  "half4 h = half4(v); out[6] = h.w; float4 d = float4(1) * 2; out[7] = d.y;",
                  8) == Floats{3, 4, 7, 1, -1, 3, 4, 2});
}

TEST_CASE("casts between half and bfloat go through float") {
  CHECK(values_of("bfloat b = 3.140625bf; half h = half(b); out[0] = h; half c = (half)b + 1.0h;"
                  "out[1] = c; bfloat d = static_cast<bfloat>(h); out[2] = d;"
                  "out[3] = convert<half>(b); out[4] = convert<bfloat>(h);",
                  5, "template <typename T, typename U> T convert(U u) { return T(u); }") ==
        Floats{3.140625F, 4.140625F, 3.140625F, 3.140625F, 3.140625F});
}

TEST_CASE("a conditional may choose between objects in different address spaces") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    constant float4 fallback = float4(9);
    kernel void f(device float4* d [[buffer(0)]], constant float4* c [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      float4 mine = float4(i);
      float4 a = d[i].x > 1 ? d[i] : mine;
      float4 b = d[i].x > 1 ? c[i] : fallback;
      d[i] = a + b;
    })";
  std::vector<float> d = {1, 1, 1, 1, 2, 2, 2, 2};

  gpu.run(source, "f", {.grid = size(2)}, d, std::vector<float>(8, 5));

  CHECK(d == Floats{9, 9, 9, 9, 7, 7, 7, 7});
}

TEST_CASE("member functions may be overloaded by address space") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    struct Pair {
      int a, b;
      int sum() const device { return a + b; }
      int sum() const constant { return a + b; }
      int sum() const thread { return a + b; }
      int sum() const threadgroup { return a + b; }
    };
    kernel void f(device Pair* d [[buffer(0)]], constant Pair& c [[buffer(1)]]) {
      Pair t = d[0];
      threadgroup Pair g;
      g = t;
      d[0].a = d[0].sum() + c.sum() + t.sum() + g.sum();
    })";
  std::vector<int> d = {1, 2};

  gpu.run(source, "f", {.grid = size(1)}, d, std::vector<int>{10, 20});

  CHECK(d[0] == 39);
}

TEST_CASE("arrays as kernel parameters are pointers") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    float total(constant float rows[2][3]) { return rows[1][2]; }
    kernel void f(device float* out [[buffer(0)]], constant float in[4] [[buffer(1)]],
                  constant float m[2][3] [[buffer(2)]]) {
      out[0] = in[3] + total(m);
    })";
  std::vector<float> out(1);

  gpu.run(source, "f", {.grid = size(1)}, out, std::vector<float>{1, 2, 3, 4},
          std::vector<float>{1, 2, 3, 4, 5, 6});

  CHECK(out[0] == 10);
}

TEST_CASE("structs, unions, bit-fields, enums, lambdas and constexpr work") {
  CHECK(values_of(
            "Bits b; b.low = 19; b.high = 2; out[0] = b.low; out[1] = b.high;"
            "Word w; w.f = 1.0; out[2] = w.u == 0x3f800000u;"
            "out[3] = int(Color::Blue); auto twice = [&](float x) { return x * 2 + out[0]; };"
            "out[4] = twice(5); constexpr int n = cube(3); int a[n]; a[26] = 4; out[5] = a[26];"
            "out[6] = fibonacci(10); out[7] = kTable[2]; out[8] = Holder<3>::value;",
            9,
            "struct Bits { uint low : 4; uint high : 28; };\n"
            "union Word { float f; uint u; };\n"
            "enum class Color : uint { Red, Green, Blue = 7 };\n"
            "constexpr int cube(int x) { return x * x * x; }\n"
            "int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }\n"
            "constant float kTable[] = {1, 2, 4};\n"
            "template <int N> struct Holder { static constant constexpr int value = N * 2; };") ==
        Floats{3, 2, 1, 7, 13, 4, 55, 4, 6});
}

TEST_CASE("components of constexpr vectors are constants") {
  CHECK(values_of("constexpr float d = kScale.y; int a[int(d)]; a[1] = 6; out[0] = a[1];", 1,
                  "constexpr constant float4 kScale = float4(1, 2, 3, 4);") == Floats{6});
}

TEST_CASE("vectors in memory are aligned as their elements") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    struct Pair { float4 a; half4 b; };
    kernel void f(device const char* bytes [[buffer(0)]], device char* copies [[buffer(1)]],
                  device float* sums [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      const float4 v = *(device const float4*)(bytes + i * 132);
      sums[i] = v.x + v.y + v.z + v.w;
      *(device float4*)(copies + i * 132) = v * 2;
      const Pair pair = *(device const Pair*)(bytes + i * 132 + 20);
      *(device Pair*)(copies + i * 132 + 20) = pair;
      *(device half4*)(copies + i * 132 + 70) = half4(*(device const half4*)(bytes + i * 132 + 70));
    })";
  constexpr std::size_t kRows = 37;
  std::vector<float> in(kRows * 33);
  for (std::size_t i = 0; i < in.size(); ++i) {
    in[i] = static_cast<float>(i % 97);
  }
  std::vector<float> copies(in.size());
  std::vector<float> sums(kRows);

  gpu.run(source, "f", {.grid = size(kRows), .group = size(32)}, in, copies, sums);

  for (std::size_t row = 0; row < kRows; ++row) {
    const float* x = &in[row * 33];
    REQUIRE(sums[row] == x[0] + x[1] + x[2] + x[3]);
    REQUIRE(copies[row * 33 + 3] == 2 * x[3]);
    REQUIRE(copies[row * 33 + 8] == x[8]);
    REQUIRE(copies[row * 33 + 18] == x[18]);
  }
}

TEST_CASE("string literals convert to constant char pointers") {
  CHECK(values_of("out[0] = second(\"abc\");", 1,
                  "int second(constant char* text) { return text[1]; }") == Floats{98});
}

TEST_CASE("threadgroup variables live in any scope and in called functions") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    float from_neighbour(float x, uint i, uint n) {
      threadgroup float shared[64];
      shared[i] = x;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      return shared[(i + 1) % n];
    }
    kernel void f(device float* out [[buffer(0)]], uint i [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]], uint g [[thread_position_in_grid]]) {
      float x = out[g];
      for (int round = 0; round < 2; ++round) {
        threadgroup float local[64];
        local[i] = from_neighbour(x, i, n);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x = local[(i + 1) % n];
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
      out[g] = x;
    })";
  std::vector<float> out(128);
  for (std::size_t index = 0; index < out.size(); ++index) {
    out[index] = static_cast<float>(index);
  }

  gpu.run(source, "f", {.grid = size(128), .group = size(64)}, out);

  CHECK(out[0] == 4);
  CHECK(out[62] == 2);
  CHECK(out[64] == 68);
  CHECK(out[127] == 67);
}

TEST_CASE("threadgroup arguments are sized by the host") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void reverse(device int* data [[buffer(0)]],
                        threadgroup int* a [[threadgroup(0)]],
                        threadgroup short* b [[threadgroup(1)]],
                        uint i [[thread_index_in_threadgroup]],
                        uint n [[threads_per_threadgroup]]) {
      a[i] = data[i];
      b[i] = short(i);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      data[i] = a[n - 1 - i] * 100 + b[n - 1 - i];
    })";
  std::vector<int> data = {1, 2, 3, 4, 5};

  gpu.run(source, "reverse", {.grid = size(5), .group = size(5)}, data,
          test::ThreadgroupMemory{5 * 4}, test::ThreadgroupMemory{16});

  CHECK(data == std::vector<int>{504, 403, 302, 201, 100});
}

TEST_CASE("argument buffers hold pointers, arrays of pointers and values") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    struct Arguments {
      device float* out [[id(0)]];
      constant float* scale [[id(1)]];
      array<device float*, 2> inputs [[id(2)]];
      float bias [[id(4)]];
    };
    kernel void f(constant Arguments& arguments [[buffer(0)]],
                  device float* device* table [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      arguments.out[i] = arguments.inputs[0][i] * *arguments.scale + arguments.inputs[1][i] +
                         arguments.bias + table[1][i];
    })";
  const auto out = gpu.buffer(Floats(3));
  const auto scale = gpu.buffer(Floats{10});
  const auto left = gpu.buffer(Floats{1, 2, 3});
  const auto right = gpu.buffer(Floats{4, 5, 6});
  struct {
    std::uint64_t out, scale, inputs[2];
    float bias;
  } const arguments = {
      out->gpuAddress(), scale->gpuAddress(), {left->gpuAddress(), right->gpuAddress()}, 0.5F};

  gpu.run(source, "f", {.grid = size(3)}, arguments,
          std::vector<std::uint64_t>{0, left->gpuAddress()});

  const auto* result = static_cast<const float*>(out->contents());
  CHECK(result[0] == 15.5F);
  CHECK(result[2] == 39.5F);
}

TEST_CASE("templates with host names are kernels, each compiled when it is asked for") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    template <typename T, int N> [[kernel]] void scale(device T* x [[buffer(0)]],
                                                       uint i [[thread_position_in_grid]]) {
      x[i] = x[i] * T(N);
    }
    #define INSTANTIATE(T, N) \
      template [[host_name("scale_" #T "_" #N)]] [[kernel]] decltype(scale<T, N>) scale<T, N>;
    INSTANTIATE(float, 2)
    INSTANTIATE(int, 3))";
  const auto library = gpu.library(source);
  std::vector<float> floats = {1, 2, 3};
  std::vector<int> integers = {4, 5};

  gpu.run(gpu.pipeline(library.get(), "scale_float_2").get(), {.grid = size(3)}, floats);
  gpu.run(gpu.pipeline(library.get(), "scale_int_3").get(), {.grid = size(2)}, integers);

  CHECK(floats == Floats{2, 4, 6});
  CHECK(integers == std::vector<int>{12, 15});
}

TEST_CASE("macros of the compile options are seen by the source") {
  const Gpu gpu;
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  const NS::Object* keys[] = {test::string("WIDTH")};
  const NS::Object* values[] = {test::string("7")};
  options->setPreprocessorMacros(NS::Dictionary::dictionary(values, keys, 1));
  const auto library =
      gpu.library("kernel void f(device int* x [[buffer(0)]]) { x[0] = WIDTH; }", options.get());
  std::vector<int> x(1);

  gpu.run(gpu.pipeline(library.get(), "f").get(), {.grid = size(1)}, x);

  CHECK(x[0] == 7);
}

TEST_CASE("safe math rounds every product, fast math may fuse it with a sum") {
  const Gpu gpu;
  const std::string source =
      "kernel void f(device float* x [[buffer(0)]]) { x[1] = x[0] * x[0] - x[2]; }";
  const auto rest = [&](MTL::MathMode mode) {
    auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
    options->setMathMode(mode);
    const float x = 1 + 0x1p-12F;
    std::vector<float> values = {x, 0, x * x};
    gpu.run(gpu.pipeline(gpu.library(source, options.get()).get(), "f").get(), {.grid = size(1)},
            values);
    return values[1];
  };

  CHECK(rest(MTL::MathModeSafe) == 0);
  CHECK(rest(MTL::MathModeFast) == 0x1p-24F);
}

TEST_CASE("layouts follow the MSL tables") {
  CHECK(
      values_of("out[0] = sizeof(float3); out[1] = alignof(float3); out[2] = sizeof(packed_float3);"
                "out[3] = alignof(packed_float3); out[4] = sizeof(half3); out[5] = sizeof(bool4);"
                "out[6] = sizeof(float3x3); out[7] = sizeof(float4x2); out[8] = sizeof(long2);"
                "out[9] = sizeof(S); out[10] = sizeof(uchar3);",
                11, "struct S { packed_float3 p; half h; uchar4 c; };") ==
      Floats{16, 16, 12, 4, 8, 4, 48, 32, 16, 20, 4});
}

}  // namespace pewter
