#pragma once

#include <pewter/array.h>

#include <memory>
#include <vector>

#include "pewter/array/graph/node.h"
#include "pewter/array/graph/primitive.h"

namespace pewter::ops {

/// The arrays that one call of a primitive computes together.
std::vector<array> make_outputs(const std::vector<Shape>& shapes,
                                const std::vector<Dtype>& dtypes,
                                const std::shared_ptr<const graph::Primitive>& primitive,
                                const std::vector<graph::NodePointer>& inputs,
                                std::uint32_t stream);

}  // namespace pewter::ops
