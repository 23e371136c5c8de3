#include <algorithm>

#include "tests/metal/driver/texture_support.h"
#include "tests/support/log_capture.h"

namespace pewter {
namespace {

using test::fill;
using test::Gpu;
using test::make_filled;
using test::make_texture;
using test::size;
using Floats = std::vector<float>;

/// Runs blits and waits; the text of the error, empty when there is none.
std::string blit(const Gpu& gpu, const std::function<void(MTL::BlitCommandEncoder*)>& encode) {
  MTL::CommandBuffer* commands = gpu.queue()->commandBuffer();
  MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
  encode(encoder);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  return commands->error() != nullptr ? test::text(commands->error()) : "";
}

Floats contents(MTL::Texture* texture, NS::UInteger level = 0, NS::UInteger slice = 0) {
  const NS::UInteger width = std::max<NS::UInteger>(texture->width() >> level, 1);
  const NS::UInteger height = std::max<NS::UInteger>(texture->height() >> level, 1);
  Floats values(width * height);
  texture->getBytes(values.data(), width * 4, values.size() * 4, MTL::Region(0, 0, width, height),
                    level, slice);
  return values;
}

}  // namespace

TEST_CASE("parts of a buffer and of a texture are copied to each other") {
  const Gpu gpu;
  const auto source = gpu.buffer(Floats{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto target = gpu.buffer(Floats(8, -1));
  const auto texture = make_filled(gpu, {.width = 4, .height = 3}, Floats(12));

  const std::string error = blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
    encoder->copyFromBuffer(source.get(), 4, 16, 32, size(2, 2), texture.get(), 0, 0,
                            MTL::Origin(1, 1, 0));
    encoder->copyFromTexture(texture.get(), 0, 0, MTL::Origin(1, 1, 0), size(2, 2), target.get(), 0,
                             12, 24);
  });

  CHECK(error.empty());
  CHECK(contents(texture.get()) == Floats{0, 0, 0, 0, 0, 1, 2, 0, 0, 5, 6, 0});
  const auto* values = static_cast<const float*>(target->contents());
  CHECK(Floats(values, values + 6) == Floats{1, 2, -1, 5, 6, -1});
}

TEST_CASE("regions, slices and whole textures are copied between textures") {
  const Gpu gpu;
  const auto source = make_filled(gpu, {.width = 2, .height = 2}, {1, 2, 3, 4});
  const auto whole = make_filled(gpu, {.width = 2, .height = 2}, Floats(4));
  const auto array = make_texture(gpu, {.format = MTL::PixelFormatR32Float,
                                        .width = 2,
                                        .height = 2,
                                        .type = MTL::TextureType2DArray,
                                        .array_length = 2});

  const std::string error = blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
    encoder->copyFromTexture(source.get(), whole.get());
    encoder->copyFromTexture(source.get(), 0, 0, MTL::Origin(0, 1, 0), size(2, 1), array.get(), 1,
                             0, MTL::Origin(0, 0, 0));
  });

  CHECK(error.empty());
  CHECK(contents(whole.get()) == Floats{1, 2, 3, 4});
  CHECK(contents(array.get(), 0, 0) == Floats(4));
  CHECK(contents(array.get(), 0, 1) == Floats{3, 4, 0, 0});
}

TEST_CASE("mip levels are the means of the level before") {
  const Gpu gpu;
  const auto texture =
      make_texture(gpu, {.format = MTL::PixelFormatR32Float, .width = 4, .height = 2, .levels = 3});
  fill(texture.get(), {0, 2, 4, 6, 2, 4, 10, 12});

  const std::string error =
      blit(gpu, [&](MTL::BlitCommandEncoder* encoder) { encoder->generateMipmaps(texture.get()); });

  CHECK(error.empty());
  CHECK(contents(texture.get(), 1) == Floats{2, 8});
  CHECK(contents(texture.get(), 2) == Floats{5});
}

TEST_CASE("copies that do not fit fail their command buffer with the sizes") {
  const Gpu gpu;
  const test::LogCapture log;
  const auto texture = make_filled(gpu, {.width = 4, .height = 4}, Floats(16));
  const auto bytes =
      make_texture(gpu, {.format = MTL::PixelFormatR8Unorm, .width = 4, .height = 4});
  const auto buffer = gpu.buffer(Floats(4));

  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->copyFromBuffer(buffer.get(), 0, 16, 64, size(4, 4), texture.get(), 0, 0,
                                  MTL::Origin(0, 0, 0));
        }) == "copyFromBuffer of 64 bytes at offset 0 of a source buffer of 16 bytes");
  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->copyFromTexture(texture.get(), bytes.get());
        }) == "copyFromTexture from R32Float to R8Unorm: texels of 4 and 1 bytes");
  CHECK(blit(gpu, [&](MTL::BlitCommandEncoder* encoder) {
          encoder->generateMipmaps(texture.get());
        }) == "generateMipmaps of a texture with one level");
}

}  // namespace pewter
