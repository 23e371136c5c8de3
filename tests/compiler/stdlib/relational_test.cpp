#include "tests/compiler/stdlib/elementwise.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

struct Format {
  const char* type;
  const char* bits;
  std::uint32_t infinity;
  std::uint32_t smallest_normal;
  std::uint32_t sign;
};

const Format kFormats[] = {{"float", "uint", 0x7f800000, 0x00800000, 0x80000000},
                           {"half", "ushort", 0x7c00, 0x0400, 0x8000},
                           {"bfloat", "ushort", 0x7f80, 0x0080, 0x8000}};

// isnan, isinf, isfinite, isnormal, signbit as bits 0 to 4.
std::uint32_t expected_tests(const Format& format, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & (format.sign - 1);
  return std::uint32_t{magnitude > format.infinity} |
         std::uint32_t{magnitude == format.infinity} << 1 |
         std::uint32_t{magnitude < format.infinity} << 2 |
         std::uint32_t{magnitude < format.infinity && magnitude >= format.smallest_normal} << 3 |
         std::uint32_t{(bits & format.sign) != 0} << 4;
}

}  // namespace

TEST_CASE("tests of numbers look at the bits, for scalars and vectors") {
  const Gpu gpu;
  for (const Format& format : kFormats) {
    const std::string type = format.type;
    const std::string source =
        "#include <metal_stdlib>\nusing namespace metal;\n"
        "template <typename B> uint4 pick(B a, B b, B c, B d, B e, int i) {\n"
        "  return uint4(a[i] | b[i] << 1 | c[i] << 2 | d[i] << 3 | e[i] << 4); }\n"
        "kernel void f(device const uint* in [[buffer(0)]], device uint2* out [[buffer(1)]],\n"
        "              uint i [[thread_position_in_grid]]) {\n  const " +
        type + " x = as_type<" + type + ">(" + format.bits +
        "(in[i]));\n"
        "  const vec<" +
        type + ", 3> v(" + type +
        "(1), x, x);\n"
        "  out[i].x = isnan(x) | isinf(x) << 1 | isfinite(x) << 2 | isnormal(x) << 3 |\n"
        "             signbit(x) << 4;\n"
        "  out[i].y = pick(isnan(v), isinf(v), isfinite(v), isnormal(v), signbit(v), 1).x;\n}\n";
    std::vector<std::uint32_t> in;
    for (const std::uint32_t sign : {std::uint32_t{0}, format.sign}) {
      for (const std::uint32_t magnitude :
           {std::uint32_t{0}, std::uint32_t{1}, format.smallest_normal - 1, format.smallest_normal,
            format.infinity / 2, format.infinity - 1, format.infinity, format.infinity + 1,
            format.sign - 1}) {
        in.push_back(sign | magnitude);
      }
    }
    std::vector<std::uint32_t> out(2 * in.size());

    gpu.run(source, "f", {.grid = size(in.size())}, in, out);

    for (std::size_t index = 0; index < in.size(); ++index) {
      CAPTURE(type);
      CAPTURE(in[index]);
      CHECK(out[2 * index] == expected_tests(format, in[index]));
      CHECK(out[2 * index + 1] == expected_tests(format, in[index]));
    }
  }
}

TEST_CASE("select, all, any and order tests follow their conditions") {
  test::check_values(
      {"select(bfloat(1), bfloat(2), true)", "select(long(1), long(2), false)",
       "select(half4(1), half4(2), bool4(false, true, false, true)).w",
       "select(float2(1), 5.0f, bool2(false, true)).y", "select(int3(1), int3(7), true).z",
       "select(true, false, true)", "isordered(float2(1, NAN), float2(2)).y",
       "isunordered(half3(1), half3(NAN)).z", "all(bool2(true))", "all(true)", "any(false)",
       "any(bool4(false, false, false, true))", "all(bool4(true, true, true, false))",
       "all(!bool2(false))", "any(float3(1, 2, 3) > float3(3, 2, 1))"},
      {2, 1, 2, 5, 7, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1});
}

TEST_CASE("select chooses components of every type") {
  std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "template <typename T> uint wrong() {\n"
      "  const vec<T, 4> a(T(1), T(2), T(3), T(4)), b(T(5), T(6), T(7), T(8));\n"
      "  const vec<T, 4> r = select(a, b, bool4(true, false, true, false));\n"
      "  return any(r != vec<T, 4>(T(5), T(2), T(7), T(4))); }\n"
      "kernel void f(device uint* out [[buffer(0)]]) {\n";
  const char* const types[] = {"char", "uchar", "short", "ushort", "int",  "uint",
                               "long", "ulong", "half",  "bfloat", "float"};
  for (const char* type : types) {
    source += std::string("  out[0] += wrong<") + type + ">();\n";
  }
  const Gpu gpu;
  std::vector<std::uint32_t> out(1);

  gpu.run(source + "}\n", "f", {.grid = size(1)}, out);

  CHECK(out[0] == 0);
}

}  // namespace pewter
