#include "pewter/array/ops/threefry.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "pewter/array/graph/node.h"
#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/single_output.h"

namespace pewter::ops {
namespace {

constexpr std::size_t kGroup = 256;

/// As kernels/threefry.metal has it.
struct Extent {
  std::uint32_t words;
  std::uint32_t middle;
};

/// What a kernel takes after the number of words: bytes for bits, limits or form for the others.
struct Parameters {
  std::array<float, 3> numbers = {};
  std::size_t bytes = 0;
};

class Threefry final : public ops::SingleOutput {
 public:
  Threefry(std::string kernel, Parameters parameters, Shape shape, Dtype dtype)
      : kernel_(std::move(kernel)),
        parameters_(parameters),
        shape_(std::move(shape)),
        dtype_(dtype) {}

  std::string_view name() const override { return "random"; }

  void encode_into(runtime::Stream& stream,
                   std::span<const graph::NodePointer> inputs,
                   graph::Node& out) const override {
    const bool is_bits = parameters_.bytes == 0;
    const std::uint64_t bytes = out.size * size_of(out.dtype);
    const std::uint64_t words = is_bits ? (bytes + 3) / 4 : out.size;
    const Extent extent{static_cast<std::uint32_t>(words),
                        static_cast<std::uint32_t>((words + 1) / 2)};
    const auto kernel = shipped_kernel("threefry.metal", kernel_);
    KernelCall call(stream, *kernel);
    call.input(*inputs[0]).output(out).value(extent);
    if (is_bits) {
      call.value(bytes);
    } else {
      call.bytes(parameters_.numbers.data(), parameters_.bytes);
    }
    call.dispatch_threads(MTL::Size(extent.middle, 1, 1), MTL::Size(kGroup, 1, 1));
  }
  std::vector<array> apply(const std::vector<array>& inputs, std::uint32_t stream) const override {
    return {
        array(graph::make_computed(shape_, dtype_, std::make_shared<Threefry>(*this),
                                   {row_contiguous(inputs[0], stream).node_pointer()}, stream))};
  }

 private:
  std::string kernel_;
  Parameters parameters_;
  Shape shape_;
  Dtype dtype_;
};

array filled(const array& key,
             Shape shape,
             Dtype dtype,
             std::string kernel,
             const Parameters& parameters,
             std::uint32_t stream) {
  const std::size_t count = graph::element_count(shape, size_of(dtype));
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument(
        fmt::format("[random] the shape {} has more than 2^32 - 1 elements; draw it in parts with "
                    "keys of their own",
                    graph::to_text(shape)));
  }
  auto primitive = std::make_shared<Threefry>(std::move(kernel), parameters, shape, dtype);
  return array(graph::make_computed(std::move(shape), dtype, std::move(primitive),
                                    {key.node_pointer()}, stream));
}

float below_one(Dtype dtype) {
  switch (dtype) {
    case Dtype::Float16:
      return 1 - 0x1p-11F;
    case Dtype::BFloat16:
      return 1 - 0x1p-8F;
    default:
      return 1 - 0x1p-24F;
  }
}

constexpr std::uint32_t rotated(std::uint32_t word, unsigned by) {
  return word << by | word >> (32 - by);
}

}  // namespace

KeyWords threefry(const KeyWords& key, const KeyWords& counter) {
  constexpr std::array<unsigned, 8> kRotations = {13, 15, 26, 6, 17, 29, 16, 24};
  const std::array<std::uint32_t, 3> schedule = {key[0], key[1], key[0] ^ key[1] ^ 0x1bd11bdaU};
  KeyWords words = {counter[0] + key[0], counter[1] + key[1]};
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (std::uint32_t round = 0; round < 4; ++round) {
      words[0] += words[1];
      words[1] = rotated(words[1], kRotations[(group % 2) * 4 + round]) ^ words[0];
    }
    words[0] += schedule[(group + 1) % 3];
    words[1] += schedule[(group + 2) % 3] + group + 1;
  }
  return words;
}

array threefry_bits(const array& key, Shape shape, Dtype dtype, std::uint32_t stream) {
  return filled(key, std::move(shape), dtype,
                dtype == Dtype::UInt32 ? "threefry_words" : "threefry_bytes", {}, stream);
}

array threefry_uniform(
    const array& key, Shape shape, Dtype dtype, float low, float range, std::uint32_t stream) {
  const Parameters limits{{low, range, below_one(dtype)}, 3 * sizeof(float)};
  return filled(key, std::move(shape), dtype, fmt::format("threefry_uniform_{}", name_of(dtype)),
                limits, stream);
}

array threefry_normal(
    const array& key, Shape shape, Dtype dtype, float mean, float deviation, std::uint32_t stream) {
  const Parameters form{{mean, deviation * std::sqrt(2.0F), 0}, 2 * sizeof(float)};
  return filled(key, std::move(shape), dtype, fmt::format("threefry_normal_{}", name_of(dtype)),
                form, stream);
}

}  // namespace pewter::ops
