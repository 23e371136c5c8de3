#include "tests/compiler/stdlib/elementwise.h"

// Vectors against scalars of the same type: the program computes both and counts the differences.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

const std::string kHead = R"(
  #include <metal_stdlib>
  using namespace metal;
  template <typename T> bool same(T a, T b) { return a == b || (a != a && b != b); }
  template <typename T, int N> uint differences(vec<T, N> a, vec<T, N> b) {
    uint count = 0;
    for (int i = 0; i < N; ++i) count += !same(T(a[i]), T(b[i]));
    return count;
  }
)";

const char* const kIntegers[] = {"char", "uchar", "short", "ushort",
                                 "int",  "uint",  "long",  "ulong"};
const char* const kFloats[] = {"half", "bfloat", "float"};

// Values for x and y that no operation is undefined for.
const std::string kValues = R"(
  template <typename T, int N> vec<T, N> left() {
    vec<T, N> v;
    for (int i = 0; i < N; ++i) v[i] = T(i * 13 + 5);
    return v;
  }
  template <typename T, int N> vec<T, N> right() {
    vec<T, N> v;
    for (int i = 0; i < N; ++i) v[i] = T(i * 3 + 2);
    return v;
  }
)";

/// Runs `count<T, N>(a, b)`, which `functions` define, for each type, one kernel to a type. Vectors
/// of three differ most from arrays; the other lengths are checked for the first type.
template <typename Types>
void check_types(const std::string& functions, const Types& types) {
  const Gpu gpu;
  std::string source = kHead + kValues + functions;
  for (const char* type : types) {
    source += std::string("kernel void test_") + type + "(device uint* out [[buffer(0)]]) {\n";
    const std::string lengths = type == types[0] ? "324" : "3";
    for (std::size_t index = 0; index < lengths.size(); ++index) {
      const std::string arguments = std::string("<") + type + ", " + lengths[index] + ">";
      source += "  out[" + std::to_string(index) + "] = count" + arguments + "(left" + arguments +
                "(), right" + arguments + "());\n";
    }
    source += "}\n";
  }
  // Fast math may divide a vector by one number in another way than each element.
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setMathMode(MTL::MathModeSafe);
  const auto library = gpu.library(source, options.get());
  for (const char* type : types) {
    std::vector<std::uint32_t> out(3);

    gpu.run(gpu.pipeline(library.get(), std::string("test_") + type).get(), {.grid = size(1)}, out);

    CAPTURE(type);
    CHECK(out == std::vector<std::uint32_t>(3));
  }
}

std::string count_binary(const std::vector<std::string>& operators) {
  std::string function =
      "template <typename T, int N> uint count(vec<T, N> a, vec<T, N> b) {\n  uint bad = 0;\n"
      "  const T s = b[1];\n  vec<T, N> e;\n";
  const auto check = [&](const std::string& result, const std::string& element) {
    function += "  for (int i = 0; i < N; ++i) e[i] = T(" + element +
                ");\n  bad += differences<T, N>(" + result + ", e);\n";
  };
  for (const std::string& op : operators) {
    check("a " + op + " b", "T(a[i]) " + op + " T(b[i])");
    check("a " + op + " s", "T(a[i]) " + op + " s");
    check("s " + op + " b", "s " + op + " T(b[i])");
    function += "  { vec<T, N> c = a; c " + op + "= b;\n";
    check("c", "T(a[i]) " + op + " T(b[i])");
    function += "  c = a; c " + op + "= s;\n";
    check("c", "T(a[i]) " + op + " s");
    function += "  }\n";
  }
  return function + "  return bad;\n}\n";
}

}  // namespace

TEST_CASE("arithmetic on vectors is that on their elements") {
  check_types(count_binary({"+", "-", "*", "/"}), kFloats);
  check_types(count_binary({"+", "-", "*", "/", "%", "&", "|", "^"}), kIntegers);
}

TEST_CASE("shifts of vectors are those of their elements") {
  check_types(R"(
    template <typename T, int N> uint count(vec<T, N> a, vec<T, N> b) {
      const vec<T, N> left = a << b, right = a >> b, by_one = a << 1, mixed = a << vec<short, N>(b);
      uint bad = 0;
      for (int i = 0; i < N; ++i) {
        const int width = sizeof(T) * 8, n = int(b[i]) % width;
        bad += left[i] != T(a[i] << n) || right[i] != T(a[i] >> n) || by_one[i] != T(a[i] << 1) ||
               mixed[i] != left[i];
      }
      return bad;
    })",
              kIntegers);
}

TEST_CASE("unary operators and steps work on every element") {
  check_types(R"(
    template <typename T, int N> uint count(vec<T, N> a, vec<T, N> b) {
      vec<T, N> c = a, d = a;
      const vec<T, N> minus = -a, plus = +a, before = c++, after = ++d;
      uint bad = differences(before, a) + differences(after, c) + differences(plus, a);
      for (int i = 0; i < N; ++i) bad += !same(minus[i], T(-a[i])) || !same(c[i], T(a[i] + T(1)));
      --c;
      d--;
      const vec<bool, N> nothing = !a;
      return bad + differences(c, a) + differences(d, a) + any(nothing);
    })",
              kFloats);
  check_types(R"(
    template <typename T, int N> uint count(vec<T, N> a, vec<T, N> b) {
      vec<T, N> c = a;
      c++;
      --c;
      const vec<T, N> flipped = ~a, minus = -a;
      uint bad = differences(c, a);
      for (int i = 0; i < N; ++i) bad += flipped[i] != T(~a[i]) || minus[i] != T(-a[i]);
      return bad;
    })",
              kIntegers);
}

TEST_CASE("comparisons and logic give vectors of bool") {
  const std::string functions = R"(
    template <typename T, int N> uint count(vec<T, N> a, vec<T, N> b) {
      b[0] = a[0];
      b[1] = T(0);
      uint bad = 0;
      for (int i = 0; i < N; ++i) {
        const T x = a[i], y = b[i], s = a[1];
        bad += (a == b)[i] != (x == y) || (a != b)[i] != (x != y) || (a < b)[i] != (x < y) ||
               (a > b)[i] != (x > y) || (a <= b)[i] != (x <= y) || (a >= b)[i] != (x >= y) ||
               (a < s)[i] != (x < s) || (s < b)[i] != (s < y) || (a && b)[i] != (x && y) ||
               (a || b)[i] != (x || y) || (!b)[i] != !y || (s && b)[i] != (s && y);
      }
      static_assert(sizeof(a == b) == (N == 3 ? 4 : N), "a bool takes one byte");
      return bad;
    })";
  check_types(functions, kFloats);
  check_types(functions, kIntegers);
}

TEST_CASE("vectors convert element by element between all types") {
  const char* const types[] = {"bool", "char", "uchar", "short", "ushort", "int",
                               "uint", "long", "ulong", "half",  "bfloat", "float"};
  std::string functions =
      "template <typename To, typename T, int N> uint to(vec<T, N> a) {\n"
      "  const vec<To, N> r = vec<To, N>(a), c = (vec<To, N>)a, s = static_cast<vec<To, N>>(a);\n"
      "  uint bad = differences(r, c) + differences(r, s);\n"
      "  for (int i = 0; i < N; ++i) bad += !same(To(r[i]), To(float(a[i])));\n"
      "  return bad;\n}\n"
      "template <typename T, int N> uint count(vec<T, N> a, vec<T, N>) {\n  uint bad = 0;\n";
  for (const char* type : types) {
    functions += std::string("  bad += to<") + type + ">(a);\n";
  }
  functions += "  return bad;\n}\n";
  check_types(functions, types);
}

TEST_CASE("packed vectors compute like vectors") {
  const std::string functions = R"(
    template <typename T, int N> uint count(vec<T, N> a, vec<T, N> b) {
      packed_vec<T, N> p = a, q(b), c = p;
      const T s = b[1];
      uint bad = differences<T, N>(p + q, a + b) + differences<T, N>(p - b, a - b) +
                 differences<T, N>(a * q, a * b) + differences<T, N>(p / q, a / b) +
                 differences<T, N>(p + s, a + s) + differences<T, N>(s * q, s * b) +
                 differences<T, N>(-p, -a) + any((p < q) != (a < b)) + any((p == b) != (a == b));
      c += q;
      c *= s;
      bad += differences<T, N>(c, (a + b) * s);
      c.xy = c.yx;
      c.x += T(1);
      c[1] = p.y;
      const T x = (a[1] + b[1]) * s;
      bad += c.x != T(x + T(1)) || c.y != a[1] || p.yx.x != a[1];
      static_assert(sizeof(p) == N * sizeof(T) && alignof(packed_vec<T, N>) == sizeof(T), "");
      return bad;
    })";
  check_types(functions, kFloats);
  check_types(functions, kIntegers);
}

}  // namespace pewter
