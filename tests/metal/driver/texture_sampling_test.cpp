#include <array>
#include <cmath>

#include "tests/metal/driver/texture_support.h"

namespace pewter {
namespace {

using test::fill;
using test::Gpu;
using test::make_filled;
using test::make_texture;
using test::size;
using test::texture_kernel;
using Floats = std::vector<float>;

using SamplerPointer = NS::SharedPtr<MTL::SamplerState>;

SamplerPointer make_sampler(const Gpu& gpu,
                            const std::function<void(MTL::SamplerDescriptor*)>& set) {
  auto descriptor = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  set(descriptor.get());
  auto sampler = NS::TransferPtr(gpu.device()->newSamplerState(descriptor.get()));
  REQUIRE(sampler);
  return sampler;
}

/// Runs a kernel of texture_kernel() over `coordinates`, four floats to a thread; the first channel
/// of each result.
Floats run(const Gpu& gpu,
           MTL::ComputePipelineState* pipeline,
           MTL::Texture* texture,
           const Floats& coordinates,
           MTL::SamplerState* sampler = nullptr) {
  const std::size_t threads = coordinates.size() / 4;
  Floats out(coordinates.size());
  if (sampler != nullptr) {
    gpu.run(pipeline, {.grid = size(threads)}, out, coordinates, texture, sampler);
  } else {
    gpu.run(pipeline, {.grid = size(threads)}, out, coordinates, texture);
  }
  Floats first;
  for (std::size_t i = 0; i < threads; ++i) {
    first.push_back(out[4 * i]);
  }
  return first;
}

Floats run(const Gpu& gpu,
           const std::string& source,
           MTL::Texture* texture,
           const Floats& coordinates,
           MTL::SamplerState* sampler = nullptr) {
  return run(gpu, gpu.pipeline(source, "f").get(), texture, coordinates, sampler);
}

/// Each value as the first of four coordinates.
Floats along_x(const Floats& values, float y = 0.5F) {
  Floats coordinates;
  for (const float value : values) {
    coordinates.insert(coordinates.end(), {value, y, 0, 0});
  }
  return coordinates;
}

/// The index that an address mode leads to, by the definitions of the specification; -1 for the
/// border.
int reference_index(MTL::SamplerAddressMode mode, int i, int n) {
  switch (mode) {
    case MTL::SamplerAddressModeRepeat:
      return ((i % n) + n) % n;
    case MTL::SamplerAddressModeMirrorRepeat: {
      const int m = ((i % (2 * n)) + 2 * n) % (2 * n);
      return m < n ? m : 2 * n - 1 - m;
    }
    case MTL::SamplerAddressModeMirrorClampToEdge:
      return std::min(i < 0 ? -1 - i : i, n - 1);
    case MTL::SamplerAddressModeClampToZero:
    case MTL::SamplerAddressModeClampToBorderColor:
      return i >= 0 && i < n ? i : -1;
    default:
      return std::clamp(i, 0, n - 1);
  }
}

}  // namespace

TEST_CASE("every address mode and filter gives what the definition says") {
  const Gpu gpu;
  const Floats texels = {1, 5, 2, 8, 3};
  const auto texture = make_filled(gpu, {.width = 5}, texels);
  const auto pipeline = gpu.pipeline(texture_kernel("texture2d<float>", "t.sample(s, c.xy)"), "f");
  Floats places;
  for (int i = -60; i <= 120; ++i) {
    places.push_back(static_cast<float>(i) / 37.0F);
  }
  for (unsigned number = 0; number <= MTL::SamplerAddressModeClampToBorderColor; ++number) {
    for (const bool linear : {false, true}) {
      const auto mode = static_cast<MTL::SamplerAddressMode>(number);
      CAPTURE(number);
      CAPTURE(linear);
      const auto sampler = make_sampler(gpu, [&](MTL::SamplerDescriptor* wanted) {
        wanted->setSAddressMode(mode);
        wanted->setBorderColor(MTL::SamplerBorderColorOpaqueWhite);
        wanted->setMagFilter(linear ? MTL::SamplerMinMagFilterLinear
                                    : MTL::SamplerMinMagFilterNearest);
      });

      const Floats out = run(gpu, pipeline.get(), texture.get(), along_x(places), sampler.get());

      const auto texel = [&](int i) {
        const int index = reference_index(mode, i, 5);
        return index >= 0 ? texels[static_cast<std::size_t>(index)]
               : mode == MTL::SamplerAddressModeClampToBorderColor ? 1.0F
                                                                   : 0.0F;
      };
      for (std::size_t i = 0; i < places.size(); ++i) {
        const double u = static_cast<double>(places[i]) * 5 - (linear ? 0.5 : 0);
        const double base = std::floor(u);
        const double fraction = u - base;
        const int index = static_cast<int>(base);
        // Where single precision may fall on the other side of an edge between texels.
        if (!linear && (fraction < 1e-4 || fraction > 1 - 1e-4)) {
          continue;
        }
        const double expected =
            linear ? texel(index) * (1 - fraction) + texel(index + 1) * fraction : texel(index);
        CHECK(out[i] == doctest::Approx(expected).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("samplers written in the program take the same options") {
  const Gpu gpu;
  const auto texture = make_filled(gpu, {.width = 2, .height = 2}, {0, 10, 20, 30});

  CHECK(run(gpu, texture_kernel("texture2d<float>", "t.sample(s, c.xy)", "filter::linear"),
            texture.get(), {0.5F, 0.5F, 0, 0, 0.25F, 0.75F, 0, 0}) == Floats{15, 20});
  CHECK(run(gpu,
            texture_kernel("texture2d<float>", "t.sample(s, c.xy)",
                           "coord::pixel, address::clamp_to_edge, filter::nearest"),
            texture.get(), {1.5F, 0.5F, 0, 0, 7, 1.2F, 0, 0}) == Floats{10, 30});
  CHECK(run(gpu,
            texture_kernel("texture2d<float>", "t.sample(s, c.xy, int2(1, 0))",
                           "s_address::repeat, t_address::clamp_to_zero"),
            texture.get(),
            {0.25F, 0.25F, 0, 0, 0.75F, 0.25F, 0, 0, 0.25F, 1.25F, 0, 0}) == Floats{10, 0, 0});
}

TEST_CASE("NaN and infinite coordinates fall somewhere into the texture") {
  const Gpu gpu;
  const auto texture = make_filled(gpu, {.width = 4}, {1, 2, 3, 4});
  const auto pipeline = gpu.pipeline(texture_kernel("texture2d<float>", "t.sample(s, c.xy)"), "f");
  for (const auto mode : {MTL::SamplerAddressModeRepeat, MTL::SamplerAddressModeMirrorRepeat,
                          MTL::SamplerAddressModeClampToEdge}) {
    const auto sampler =
        make_sampler(gpu, [&](MTL::SamplerDescriptor* wanted) { wanted->setSAddressMode(mode); });
    const Floats out = run(gpu, pipeline.get(), texture.get(),
                           along_x({NAN, INFINITY, -INFINITY, 1e30F}), sampler.get());
    for (const float value : out) {
      CHECK(value >= 1);
      CHECK(value <= 4);
    }
  }
}

TEST_CASE("levels are chosen by number, mixed by the mip filter and clamped") {
  const Gpu gpu;
  const auto texture =
      make_texture(gpu, {.format = MTL::PixelFormatR32Float, .width = 4, .height = 4, .levels = 3});
  fill(texture.get(), Floats(16, 100), 0);
  fill(texture.get(), Floats(4, 200), 1);
  fill(texture.get(), Floats(1, 300), 2);
  const Floats levels = {0.5F, 0.5F, 0,     0, 0.5F, 0.5F, 1, 0, 0.5F, 0.5F, 1.25F, 0,
                         0.5F, 0.5F, 1.75F, 0, 0.5F, 0.5F, 9, 0, 0.5F, 0.5F, -3,    0};
  const std::string level = "t.sample(s, c.xy, level(c.z))";
  const auto bound = gpu.pipeline(texture_kernel("texture2d<float>", level), "f");
  const auto with = [&](MTL::SamplerMipFilter filter) {
    const auto sampler = make_sampler(gpu, [&](MTL::SamplerDescriptor* wanted) {
      wanted->setMipFilter(filter);
      wanted->setMinFilter(MTL::SamplerMinMagFilterLinear);
    });
    return run(gpu, bound.get(), texture.get(), levels, sampler.get());
  };

  CHECK(with(MTL::SamplerMipFilterNotMipmapped) == Floats{100, 100, 100, 100, 100, 100});
  CHECK(with(MTL::SamplerMipFilterNearest) == Floats{100, 200, 200, 300, 300, 100});
  CHECK(with(MTL::SamplerMipFilterLinear) == Floats{100, 200, 225, 275, 300, 100});
  CHECK(run(gpu,
            texture_kernel("texture2d<float>", level, "mip_filter::linear, lod_clamp(0.5f, 1.5f)"),
            texture.get(), levels) == Floats{150, 200, 225, 250, 250, 150});
  CHECK(run(gpu,
            texture_kernel("texture2d<float>",
                           "t.sample(s, c.xy, gradient2d(float2(0.5f, 0), float2(0, 0.25f)))",
                           "mip_filter::nearest"),
            texture.get(), along_x({0.5F})) == Floats{200});
}

TEST_CASE("volumes are filtered along three axes, arrays along two") {
  const Gpu gpu;
  const auto volume =
      make_filled(gpu, {.width = 2, .height = 2, .type = MTL::TextureType3D, .depth = 2},
                  {0, 1, 10, 11, 100, 101, 110, 111});
  const auto array = make_texture(gpu, {.format = MTL::PixelFormatR32Float,
                                        .width = 2,
                                        .type = MTL::TextureType2DArray,
                                        .array_length = 2});
  fill(array.get(), {1, 3}, 0, 0);
  fill(array.get(), {10, 30}, 0, 1);
  const auto row = make_filled(gpu, {.width = 2, .type = MTL::TextureType1D}, {4, 8});

  CHECK(run(gpu, texture_kernel("texture3d<float>", "t.sample(s, c.xyz)", "filter::linear"),
            volume.get(), {0.5F, 0.5F, 0.5F, 0, 0.75F, 0.25F, 0.5F, 0}) == Floats{55.5F, 51});
  CHECK(run(gpu,
            texture_kernel("texture2d_array<float>", "t.sample(s, c.xy, uint(c.z))",
                           "filter::linear"),
            array.get(),
            {0.5F, 0.5F, 0, 0, 0.5F, 0.5F, 1, 0, 0.5F, 0.5F, 7, 0}) == Floats{2, 20, 20});
  CHECK(run(gpu, texture_kernel("texture1d<float>", "t.sample(s, c.x)", "filter::linear"),
            row.get(), along_x({0.5F, 0.25F, 0.9F})) == Floats{6, 4, 8});
}

TEST_CASE("a direction finds its face of a cube, and edges blend into the next face") {
  const Gpu gpu;
  const auto cube = make_texture(
      gpu,
      {.format = MTL::PixelFormatR32Float, .width = 4, .height = 4, .type = MTL::TextureTypeCube});
  for (NS::UInteger face = 0; face < 6; ++face) {
    fill(cube.get(), Floats(16, static_cast<float>(face)), 0, face);
  }
  const Floats directions = {1, 0,  0, 0, -1, 0, 0, 0, 0, 1, 0,  0,
                             0, -1, 0, 0, 0,  0, 1, 0, 0, 0, -1, 0};

  CHECK(run(gpu, texture_kernel("texturecube<float>", "t.sample(s, c.xyz)"), cube.get(), directions,
            make_sampler(gpu, [](MTL::SamplerDescriptor*) {}).get()) == Floats{0, 1, 2, 3, 4, 5});
  const Floats edge =
      run(gpu, texture_kernel("texturecube<float>", "t.sample(s, c.xyz)", "filter::linear"),
          cube.get(), {1, 0, 1, 0});
  CHECK(edge[0] == doctest::Approx(2));
}

TEST_CASE("gather returns the four texels of a footprint, counter-clockwise from below") {
  const Gpu gpu;
  const auto texture = make_filled(gpu, {.width = 3, .height = 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  const std::string source =
      texture_kernel("texture2d<float>", "t.gather(s, c.xy)", "filter::linear");
  Floats out(4);
  const Floats in = {1.0F / 3, 1.0F / 3, 0, 0};

  gpu.run(gpu.pipeline(source, "f").get(), {.grid = size(1)}, out, in, texture.get());

  CHECK(out == Floats{3, 4, 1, 0});
}

TEST_CASE("depth textures compare before they filter") {
  const Gpu gpu;
  const auto depth = make_texture(gpu, {.format = MTL::PixelFormatDepth32Float, .width = 2});
  fill(depth.get(), {0.25F, 0.75F});
  const Floats places = {0.5F, 0.5F, 0.5F, 0, 0.5F, 0.5F, 0.1F, 0, 0.5F, 0.5F, 0.9F, 0};

  CHECK(run(gpu,
            texture_kernel("depth2d<float>", "t.sample_compare(s, c.xy, c.z)",
                           "filter::linear, compare_func::less"),
            depth.get(), places) == Floats{0.5F, 1, 0});
  CHECK(run(gpu,
            texture_kernel("depth2d<float>", "t.sample_compare(s, c.xy, c.z)",
                           "filter::linear, compare_func::greater_equal"),
            depth.get(), places) == Floats{0.5F, 0, 1});
  CHECK(run(gpu, texture_kernel("depth2d<float>", "t.sample(s, c.xy)", "filter::linear"),
            depth.get(), places) == Floats{0.5F, 0.5F, 0.5F});
}

TEST_CASE("a filter over an image agrees with the same filter on the host") {
  const Gpu gpu;
  constexpr NS::UInteger kWidth = 37;
  constexpr NS::UInteger kHeight = 23;
  Floats image(kWidth * kHeight);
  for (std::size_t i = 0; i < image.size(); ++i) {
    image[i] = static_cast<float>(i * 7919 % 101);
  }
  const auto in = make_filled(gpu, {.width = kWidth, .height = kHeight}, image);
  const auto out =
      make_texture(gpu, {.format = MTL::PixelFormatR32Float, .width = kWidth, .height = kHeight});
  const std::string source =
      "#include <metal_stdlib>\nusing namespace metal;\n"
      "kernel void blur(texture2d<float> in [[texture(0)]],\n"
      "                 texture2d<float, access::write> out [[texture(1)]],\n"
      "                 uint2 at [[thread_position_in_grid]]) {\n"
      "  constexpr sampler s(coord::pixel, address::clamp_to_edge);\n"
      "  float4 sum = 0;\n"
      "  for (int dy = -1; dy <= 1; ++dy)\n    for (int dx = -1; dx <= 1; ++dx)\n"
      "      sum += in.sample(s, float2(at) + 0.5f + float2(dx, dy));\n"
      "  out.write(sum / 9, at);\n}\n";

  gpu.run(gpu.pipeline(source, "blur").get(), {.grid = size(kWidth, kHeight), .group = size(8, 8)},
          in.get(), out.get());

  Floats result(image.size());
  out->getBytes(result.data(), kWidth * 4, MTL::Region(0, 0, kWidth, kHeight), 0);
  for (int y = 0; y < static_cast<int>(kHeight); ++y) {
    for (int x = 0; x < static_cast<int>(kWidth); ++x) {
      double sum = 0;
      for (int k = 0; k < 9; ++k) {
        const int column = std::clamp(x + k % 3 - 1, 0, static_cast<int>(kWidth) - 1);
        const int line = std::clamp(y + k / 3 - 1, 0, static_cast<int>(kHeight) - 1);
        sum += image[static_cast<std::size_t>(line) * kWidth + static_cast<std::size_t>(column)];
      }
      CHECK(result[static_cast<std::size_t>(y) * kWidth + static_cast<std::size_t>(x)] ==
            doctest::Approx(sum / 9));
    }
  }
}

}  // namespace pewter
