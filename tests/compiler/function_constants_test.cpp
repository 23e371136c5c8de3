#include "tests/support/gpu.h"

namespace pewter {
namespace {

using test::Gpu;
using test::size;

NS::SharedPtr<MTL::FunctionConstantValues> no_values() {
  return NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
}

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

}  // namespace

TEST_CASE("function constants of every scalar type reach the kernel") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    constant bool b [[function_constant(0)]];
    constant char c [[function_constant(1)]];
    constant uchar uc [[function_constant(2)]];
    constant short s [[function_constant(3)]];
    constant ushort us [[function_constant(4)]];
    constant int i [[function_constant(5)]];
    constant uint ui [[function_constant(6)]];
    constant half h [[function_constant(7)]];
    constant float f [[function_constant(8)]];
    kernel void read(device float* out [[buffer(0)]]) {
      out[0] = b; out[1] = c; out[2] = uc; out[3] = s; out[4] = us;
      out[5] = i; out[6] = ui; out[7] = h; out[8] = f;
    })";
  auto values = no_values();
  const bool b = true;
  const std::int8_t c = -3;
  const std::uint8_t uc = 200;
  const std::int16_t s = -300;
  const std::uint16_t us = 40000;
  const std::int32_t i = -70000;
  const std::uint32_t ui = 16777216;
  const std::uint16_t half_bits = 0x3e00;  // 1.5
  const float f = 0.25F;
  values->setConstantValue(&b, MTL::DataTypeBool, NS::UInteger(0));
  values->setConstantValue(&c, MTL::DataTypeChar, NS::UInteger(1));
  values->setConstantValue(&uc, MTL::DataTypeUChar, NS::UInteger(2));
  values->setConstantValue(&s, MTL::DataTypeShort, NS::UInteger(3));
  values->setConstantValue(&us, MTL::DataTypeUShort, NS::UInteger(4));
  values->setConstantValue(&i, MTL::DataTypeInt, NS::UInteger(5));
  values->setConstantValue(&ui, MTL::DataTypeUInt, NS::UInteger(6));
  values->setConstantValue(&half_bits, MTL::DataTypeHalf, NS::UInteger(7));
  values->setConstantValue(&f, MTL::DataTypeFloat, NS::UInteger(8));

  std::vector<float> out(9);
  gpu.run(gpu.pipeline(source, "read", values.get()).get(), {.grid = size(1)}, out);

  CHECK(out == std::vector<float>{1, -3, 200, -300, 40000, -70000, 16777216, 1.5F, 0.25F});
}

TEST_CASE("function constants of vector type reach the kernel") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    constant float4 f [[function_constant(0)]];
    constant uint3 u [[function_constant(1)]];
    constant short2 s [[function_constant(2)]];
    kernel void read(device float* out [[buffer(0)]]) {
      out[0] = f.x; out[1] = f.w; out[2] = u.z; out[3] = s.y;
    })";
  auto values = no_values();
  const float f[4] = {1, 2, 3, 4};
  const std::uint32_t u[4] = {5, 6, 7, 0};
  const std::int16_t s[2] = {8, -9};
  values->setConstantValue(f, MTL::DataTypeFloat4, NS::UInteger(0));
  values->setConstantValue(u, MTL::DataTypeUInt3, NS::UInteger(1));
  values->setConstantValue(s, MTL::DataTypeShort2, NS::UInteger(2));

  std::vector<float> out(4);
  gpu.run(gpu.pipeline(source, "read", values.get()).get(), {.grid = size(1)}, out);

  CHECK(out == std::vector<float>{1, 4, 7, -9});
}

TEST_CASE("constants are found by name as well as by index") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    constant int n [[function_constant(9)]];
    kernel void read(device int* out [[buffer(0)]]) { out[0] = n; })";
  auto values = no_values();
  const int n = 42;
  values->setConstantValue(&n, MTL::DataTypeInt, test::string("n"));

  std::vector<int> out(1);
  gpu.run(gpu.pipeline(source, "read", values.get()).get(), {.grid = size(1)}, out);

  CHECK(out[0] == 42);
}

TEST_CASE("constants computed from function constants follow them") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    constant int n [[function_constant(0)]];
    constant bool given = is_function_constant_defined(n);
    constant int doubled = given ? n * 2 : 7;
    kernel void read(device int* out [[buffer(0)]]) { out[0] = doubled; out[1] = given; })";

  std::vector<int> without(2);
  gpu.run(gpu.pipeline(source, "read", no_values().get()).get(), {.grid = size(1)}, without);
  auto values = no_values();
  const int n = 21;
  values->setConstantValue(&n, MTL::DataTypeInt, NS::UInteger(0));
  std::vector<int> with(2);
  gpu.run(gpu.pipeline(source, "read", values.get()).get(), {.grid = size(1)}, with);

  CHECK(without == std::vector<int>{7, 0});
  CHECK(with == std::vector<int>{42, 1});
}

TEST_CASE("a parameter switched off by a function constant needs no buffer") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    constant bool has_bias [[function_constant(0)]];
    kernel void add(device float* out [[buffer(0)]],
                    device const float* bias [[buffer(1), function_constant(has_bias)]]) {
      out[0] = 1;
      if (has_bias) out[0] += bias[0];
    })";
  const auto pipeline = [&](bool has_bias) {
    auto values = no_values();
    values->setConstantValue(&has_bias, MTL::DataTypeBool, NS::UInteger(0));
    return gpu.pipeline(source, "add", values.get());
  };

  std::vector<float> without(1);
  gpu.run(pipeline(false).get(), {.grid = size(1)}, without);
  std::vector<float> with(1);
  gpu.run(pipeline(true).get(), {.grid = size(1)}, with, std::vector<float>{5});

  CHECK(without[0] == 1);
  CHECK(with[0] == 6);
}

TEST_CASE("constants of a function that is an argument of a template are the kernel's") {
  const Gpu gpu;
  const auto library = gpu.library(kHead + R"(
    constant int n [[function_constant(0)]];
    constant int m [[function_constant(1)]];
    typedef void(write_t)(device int*);
    template <typename T> void write_n(device T* out) { out[0] = n; }
    template <typename T> void write_m(device T* out) { out[0] = m; }
    template <write_t write> void twice(device int* out) { write(out); out[0] *= 2; }
    template <write_t write> kernel void f(device int* out [[buffer(0)]]) { write(out); }
    typedef decltype(f<write_n<int>>) f_t;
    template [[host_name("f_n")]] kernel f_t f<write_n<int>>;
    template [[host_name("f_m")]] kernel f_t f<twice<write_m<int>>>;)");
  const auto constant_of = [&](const char* kernel) {
    const auto function =
        NS::TransferPtr(library->newFunction(NS::String::string(kernel, NS::UTF8StringEncoding)));
    const NS::Dictionary* constants = function->functionConstantsDictionary();
    REQUIRE(constants->count() == 1);
    return std::string(constants->keyEnumerator<NS::String>()->nextObject()->utf8String());
  };

  CHECK(constant_of("f_n") == "n");
  CHECK(constant_of("f_m") == "m");
}

TEST_CASE("constants of a class template that a kernel's arguments choose are the kernel's") {
  const Gpu gpu;
  const auto library = gpu.library(kHead + R"(
    constant bool by_scope [[function_constant(0)]];
    constant bool by_object [[function_constant(1)]];
    constant bool by_pointer [[function_constant(2)]];
    constant bool by_pair [[function_constant(3)]];
    constant bool elsewhere [[function_constant(4)]];
    template <typename T, int n> struct Product {
      static T run(T x) { return by_scope ? x * n : x; }
      T add(T x) const { return by_object ? x + n : x; }
      T subtract(T x) const { return by_pointer ? x - n : x; }
    };
    template <typename T> struct Product<T, 2> {
      static T run(T x) { return by_pair ? x * 3 : x; }
      T add(T x) const { return x; }
      T subtract(T x) const { return x; }
    };
    template <typename T> struct Other { static T run(T x) { return elsewhere ? x : T(0); } };
    template <typename T, int n> kernel void f(device T* x [[buffer(0)]]) {
      using Chosen = Product<T, n>;
      Chosen object;
      const thread Chosen* pointer = &object;
      x[0] = pointer->subtract(object.add(Product<T, n>::run(x[0])));
    }
    template [[host_name("f")]] kernel decltype(f<uint, 5>) f<uint, 5>;
  )");

  const auto function = NS::TransferPtr(library->newFunction(MTLSTR("f")));
  REQUIRE(function);
  const NS::Dictionary* constants = function->functionConstantsDictionary();

  for (const char* name : {"by_scope", "by_object", "by_pointer", "by_pair"}) {
    CAPTURE(name);
    CHECK(constants->object(NS::String::string(name, NS::UTF8StringEncoding)) != nullptr);
  }
  CHECK(constants->object(MTLSTR("elsewhere")) == nullptr);
}

TEST_CASE("a function constant that is needed and missing is named") {
  const Gpu gpu;
  const std::string source = kHead + R"(
    constant int n [[function_constant(0)]];
    kernel void read(device int* out [[buffer(0)]]) { out[0] = n; })";

  const std::string error = gpu.pipeline_error(source, "read", no_values().get());

  CHECK(error.find("kernel 'read' needs a value for function constant n") != std::string::npos);
}

}  // namespace pewter
