#include "tests/compiler/stdlib/elementwise.h"

// Pack and unpack functions, every code of 8 and 16 bits, against the specification's formulas in
// double.

namespace pewter {
namespace {

using test::Gpu;
using test::size;

std::string kernel(const std::string& out_type, const std::string& expression) {
  return "#include <metal_stdlib>\nusing namespace metal;\n"
         "kernel void f(device const uint* in [[buffer(0)]], device " +
         out_type +
         "* out [[buffer(1)]],\n"
         "              uint i [[thread_position_in_grid]]) {\n  const uint x = in[i];\n  out[i] "
         "= " +
         expression + ";\n}\n";
}

std::vector<float> unpacked(const std::string& function,
                            int components,
                            const std::vector<std::uint32_t>& codes) {
  const Gpu gpu;
  const int stride = components == 3 ? 4 : components;
  std::vector<float> out(codes.size() * stride);
  gpu.run(kernel("float" + std::to_string(components), function), "f", {.grid = size(codes.size())},
          codes, out);
  return out;
}

std::vector<std::uint32_t> every_code(std::uint32_t bits) {
  std::vector<std::uint32_t> codes(std::size_t{1} << bits);
  for (std::uint32_t code = 0; code < codes.size(); ++code) {
    codes[code] = code | (code * 3 + 1) << bits;
  }
  return codes;
}

double from_srgb(double x) {
  return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
}

void check_close(float got, double wanted, std::uint32_t code) {
  CHECK_MESSAGE(std::fabs(got - wanted) <= 4e-7 * std::max(std::fabs(wanted), 1e-3), "code ", code,
                ": ", got, " instead of ", wanted);
}

}  // namespace

TEST_CASE("unsigned and signed codes unpack to their fractions") {
  const auto bytes = every_code(8);
  const auto unorm8 = unpacked("unpack_unorm4x8_to_float(x)", 4, bytes);
  const auto snorm8 = unpacked("unpack_snorm4x8_to_float(x)", 4, bytes);
  const auto srgb8 = unpacked("unpack_unorm4x8_srgb_to_float(x)", 4, bytes);
  for (std::uint32_t code = 0; code < 256; ++code) {
    check_close(unorm8[4 * code], code / 255.0, code);
    check_close(unorm8[4 * code + 1], ((code * 3 + 1) & 255) / 255.0, code);
    check_close(snorm8[4 * code], std::max(static_cast<std::int8_t>(code) / 127.0, -1.0), code);
    check_close(srgb8[4 * code], from_srgb(code / 255.0), code);
    check_close(srgb8[4 * code + 3], (bytes[code] >> 24) / 255.0, code);
  }
  const auto shorts = every_code(16);
  const auto unorm16 = unpacked("unpack_unorm2x16_to_float(x)", 2, shorts);
  const auto snorm16 = unpacked("unpack_snorm2x16_to_float(x)", 2, shorts);
  for (std::uint32_t code = 0; code < 65536; code += 257) {
    check_close(unorm16[2 * code], code / 65535.0, code);
    check_close(unorm16[2 * code + 1], (shorts[code] >> 16) / 65535.0, code);
    check_close(snorm16[2 * code], std::max(static_cast<std::int16_t>(code) / 32767.0, -1.0), code);
  }
}

TEST_CASE("colours of 10a2 and 565 unpack from the lowest bits up") {
  const std::vector<std::uint32_t> codes = {0, 0xffffffff, 0x3ff, 0x40100802, 0x12345678, 0xf81f};
  const auto wide = unpacked("unpack_unorm10a2_to_float(x)", 4, codes);
  const auto narrow = unpacked("unpack_unorm565_to_float(ushort(x))", 3, codes);
  for (std::size_t index = 0; index < codes.size(); ++index) {
    const std::uint32_t code = codes[index];
    check_close(wide[4 * index], (code & 1023) / 1023.0, code);
    check_close(wide[4 * index + 1], (code >> 10 & 1023) / 1023.0, code);
    check_close(wide[4 * index + 2], (code >> 20 & 1023) / 1023.0, code);
    check_close(wide[4 * index + 3], (code >> 30) / 3.0, code);
    check_close(narrow[4 * index], (code & 31) / 31.0, code);
    check_close(narrow[4 * index + 1], (code >> 5 & 63) / 63.0, code);
    check_close(narrow[4 * index + 2], (code >> 11 & 31) / 31.0, code);
  }
}

TEST_CASE("packing undoes unpacking for every code") {
  const Gpu gpu;
  const char* const round_trips[] = {
      "pack_float_to_unorm4x8(unpack_unorm4x8_to_float(x))",
      "pack_half_to_unorm4x8(unpack_unorm4x8_to_half(x))",
      "pack_float_to_srgb_unorm4x8(unpack_unorm4x8_srgb_to_float(x))",
      "pack_float_to_unorm2x16(unpack_unorm2x16_to_float(x))",
      "pack_float_to_unorm10a2(unpack_unorm10a2_to_float(x))",
      "pack_half_to_unorm10a2(unpack_unorm10a2_to_half(x & 0x3f03f03f)) & 0x3f03f03f",
      "pack_float_to_unorm565(unpack_unorm565_to_float(ushort(x)))",
      "pack_half_to_unorm565(unpack_unorm565_to_half(ushort(x)))",
  };
  const auto codes = every_code(16);
  for (const std::string expression : round_trips) {
    std::vector<std::uint32_t> out(codes.size());

    gpu.run(kernel("uint", expression), "f", {.grid = size(codes.size())}, codes, out);

    const std::uint32_t mask = expression.find("565") != std::string::npos          ? 0xffff
                               : expression.find("0x3f03f03f") != std::string::npos ? 0x3f03f03f
                                                                                    : 0xffffffff;
    std::size_t wrong = 0;
    for (std::size_t index = 0; index < codes.size(); ++index) {
      wrong += out[index] != (codes[index] & mask);
    }
    CHECK_MESSAGE(wrong == 0, expression);
  }
}

TEST_CASE("packing clamps, rounds to even and takes NaN as zero") {
  test::check_values(
      {"pack_float_to_unorm4x8(float4(-1, 2, NAN, 0.5f)) == 0x8000ff00u",
       "pack_float_to_snorm4x8(float4(-2, 2, NAN, -1)) == 0x81007f81u",
       "pack_float_to_snorm2x16(float2(-2, 1)) == 0x7fff8001u",
       "pack_half_to_snorm4x8(half4(-1, 1, 0, 0.5h)) == 0x40007f81u",
       "pack_half_to_snorm2x16(half2(1, -1)) == 0x80017fffu",
       "pack_float_to_unorm2x16(float2(1, 0)) == 0xffffu",
       "pack_half_to_unorm2x16(half2(0, 1)) == 0xffff0000u",
       "pack_float_to_unorm10a2(float4(1, 0, 0, 1)) == 0xc00003ffu",
       "pack_float_to_unorm565(float3(1, 0, 1)) == 0xf81f",
       "pack_float_to_srgb_unorm4x8(float4(1, 0, NAN, 1)) == 0xff0000ffu",
       "unpack_snorm2x16_to_half(0x80007fffu).y", "unpack_snorm4x8_to_half(0x7f80u).x",
       "unpack_unorm4x8_srgb_to_half(0xff0000ffu).w", "unpack_unorm2x16_to_half(0xffffu).x"},
      {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, 1, 1});
}

}  // namespace pewter
