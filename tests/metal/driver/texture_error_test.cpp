#include "tests/metal/driver/texture_support.h"
#include "tests/support/log_capture.h"

namespace pewter {
namespace {

using test::describe;
using test::Gpu;
using test::LogCapture;
using test::make_filled;
using test::make_texture;
using test::size;
using test::TextureShape;

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";
const std::string kReads =
    kHead +
    "kernel void f(texture2d<float, access::read> t [[texture(2)]], device float* out "
    "[[buffer(0)]]) { out[0] = t.read(uint2(0)).x; }\n";

/// What the log says when no such texture can be made.
std::string refusal(const Gpu& gpu, const TextureShape& shape) {
  const LogCapture log;
  const auto texture = NS::TransferPtr(gpu.device()->newTexture(describe(shape).get()));
  CHECK(!texture);
  return log.lines().empty() ? "" : log.lines()[0];
}

}  // namespace

TEST_CASE("a texture that the device does not have is refused with the limit") {
  const Gpu gpu;
  CHECK(refusal(gpu, {.format = MTL::PixelFormatBC1_RGBA}) ==
        "metal: newTexture: pixel format 130 is not supported");
  CHECK(refusal(gpu, {.width = 16385}) ==
        "metal: newTexture: 16385 x 1 x 1 texels, where each side is from 1 to 16384");
  CHECK(refusal(gpu, {.width = 0}) ==
        "metal: newTexture: 0 x 1 x 1 texels, where each side is from 1 to 16384");
  CHECK(refusal(gpu, {.width = 4, .height = 4, .levels = 4}) ==
        "metal: newTexture: 4 mip levels, where 1 to 3 are possible");
  CHECK(refusal(gpu, {.array_length = 2}) ==
        "metal: newTexture: array length 2, where only 1 is possible");
  CHECK(refusal(gpu, {.width = 4, .height = 2, .type = MTL::TextureTypeCube}) ==
        "metal: newTexture: faces of a cube are squares, not 4 x 2");
  CHECK(refusal(gpu, {.type = MTL::TextureType2DMultisample}) ==
        "metal: newTexture: multisampled textures are not supported");
}

TEST_CASE("a texture that does not fit into its buffer is refused") {
  const Gpu gpu;
  const auto buffer = gpu.buffer(std::vector<float>(16));
  const auto wanted = describe({.format = MTL::PixelFormatR32Float, .width = 4, .height = 5});
  const LogCapture log;

  CHECK(!NS::TransferPtr(buffer->newTexture(wanted.get(), 0, 16)));
  CHECK(log.contains("5 rows of 16 bytes at offset 0 exceed the buffer's 64 bytes"));
  CHECK(!NS::TransferPtr(buffer->newTexture(wanted.get(), 0, 8)));
  CHECK(log.contains("rows of 8 bytes at offset 0: texels need 16 and alignment to 16"));
}

TEST_CASE("a view of texels of another size or of missing levels is refused") {
  const Gpu gpu;
  const auto texture = make_texture(gpu, {.format = MTL::PixelFormatRGBA8Unorm});
  const LogCapture log;

  CHECK(!NS::TransferPtr(texture->newTextureView(MTL::PixelFormatRG32Float)));
  CHECK(log.contains("pixel format 105 does not have the 4 bytes of RGBA8Unorm"));
  CHECK(!NS::TransferPtr(texture->newTextureView(MTL::PixelFormatR32Uint, MTL::TextureType2D,
                                                 NS::Range(1, 1), NS::Range(0, 1))));
  CHECK(log.contains("levels 1 to 2 of 1"));
}

TEST_CASE("copies that leave the texture are refused") {
  const Gpu gpu;
  const auto texture = make_texture(gpu, {.width = 4, .height = 4});
  std::vector<float> bytes(64);
  const LogCapture log;

  texture->replaceRegion(MTL::Region(2, 0, 3, 1), 0, bytes.data(), 48);
  CHECK(log.contains("replaceRegion: 3 x 1 x 1 texels at (2, 0, 0) exceed a level of 4 x 4 x 1"));
  texture->getBytes(bytes.data(), 16, MTL::Region(0, 0, 4, 2), 0);
  CHECK(log.contains("getBytes: rows of 16 bytes need 64"));
  texture->getBytes(bytes.data(), 64, MTL::Region(0, 0, 1, 1), 1);
  CHECK(log.contains("level 1 and slice 0 of a texture of 1 levels and 1 slices"));
}

TEST_CASE("a kernel without its texture or sampler does not run") {
  const Gpu gpu;
  const LogCapture log;
  std::vector<float> out(1);
  const auto texture = make_filled(gpu, {.width = 1}, {1});

  CHECK(gpu.run_error(gpu.pipeline(kReads, "f").get(), {.grid = size(1)}, out) ==
        "kernel 'f' has no texture for parameter 't' at index 2");
  const std::string samples =
      kHead +
      "kernel void f(texture2d<float> t, sampler s, device float* out) { out[0] = t.sample(s, "
      "float2(0)).x; }\n";
  CHECK(gpu.run_error(gpu.pipeline(samples, "f").get(), {.grid = size(1)}, out, texture.get()) ==
        "kernel 'f' has no sampler for parameter 's' at index 0");
}

TEST_CASE("a texture of the wrong type, format or usage is named") {
  const Gpu gpu;
  const LogCapture log;
  std::vector<float> out(1);
  const std::string source =
      kHead +
      "kernel void f(texture2d<float, access::read_write> t [[texture(0)]], device float* out "
      "[[buffer(0)]]) { out[0] = t.read(uint2(0)).x; }\n";
  const auto pipeline = gpu.pipeline(source, "f");
  const auto volume = make_texture(gpu, {.type = MTL::TextureType3D});
  const auto integers = make_texture(gpu, {.format = MTL::PixelFormatR8Uint});
  const auto readable = make_texture(gpu, {.usage = MTL::TextureUsageShaderRead});

  CHECK(gpu.run_error(pipeline.get(), {.grid = size(1)}, out, volume.get()) ==
        "kernel 'f' has a texture of type 7 for parameter 't' at index 0, which is of type 2");
  CHECK(gpu.run_error(pipeline.get(), {.grid = size(1)}, out, integers.get())
            .find("kernel 'f' cannot read pixel format R8Uint through parameter 't' at index 0") ==
        0);
  CHECK(gpu.run_error(pipeline.get(), {.grid = size(1)}, out, readable.get()) ==
        "kernel 'f' writes parameter 't' at index 0, but the texture's usage is 1");
}

TEST_CASE("what a texture's access forbids is an error at the user's line") {
  const Gpu gpu;
  const auto error_of = [&](const std::string& parameter, const std::string& statement) {
    return gpu.library_error(kHead + "kernel void f(" + parameter +
                             " t [[texture(0)]]) {\n  constexpr sampler s;\n  " + statement +
                             "\n}\n");
  };

  CHECK(error_of("texture2d<float>", "t.write(float4(0), uint2(0));").find("program_source:5:") ==
        0);
  CHECK(error_of("texture2d<float>", "t.write(float4(0), uint2(0));")
            .find("texture2d can only be written with access::write or access::read_write") !=
        std::string::npos);
  CHECK(error_of("texture2d<float, access::write>", "t.read(uint2(0));")
            .find("texture2d with access::write cannot be read") != std::string::npos);
  CHECK(error_of("texture2d<float, access::read>", "t.sample(s, float2(0));")
            .find("texture2d can only be sampled with access::sample") != std::string::npos);
}

TEST_CASE("indices of textures and samplers have limits and are taken once") {
  const Gpu gpu;
  CHECK(gpu.library_error(kHead + "kernel void f(texture2d<float> t [[texture(128)]]) {}")
            .find("index of 'texture' must be a constant from 0 to 127") != std::string::npos);
  CHECK(gpu.library_error(kHead + "kernel void f(sampler s [[sampler(16)]]) {}")
            .find("index of 'sampler' must be a constant from 0 to 15") != std::string::npos);
  CHECK(gpu.library_error(kHead + "kernel void f(array<texture2d<float>, 3> a [[texture(0)]], "
                                  "texture2d<float> b [[texture(2)]]) {}")
            .find("parameters 'a' and 'b' both use index 2") != std::string::npos);
  CHECK(gpu.library_error(kHead + "kernel void f(texture2d<float> t [[buffer(0)]]) {}")
            .find("attribute 'buffer' does not fit the type of parameter 't'") !=
        std::string::npos);
}

TEST_CASE("samplers in pixels that would need more are refused") {
  const Gpu gpu;
  auto descriptor = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  descriptor->setNormalizedCoordinates(false);
  descriptor->setSAddressMode(MTL::SamplerAddressModeRepeat);
  const LogCapture log;

  CHECK(!NS::TransferPtr(gpu.device()->newSamplerState(descriptor.get())));
  CHECK(log.contains("newSamplerState: coordinates in pixels need"));
}

}  // namespace pewter
