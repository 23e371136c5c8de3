#include "tests/compiler/stdlib/elementwise.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

// A vector's components as the digits of a number, the first one lowest.
const std::string kDigits =
    "float digits(float2 v) { return v[0] + 10 * v[1]; }\n"
    "float digits(float3 v) { return v[0] + 10 * v[1] + 100 * v[2]; }\n"
    "float digits(float4 v) { return v[0] + 10 * v[1] + 100 * v[2] + 1000 * v[3]; }\n";

// Component indices of every swizzle of `length` letters over `components` components.
std::vector<std::vector<int>> swizzles(int components, int length) {
  std::vector<std::vector<int>> all = {{}};
  for (int position = 0; position < length; ++position) {
    std::vector<std::vector<int>> longer;
    for (const auto& shorter : all) {
      for (int component = 0; component < components; ++component) {
        longer.push_back(shorter);
        longer.back().push_back(component);
      }
    }
    all = longer;
  }
  return all;
}

std::string spell(const std::vector<int>& swizzle, const char* letters) {
  std::string name;
  for (const int component : swizzle) {
    name += letters[component];
  }
  return name;
}

float digits(const std::vector<int>& components) {
  float sum = 0;
  float place = 1;
  for (const int component : components) {
    sum += place * static_cast<float>(component);
    place *= 10;
  }
  return sum;
}

void check_reads(int components, const char* letters) {
  std::vector<std::string> expressions;
  std::vector<float> expected;
  for (int length = 2; length <= 4; ++length) {
    for (std::vector<int> swizzle : swizzles(components, length)) {
      expressions.push_back("digits(v()." + spell(swizzle, letters) + ")");
      for (int& component : swizzle) {
        ++component;
      }
      expected.push_back(digits(swizzle));
    }
  }
  const std::string type = "float" + std::to_string(components);
  const std::string values = std::string("1, 2, 3, 4").substr(0, components * 3 - 2);
  test::check_values(expressions, kDigits + type + " v() { return " + type + "(" + values + "); }",
                     expected);
}

void check_writes(int components, const char* letters) {
  const std::string type = "float" + std::to_string(components);
  std::string functions = kDigits;
  std::vector<std::string> expressions;
  std::vector<float> expected;
  for (int length = 2; length <= components; ++length) {
    for (const std::vector<int>& swizzle : swizzles(components, length)) {
      std::vector<int> written(components);
      bool repeats = false;
      for (int position = 0; position < length; ++position) {
        repeats = repeats || written[swizzle[position]] != 0;
        written[swizzle[position]] = position + 1;
      }
      if (repeats) {
        continue;
      }
      const std::string name = spell(swizzle, letters);
      functions += type + " set_" + name + "() { " + type + " v = 0; v." + name + " = float" +
                   std::to_string(length) + std::string("(1, 2, 3, 4").substr(0, length * 3 - 1) +
                   "); return v; }\n";
      expressions.push_back("digits(set_" + name + "())");
      expected.push_back(digits(written));
    }
  }
  test::check_values(expressions, functions, expected);
}

}  // namespace

TEST_CASE("every swizzle reads the components it names") {
  for (int components = 2; components <= 4; ++components) {
    CAPTURE(components);
    check_reads(components, "xyzw");
    check_reads(components, "rgba");
  }
}

TEST_CASE("every swizzle without repeats writes the components it names and no others") {
  for (int components = 2; components <= 4; ++components) {
    CAPTURE(components);
    check_writes(components, "xyzw");
    check_writes(components, "rgba");
  }
}

TEST_CASE("vectors are made of scalars and shorter vectors in every order") {
  const std::string before =
      kDigits + "constant float2 a(1, 2); constant float3 b(3, 4, 5); constant float s = 6;";
  test::check_values(
      {"digits(float2(s))", "digits(float2(s, 7))", "digits(float3(a, s))", "digits(float3(s, a))",
       "digits(float4(a, a.yx))", "digits(float4(b, s))", "digits(float4(s, b))",
       "digits(float4(a, s, 7))", "digits(float4(s, a, 7))", "digits(float4(s, 7, a))",
       "digits(float4(s, 7, 8, 9))", "digits(float4{1, 2, 3, 4})", "digits(float3{a, 9})",
       "digits(float4(uchar4(1, 2, 3, 4)))", "digits(float3(packed_half3(1, 2, 3)))"},
      before, {66, 76, 621, 216, 1221, 6543, 5436, 7621, 7216, 2176, 9876, 4321, 921, 4321, 321});
}

TEST_CASE("components can be read, changed and stepped like variables") {
  const std::string before = kDigits + R"(
    template <typename T, typename U> T first_of(vec<T, 4> v, U) { return v.x; }
    template <typename T> vec<T, 4> changed(vec<T, 4> v) {
      v.x += 1;
      v.y++;
      v.zw *= 2;
      v.wz = v.zw;
      v[0] -= T(1);
      for (v.x = 0; v.x < 3; ++v.x) {}
      return v;
    }
    float4 nested(device float* out) {
      struct Pair { float4 a; float2 xy; } p;
      p.a = float4(1, 2, 3, 4);
      p.xy = p.a.xy;
      p.xy.x = 5;
      auto add = [&](float x) { p.a.x += x; };
      add(p.xy.y);
      return float4(p.xy, p.a.xw);
    })";
  test::check_values({"digits(changed(float4(1, 2, 3, 4)))", "digits(float4(changed(int4(1))))",
                      "digits(nested(out))", "first_of(float4(7), float4(1).xy)",
                      "digits(float4(1, 2, 3, 4).wzyx.xy.yx)", "true ? float4(1, 2, 3, 4).y : 0"},
                     before, {6833, 2223, 4325, 7, 43, 2});
}

TEST_CASE("components of constant vectors are constants") {
  test::check_values(
      {"c.z", "sizes[1]", "sum(float3(1, 2, 3))"},
      "constexpr constant float4 c = float4(1, 2, 3, 4);\n"
      "constexpr constant int4 n = int4(1, 2, 3, 4).wzyx + 1;\n"
      "static_assert(c.x == 1 && c.zw.y == 4 && n.x == 5 && n[1] == 4 && (c * 2).y == 4, \"\");\n"
      "static_assert(bool4(c == float4(1, 2, 3, 5)).w == false, \"\");\n"
      "constexpr float3 changed(float3 v) { v.x = 7; v.yz += 1; return v; }\n"
      "static_assert(changed(float3(1, 2, 3)).z == 4 && changed(float3(1)).x == 7, \"\");\n"
      "constant int sizes[int(c.y)] = {3, 5};\n"
      "float sum(float3 v) { return v.x + v.y + v.z; }",
      {3, 5, 6});
}

TEST_CASE("writing a component leaves its neighbours to other threads") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    kernel void f(device float4* v [[buffer(0)]], device uchar4* b [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
      for (uint round = 0; round < 50; ++round) {
        switch (i % 4) {
          case 0: v[i / 4].x += 1; b[i / 4].x += 1; break;
          case 1: v[i / 4].y += 1; b[i / 4].y += 1; break;
          case 2: v[i / 4].z += 1; b[i / 4].z += 1; break;
          default: v[i / 4][3] += 1; b[i / 4][3] += 1; break;
        }
      }
    })";
  std::vector<float> v(4096);
  std::vector<unsigned char> b(4096);

  gpu.run(source, "f", {.grid = size(4096), .group = size(1)}, v, b);

  CHECK(v == std::vector<float>(4096, 50));
  CHECK(b == std::vector<unsigned char>(4096, 50));
}

}  // namespace pewter
