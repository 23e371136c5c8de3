#include "tests/support/gpu.h"

namespace pewter {
namespace {

/// The first line of what is said about one statement, which stands on line 4 from column 1.
std::string error_of(const std::string& statement) {
  const test::Gpu gpu;
  return test::first_line(
      gpu.library_error("#include <metal_stdlib>\nusing namespace metal;\n"
                        "kernel void f(device float4* p [[buffer(0)]], device half4* h "
                        "[[buffer(1)]], device int4* n [[buffer(2)]]) {\n" +
                        statement + "\n}\n"));
}

}  // namespace

TEST_CASE("vectors of different element types do not convert by themselves") {
  CHECK(error_of("p[0] = h[0];") == "program_source:4:6: error: no viable overloaded '='");
  CHECK(error_of("p[0] = p[0] + h[0];") ==
        "program_source:4:13: error: invalid operands to binary expression ('device float4' (aka "
        "'device vec<float, 4>') and 'device half4' (aka 'device vec<half, 4>'))");
  CHECK(error_of("p[0] = max(p[0], h[0]);") ==
        "program_source:4:8: error: no matching function for call to 'max'");
}

TEST_CASE("operators that an element type does not have are errors at the operator") {
  CHECK(error_of("p[0] = p[0] % p[0];").find("program_source:4:13: error: invalid operands") == 0);
  CHECK(error_of("p[0] = ~p[0];").find("program_source:4:8: error: invalid argument type") == 0);
  CHECK(error_of("bool4 b = p[0] > 0; b = b + b;").find("a vector of bool has no arithmetic") !=
        std::string::npos);
}

TEST_CASE("a swizzle that repeats or does not exist is an error") {
  CHECK(error_of("p[0].xx = 1;") ==
        "program_source:4:6: error: no setter defined for property 'xx'");
  CHECK(error_of("p[0].xyzq = 1;").find("program_source:4:6: error: no member named 'xyzq'") == 0);
  CHECK(error_of("float2 v; v.z = 1;").find("program_source:4:13: error: no member named 'z'") ==
        0);
  CHECK(error_of("p[0].xg = 1;").find("no member named 'xg'") != std::string::npos);
}

TEST_CASE("the address of a component cannot be taken") {
  CHECK(error_of("thread float* q = (thread float*)&p[0].x;") ==
        "program_source:4:34: error: address of property expression requested");
}

TEST_CASE("a constructor needs as many values as the vector has components") {
  CHECK(error_of("p[0] = float4(1, 2, 3);").find("program_source:4:8: error:") == 0);
  CHECK(error_of("p[0] = float4(p[0].xy, 1);").find("program_source:4:8: error:") == 0);
  CHECK(error_of("float3 v(1, 2);").find("program_source:4:8: error:") == 0);
  CHECK(error_of("float3x3 m(1, 2);").find("program_source:4:10: error: no matching constructor") ==
        0);
}

TEST_CASE("what Metal finds ambiguous or unknown is so here") {
  CHECK(error_of("p[0].x = max(1, 2.0f);") ==
        "program_source:4:10: error: call to 'max' is ambiguous");
  CHECK(error_of("p[0] = exp(n[0]);") ==
        "program_source:4:8: error: no matching function for call to 'exp'");
  CHECK(error_of("p[0].x = lgamma(1.0f);") ==
        "program_source:4:10: error: use of undeclared identifier 'lgamma'");
  CHECK(error_of("if (p[0] == p[1]) {}").find("is not contextually convertible to 'bool'") !=
        std::string::npos);
}

TEST_CASE("as_type needs types of one size") {
  CHECK(
      error_of("p[0].x = as_type<float>(h[0]);").find("as_type needs two types of the same size") !=
      std::string::npos);
}

}  // namespace pewter
