#include "pewter/array/ops/outputs.h"

namespace pewter::ops {

std::vector<array> make_outputs(const std::vector<Shape>& shapes,
                                const std::vector<Dtype>& dtypes,
                                const std::shared_ptr<const graph::Primitive>& primitive,
                                const std::vector<graph::NodePointer>& inputs,
                                std::uint32_t stream) {
  std::vector<array> outputs;
  const auto siblings = std::make_shared<graph::Siblings>();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    auto node = graph::make_computed(shapes[i], dtypes[i], primitive, inputs, stream);
    node->output_index = static_cast<std::uint32_t>(i);
    if (shapes.size() > 1) {
      siblings->outputs.push_back(node);
      node->siblings = siblings;
    }
    outputs.emplace_back(std::move(node));
  }
  return outputs;
}

}  // namespace pewter::ops
