#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "pewter/metal/driver/pixel_format.h"
#include "tests/metal/driver/texture_support.h"

namespace pewter {
namespace {

using test::describe;
using test::fill;
using test::Gpu;
using test::make_filled;
using test::make_texture;
using test::size;
using test::TexturePointer;
using Floats = std::vector<float>;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// Writes the colours of a buffer to a row of texels and reads them back, as elements of type T.
std::string round_trip(const std::string& type) {
  return kHead + "kernel void put(texture2d<" + type +
         ", access::write> t [[texture(0)]], device const float4* in [[buffer(0)]], uint i "
         "[[thread_position_in_grid]]) { t.write(vec<" +
         type +
         ", 4>(in[i]), uint2(i, 0)); }\n"
         "kernel void get(texture2d<" +
         type +
         ", access::read> t [[texture(0)]], device float4* out [[buffer(0)]], uint i "
         "[[thread_position_in_grid]]) { out[i] = float4(t.read(uint2(i, 0))); }\n";
}

const Floats kColours = {0,      0.25F, 0.5F, 1,    1,        0,      0.75F, 0.1F, -0.5F, -1,
                         -0.25F, 0.9F,  2,    -2,   0.003F,   0.002F, 100,   200,  300,   3,
                         0.6F,   0.7F,  0.8F, 0.3F, 1.0F / 3, 0.01F,  7,     1,    5,     6};

std::string element_of(const driver::PixelFormat& format) {
  return format.kind == abi::ChannelKind::Uint   ? "uint"
         : format.kind == abi::ChannelKind::Sint ? "int"
                                                 : "float";
}

}  // namespace

TEST_CASE("every pixel format is written and read as the host encodes it") {
  const Gpu gpu;
  constexpr std::size_t kTexels = 7;
  std::map<std::string, std::array<NS::SharedPtr<MTL::ComputePipelineState>, 2>> pipelines;
  for (const char* type : {"float", "int", "uint"}) {
    const auto library = gpu.library(round_trip(type));
    pipelines[type] = {gpu.pipeline(library.get(), "put"), gpu.pipeline(library.get(), "get")};
  }
  for (unsigned number = 0; number <= MTL::PixelFormatDepth32Float; ++number) {
    const driver::PixelFormat* format =
        driver::find_pixel_format(static_cast<MTL::PixelFormat>(number));
    if (format == nullptr) {
      continue;
    }
    CAPTURE(std::string(format->name));
    const auto& [put, get] = pipelines[element_of(*format)];
    const auto texture =
        make_texture(gpu, {.format = format->format, .width = kTexels, .height = 1});
    Floats in(kColours.begin(), kColours.begin() + 4 * kTexels);
    if (element_of(*format) == "uint") {
      for (float& value : in) {
        value = std::fabs(value);
      }
    }

    gpu.run(put.get(), {.grid = size(kTexels)}, in, texture.get());
    std::vector<std::byte> bytes(kTexels * format->texel_bytes);
    texture->getBytes(bytes.data(), bytes.size(), MTL::Region(0, 0, kTexels, 1), 0);
    Floats out(4 * kTexels);
    gpu.run(get.get(), {.grid = size(kTexels)}, out, texture.get());

    for (std::size_t texel = 0; texel < kTexels; ++texel) {
      CAPTURE(texel);
      std::byte expected[16] = {};
      driver::encode(*format,
                     {in[4 * texel], in[4 * texel + 1], in[4 * texel + 2], in[4 * texel + 3]},
                     expected);
      const std::byte* stored = bytes.data() + texel * format->texel_bytes;
      // The transfer function of sRGB may round to a neighbour.
      if (!format->is_srgb) {
        CHECK(std::memcmp(stored, expected, format->texel_bytes) == 0);
      }
      const driver::Colour read = driver::decode(*format, stored);
      for (std::size_t channel = 0; channel < 4; ++channel) {
        CHECK(out[4 * texel + channel] == doctest::Approx(read[channel]).epsilon(1e-6));
      }
      if (format->is_srgb) {
        CHECK(std::fabs(read[0] - std::fmin(std::fmax(in[4 * texel], 0), 1)) < 0.005);
      }
    }
  }
}

TEST_CASE("reading outside of a texture gives zeros and writing there does nothing") {
  const Gpu gpu;
  const auto texture = make_filled(gpu, {.width = 2, .height = 2}, {1, 2, 3, 4});
  const std::string source =
      kHead +
      "kernel void f(texture2d<float, access::read_write> t [[texture(0)]],\n"
      "              device float* out [[buffer(0)]]) {\n"
      "  t.write(float4(9), uint2(2, 0));\n  t.write(float4(9), uint2(0, 2));\n"
      "  t.write(float4(9), uint2(0, 0), 1);\n"
      "  out[0] = t.read(uint2(2, 0)).x;\n  out[1] = t.read(uint2(0, 7)).x;\n"
      "  out[2] = t.read(uint2(1, 1)).x;\n  out[3] = t.read(ushort2(0, 1)).x;\n"
      "  out[4] = t.read(uint2(0, 0)).x;\n}\n";
  Floats out(5, -1);

  gpu.run(source, "f", {.grid = size(1)}, out, texture.get());

  CHECK(out == Floats{0, 0, 4, 3, 1});
}

TEST_CASE("query functions answer with the sizes of each level") {
  const Gpu gpu;
  const auto flat = make_texture(gpu, {.width = 8, .height = 4, .levels = 3});
  const auto array = make_texture(
      gpu, {.width = 5, .height = 3, .type = MTL::TextureType2DArray, .array_length = 6});
  const auto volume = make_texture(
      gpu, {.width = 8, .height = 6, .type = MTL::TextureType3D, .depth = 4, .levels = 2});
  const std::string source =
      kHead +
      "kernel void f(texture2d<float> a [[texture(0)]], texture2d_array<float> b [[texture(1)]],\n"
      "              texture3d<float> c [[texture(2)]], device uint* out [[buffer(0)]]) {\n"
      "  out[0] = a.get_width(); out[1] = a.get_height(1); out[2] = a.get_num_mip_levels();\n"
      "  out[3] = b.get_array_size(); out[4] = b.get_width();\n"
      "  out[5] = c.get_depth(); out[6] = c.get_depth(1); out[7] = c.get_height(1);\n}\n";
  std::vector<std::uint32_t> out(8);

  gpu.run(source, "f", {.grid = size(1)}, out, flat.get(), array.get(), volume.get());

  CHECK(out == std::vector<std::uint32_t>{8, 2, 3, 6, 5, 4, 2, 3});
}

TEST_CASE("arrays, volumes, cubes and rows keep their slices apart") {
  const Gpu gpu;
  const auto array = make_texture(gpu, {.format = MTL::PixelFormatR32Float,
                                        .width = 2,
                                        .height = 2,
                                        .type = MTL::TextureType2DArray,
                                        .array_length = 3});
  const auto volume = make_texture(gpu, {.format = MTL::PixelFormatR32Float,
                                         .width = 2,
                                         .height = 2,
                                         .type = MTL::TextureType3D,
                                         .depth = 3});
  const auto cube = make_texture(
      gpu,
      {.format = MTL::PixelFormatR32Float, .width = 2, .height = 2, .type = MTL::TextureTypeCube});
  const auto row = make_texture(gpu, {.format = MTL::PixelFormatR32Float,
                                      .width = 4,
                                      .type = MTL::TextureType1DArray,
                                      .array_length = 2});
  const std::string source =
      kHead +
      "kernel void f(texture2d_array<float, access::read_write> a [[texture(0)]],\n"
      "              texture3d<float, access::read_write> b [[texture(1)]],\n"
      "              texturecube<float, access::read_write> c [[texture(2)]],\n"
      "              texture1d_array<float, access::read_write> d [[texture(3)]],\n"
      "              device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
      "  a.write(float4(100 + i), uint2(i % 2, i / 2 % 2), i / 4);\n"
      "  b.write(float4(200 + i), uint3(i % 2, i / 2 % 2, i / 4));\n"
      "  c.write(float4(300 + i), uint2(1, 0), i % 6);\n"
      "  d.write(float4(400 + i), i % 4, i / 4);\n"
      "  out[i] = a.read(uint2(i % 2, i / 2 % 2), i / 4).x;\n"
      "  out[12 + i] = b.read(uint3(i % 2, i / 2 % 2, i / 4)).x;\n"
      "  if (i < 6) out[24 + i] = c.read(uint2(1, 0), i).x >= 300;\n"
      "  if (i < 8) out[30 + i] = d.read(i % 4, i / 4).x;\n}\n";
  Floats out(38);

  gpu.run(source, "f", {.grid = size(12)}, out, array.get(), volume.get(), cube.get(), row.get());

  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(out[i] == 100 + static_cast<float>(i));
    CHECK(out[12 + i] == 200 + static_cast<float>(i));
  }
  float texel = 0;
  array->getBytes(&texel, 4, 4, MTL::Region(1, 0, 1, 1), 0, 2);
  CHECK(texel == 109);
  volume->getBytes(&texel, 4, 4, MTL::Region(0, 1, 2, 1, 1, 1), 0, 0);
  CHECK(texel == 210);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(out[30 + i] == 400 + static_cast<float>(i));
  }
}

TEST_CASE("half, short and ushort textures convert as their formats say") {
  const Gpu gpu;
  const auto halves = make_texture(gpu, {.format = MTL::PixelFormatRGBA16Float, .width = 1});
  const auto shorts = make_texture(gpu, {.format = MTL::PixelFormatRGBA8Sint, .width = 1});
  const std::string source =
      kHead +
      "kernel void f(texture2d<half, access::read_write> a [[texture(0)]],\n"
      "              texture2d<short, access::read_write> b [[texture(1)]],\n"
      "              device float4* out [[buffer(0)]]) {\n"
      "  a.write(half4(0.5h, 1.5h, -2.0h, 65504.0h), uint2(0));\n"
      "  b.write(short4(-5, 300, -300, 7), uint2(0));\n"
      "  out[0] = float4(a.read(uint2(0)));\n  out[1] = float4(b.read(uint2(0)));\n}\n";
  Floats out(8);

  gpu.run(source, "f", {.grid = size(1)}, out, halves.get(), shorts.get());

  CHECK(out == Floats{0.5F, 1.5F, -2, 65504, -5, 127, -128, 7});
}

TEST_CASE("atomic functions of textures count every thread once") {
  const Gpu gpu;
  const auto texture = make_texture(gpu, {.format = MTL::PixelFormatR32Uint, .width = 4});
  const std::string source =
      kHead +
      "kernel void f(texture2d<uint, access::read_write> t [[texture(0)]],\n"
      "              device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
      "  t.atomic_fetch_add(uint2(0, 0), uint4(2));\n"
      "  t.atomic_fetch_max(uint2(1, 0), uint4(i));\n"
      "  t.atomic_fetch_or(uint2(2, 0), uint4(1u << i % 32));\n"
      "  uint4 seen = t.atomic_load(uint2(3, 0));\n"
      "  while (!t.atomic_compare_exchange_weak(uint2(3, 0), &seen, seen + 3)) {}\n}\n";
  std::vector<std::uint32_t> out(1);

  gpu.run(source, "f", {.grid = size(100)}, out, texture.get());

  std::vector<std::uint32_t> texels(4);
  texture->getBytes(texels.data(), 16, MTL::Region(0, 0, 4, 1), 0);
  CHECK(texels == std::vector<std::uint32_t>{200, 99, 0xffffffff, 300});
}

TEST_CASE("a texture in a buffer shares its bytes, whole rows or a list of texels") {
  const Gpu gpu;
  std::vector<std::uint8_t> bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(i);
  }
  const auto buffer = gpu.buffer(bytes);
  const auto rows = NS::TransferPtr(buffer->newTexture(
      describe({.format = MTL::PixelFormatR8Uint, .width = 5, .height = 3}).get(), 16, 16));
  const auto list = NS::TransferPtr(
      buffer->newTexture(MTL::TextureDescriptor::textureBufferDescriptor(
                             MTL::PixelFormatRG8Uint, 8, MTL::ResourceStorageModeShared,
                             MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite),
                         0, 16));
  REQUIRE(rows);
  REQUIRE(list);
  CHECK(rows->buffer() == buffer.get());
  CHECK(rows->bufferBytesPerRow() == 16);
  const std::string source =
      kHead +
      "kernel void f(texture2d<uint, access::read> a [[texture(0)]],\n"
      "              texture_buffer<uint, access::read_write> b [[texture(1)]],\n"
      "              device uint* out [[buffer(0)]]) {\n"
      "  out[0] = a.read(uint2(4, 2)).x; out[1] = b.read(3).y; out[2] = b.get_width();\n"
      "  b.write(uint4(77, 78, 0, 0), 0);\n}\n";
  std::vector<std::uint32_t> out(3);

  gpu.run(source, "f", {.grid = size(1)}, out, rows.get(), list.get());

  CHECK(out == std::vector<std::uint32_t>{16 + 32 + 4, 7, 8});
  CHECK(static_cast<const std::uint8_t*>(buffer->contents())[1] == 78);
}

TEST_CASE("views see other formats, levels, slices and swizzled channels of the same texels") {
  const Gpu gpu;
  const auto texture = make_texture(gpu, {.format = MTL::PixelFormatRGBA8Unorm,
                                          .width = 2,
                                          .height = 2,
                                          .type = MTL::TextureType2DArray,
                                          .array_length = 2,
                                          .levels = 2});
  const std::uint8_t colour[] = {10, 20, 30, 40};
  texture->replaceRegion(MTL::Region(0, 0, 1, 1), 1, 1, colour, 4, 4);
  const auto view = NS::TransferPtr(texture->newTextureView(
      MTL::PixelFormatRGBA8Uint, MTL::TextureType2D, NS::Range(1, 1), NS::Range(1, 1),
      {MTL::TextureSwizzleAlpha, MTL::TextureSwizzleOne, MTL::TextureSwizzleZero,
       MTL::TextureSwizzleGreen}));
  REQUIRE(view);
  CHECK(view->width() == 1);
  CHECK(view->parentTexture() == texture.get());
  CHECK(view->parentRelativeLevel() == 1);
  CHECK(view->parentRelativeSlice() == 1);
  const std::string source = kHead +
                             "kernel void f(texture2d<uint, access::read> t [[texture(0)]],\n"
                             "  device uint4* out [[buffer(0)]]) { out[0] = t.read(uint2(0)); }\n";
  std::vector<std::uint32_t> out(4);

  gpu.run(source, "f", {.grid = size(1)}, out, view.get());

  CHECK(out == std::vector<std::uint32_t>{40, 1, 0, 20});
}

TEST_CASE("argument buffers hold textures and samplers, alone and in arrays") {
  const Gpu gpu;
  const auto first = make_filled(gpu, {.width = 2}, {1, 3});
  const auto second = make_filled(gpu, {.width = 2}, {10, 30});
  auto descriptor = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  descriptor->setMinFilter(MTL::SamplerMinMagFilterLinear);
  descriptor->setMagFilter(MTL::SamplerMinMagFilterLinear);
  const auto sampler = NS::TransferPtr(gpu.device()->newSamplerState(descriptor.get()));
  const std::string source =
      kHead +
      "struct Arguments { array<texture2d<float>, 2> textures; sampler s; device float* out; };\n"
      "kernel void f(constant Arguments& a [[buffer(0)]]) {\n"
      "  for (uint i = 0; i < 2; ++i) {\n"
      "    a.out[i] = a.textures[i].sample(a.s, float2(0.5, 0.5)).x;\n  }\n"
      "  a.out[2] = is_null_texture(a.textures[1]);\n}\n";
  const auto library = gpu.library(source);
  const auto function = NS::TransferPtr(library->newFunction(test::string("f")));
  const auto encoder = NS::TransferPtr(function->newArgumentEncoder(0));
  REQUIRE(encoder);
  CHECK(encoder->encodedLength() == 32);
  const auto arguments = gpu.buffer(std::vector<std::uint64_t>(4));
  const auto out = gpu.buffer(Floats(3));
  encoder->setArgumentBuffer(arguments.get(), 0);
  encoder->setTexture(first.get(), 0);
  encoder->setTexture(second.get(), 1);
  encoder->setSamplerState(sampler.get(), 2);
  encoder->setBuffer(out.get(), 0, 3);
  CHECK(static_cast<const std::uint64_t*>(arguments->contents())[1] ==
        second->gpuResourceID()._impl);

  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::ComputeCommandEncoder* compute = commands->computeCommandEncoder();
  compute->setComputePipelineState(gpu.pipeline(library.get(), "f").get());
  compute->setBuffer(arguments.get(), 0, 0);
  compute->useResource(first.get(), MTL::ResourceUsageRead);
  compute->dispatchThreads(size(1), size(1));
  compute->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();

  CHECK(commands->error() == nullptr);
  const auto* values = static_cast<const float*>(out->contents());
  CHECK(values[0] == 2);
  CHECK(values[1] == 20);
  CHECK(values[2] == 0);
}

TEST_CASE("an array of textures is one parameter with as many indices") {
  const Gpu gpu;
  const auto first = make_filled(gpu, {.width = 1}, {5});
  const auto second = make_filled(gpu, {.width = 1}, {6});
  const std::string source =
      kHead +
      "kernel void f(array<texture2d<float, access::read>, 2> t [[texture(0)]],\n"
      "              device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
      "  out[i] = t[i].read(uint2(0)).x;\n}\n";
  Floats out(2);

  gpu.run(source, "f", {.grid = size(2)}, out, first.get(), second.get());

  CHECK(out == Floats{5, 6});
}

TEST_CASE("textures of heaps live in their memory") {
  const Gpu gpu;
  auto descriptor = NS::TransferPtr(MTL::HeapDescriptor::alloc()->init());
  const auto wanted = describe({.format = MTL::PixelFormatR32Float, .width = 16, .height = 16});
  const MTL::SizeAndAlign needs = gpu.device()->heapTextureSizeAndAlign(wanted.get());
  CHECK(needs.size == 1024);
  descriptor->setSize(needs.size);
  descriptor->setStorageMode(MTL::StorageModeShared);
  const auto heap = NS::TransferPtr(gpu.device()->newHeap(descriptor.get()));
  auto texture = NS::TransferPtr(heap->newTexture(wanted.get()));
  REQUIRE(texture);
  CHECK(heap->usedSize() == 1024);
  CHECK(texture->heap() == heap.get());
  CHECK(!NS::TransferPtr(heap->newTexture(wanted.get())));

  texture.reset();

  CHECK(heap->usedSize() == 0);
}

TEST_CASE("reflection describes textures and samplers") {
  const Gpu gpu;
  const auto library =
      gpu.library(kHead +
                  "kernel void f(depth2d<float> d [[texture(3)]], sampler s [[sampler(1)]],\n"
                  "  texture2d_array<half, access::write> w [[texture(0)]], device float* o) {\n"
                  "  o[0] = d.sample(s, float2(0));\n  w.write(half4(0), uint2(0), 0);\n}\n");
  const auto function = NS::TransferPtr(library->newFunction(test::string("f")));
  MTL::ComputePipelineReflection* reflection = nullptr;
  NS::Error* error = nullptr;
  const auto pipeline = NS::TransferPtr(gpu.device()->newComputePipelineState(
      function.get(), MTL::PipelineOptionBindingInfo, &reflection, &error));
  REQUIRE(pipeline);

  const auto* depth = reflection->bindings()->object<MTL::TextureBinding>(0);
  CHECK(depth->type() == MTL::BindingTypeTexture);
  CHECK(depth->index() == 3);
  CHECK(depth->isDepthTexture());
  CHECK(depth->textureType() == MTL::TextureType2D);
  CHECK(reflection->bindings()->object<MTL::Binding>(1)->type() == MTL::BindingTypeSampler);
  const auto* written = reflection->bindings()->object<MTL::TextureBinding>(2);
  CHECK(written->textureType() == MTL::TextureType2DArray);
  CHECK(written->textureDataType() == MTL::DataTypeHalf);
  CHECK(written->access() == MTL::BindingAccessWriteOnly);
}

}  // namespace pewter
