#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/gpu.h"

namespace pewter::test {

using TexturePointer = NS::SharedPtr<MTL::Texture>;

/// What a test wants of a texture; the rest is Metal's default.
struct TextureShape {
  MTL::PixelFormat format = MTL::PixelFormatRGBA32Float;
  NS::UInteger width = 4;
  NS::UInteger height = 1;
  MTL::TextureType type = MTL::TextureType2D;
  NS::UInteger depth = 1;
  NS::UInteger array_length = 1;
  NS::UInteger levels = 1;
  MTL::TextureUsage usage = MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite;
};

inline NS::SharedPtr<MTL::TextureDescriptor> describe(const TextureShape& shape) {
  auto descriptor = NS::TransferPtr(MTL::TextureDescriptor::alloc()->init());
  descriptor->setPixelFormat(shape.format);
  descriptor->setTextureType(shape.type);
  descriptor->setWidth(shape.width);
  descriptor->setHeight(shape.height);
  descriptor->setDepth(shape.depth);
  descriptor->setArrayLength(shape.array_length);
  descriptor->setMipmapLevelCount(shape.levels);
  descriptor->setUsage(shape.usage);
  return descriptor;
}

inline TexturePointer make_texture(const Gpu& gpu, const TextureShape& shape) {
  auto texture = NS::TransferPtr(gpu.device()->newTexture(describe(shape).get()));
  REQUIRE(texture);
  return texture;
}

/// Fills one level and slice of a texture of single floats, rows one after another.
inline void fill(MTL::Texture* texture,
                 const std::vector<float>& values,
                 NS::UInteger level = 0,
                 NS::UInteger slice = 0) {
  const NS::UInteger width = std::max<NS::UInteger>(texture->width() >> level, 1);
  const NS::UInteger height = std::max<NS::UInteger>(texture->height() >> level, 1);
  const NS::UInteger depth = std::max<NS::UInteger>(texture->depth() >> level, 1);
  const NS::UInteger channels = values.size() / (width * height * depth);
  texture->replaceRegion(MTL::Region(0, 0, 0, width, height, depth), level, slice, values.data(),
                         width * channels * sizeof(float),
                         width * height * channels * sizeof(float));
}

/// A texture of one float channel with these values.
inline TexturePointer make_filled(const Gpu& gpu,
                                  TextureShape shape,
                                  const std::vector<float>& values) {
  shape.format = MTL::PixelFormatR32Float;
  auto texture = make_texture(gpu, shape);
  fill(texture.get(), values);
  return texture;
}

/// `out[i] = expression` for each of `count` threads, where `at` is the thread's number; `texture`
/// and, when there is one, `s` are the arguments.
inline std::string texture_kernel(const std::string& type,
                                  const std::string& expression,
                                  const std::string& sampler = "") {
  const bool is_bound = sampler.empty();
  return "#include <metal_stdlib>\nusing namespace metal;\n"
         "kernel void f(" +
         type + " t [[texture(0)]], " + (is_bound ? "sampler s [[sampler(0)]], " : "") +
         "device float4* out [[buffer(0)]], device const float4* in [[buffer(1)]],\n"
         "              uint at [[thread_position_in_grid]]) {\n" +
         (is_bound ? "" : "  constexpr sampler s(" + sampler + ");\n") +
         "  float4 c = in[at];\n  out[at] = float4(" + expression + ");\n}\n";
}

}  // namespace pewter::test
