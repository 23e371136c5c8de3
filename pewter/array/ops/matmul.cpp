#include <fmt/core.h>
#include <pewter/ops.h>

#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "pewter/array/graph/primitive.h"
#include "pewter/array/graph/shape.h"
#include "pewter/array/ops/copy.h"
#include "pewter/array/ops/elementwise.h"
#include "pewter/array/ops/kernel_call.h"
#include "pewter/array/ops/kernel_source.h"
#include "pewter/array/ops/refusal.h"
#include "pewter/array/ops/trace.h"
#include "pewter/runtime/matrix_product.h"

namespace pewter {
namespace {

/// As kernels/matmul.metal has it.
struct Product {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t inner;
  std::uint32_t unused;
  std::int64_t a_row;
  std::int64_t a_inner;
  std::int64_t a_batch;
  std::int64_t b_inner;
  std::int64_t b_column;
  std::int64_t b_batch;
};

/// Whether the rows, or the columns, of a matrix lie one behind the other.
bool has_unit_stride(const graph::Node& node) {
  const std::size_t rank = node.shape.size();
  const std::int64_t rows = node.shape[rank - 2];
  const std::int64_t columns = node.shape[rank - 1];
  const std::int64_t down = node.strides[rank - 2];
  const std::int64_t right = node.strides[rank - 1];
  return ((right == 1 || columns == 1) && (down >= columns || rows == 1)) ||
         ((down == 1 || rows == 1) && (right >= rows || columns == 1));
}

runtime::MatrixOperand operand_of(const graph::Node& node, std::int64_t batch_stride) {
  const std::size_t rank = node.shape.size();
  const std::int64_t rows = node.shape[rank - 2];
  const std::int64_t columns = node.shape[rank - 1];
  runtime::MatrixOperand operand;
  operand.buffer = node.memory();
  operand.byte_offset = node.byte_offset();
  operand.batch_stride = batch_stride;
  const bool by_rows = (node.strides[rank - 1] == 1 || columns == 1) &&
                       (node.strides[rank - 2] >= columns || rows == 1);
  operand.is_transposed = !by_rows;
  operand.leading = by_rows ? (rows == 1 ? columns : node.strides[rank - 2])
                            : (columns == 1 ? rows : node.strides[rank - 1]);
  return operand;
}

/// Matrices of rank 2, or of rank 3 with one axis of batches.
class MatmulPrimitive final : public graph::Primitive {
 public:
  std::string_view name() const override { return "matmul"; }
  void encode(runtime::Stream& stream,
              std::span<const graph::NodePointer> inputs,
              std::span<graph::Node* const> outputs) const override {
    graph::Node& out = *outputs[0];
    const graph::Node& a = *inputs[0];
    const graph::Node& b = *inputs[1];
    graph::allocate_memory(out);
    if (out.size == 0) {
      return;
    }
    runtime::MatrixProduct product;
    product.batches = out.shape[0];
    product.rows = out.shape[1];
    product.columns = out.shape[2];
    product.inner = a.shape[2];
    product.is_complex = out.dtype == Dtype::Complex64;
    product.a = operand_of(a, a.shape[0] == 1 ? 0 : a.strides[0]);
    product.b = operand_of(b, b.shape[0] == 1 ? 0 : b.strides[0]);
    product.out = out.buffer;
    const runtime::MatrixMultiplier* device = runtime::matrix_multiplier();
    if (device == nullptr || !device->encode(stream, product)) {
      encode_kernel(stream, product);
    }
  }
  std::vector<array> apply(const std::vector<array>& inputs,
                           std::uint32_t /*stream*/) const override {
    return {matmul(inputs[0], inputs[1])};
  }

 private:
  static void encode_kernel(runtime::Stream& stream, const runtime::MatrixProduct& product) {
    const auto kernel =
        ops::shipped_kernel("matmul.metal", product.is_complex ? "matmul_complex" : "matmul");
    Product p = {};
    p.rows = static_cast<std::uint32_t>(product.rows);
    p.columns = static_cast<std::uint32_t>(product.columns);
    p.inner = static_cast<std::uint32_t>(product.inner);
    p.a_row = product.a.is_transposed ? 1 : product.a.leading;
    p.a_inner = product.a.is_transposed ? product.a.leading : 1;
    p.a_batch = product.a.batch_stride;
    p.b_inner = product.b.is_transposed ? 1 : product.b.leading;
    p.b_column = product.b.is_transposed ? product.b.leading : 1;
    p.b_batch = product.b.batch_stride;
    const std::uint32_t width = p.columns >= 256 ? 256 : (p.columns + 31) / 32 * 32;
    const std::uint32_t rows = product.is_complex ? p.rows : (p.rows + 3) / 4;
    ops::KernelCall(stream, *kernel)
        .buffer(product.a.buffer, product.a.byte_offset, runtime::Access::Read)
        .buffer(product.b.buffer, product.b.byte_offset, runtime::Access::Read)
        .buffer(product.out, 0, runtime::Access::Write)
        .value(p)
        .dispatch_groups(MTL::Size((p.columns + width - 1) / width, rows,
                                   static_cast<NS::UInteger>(product.batches)),
                         MTL::Size(width, 1, 1));
  }
};

std::invalid_argument mismatch(const array& a, const array& b) {
  return std::invalid_argument(
      fmt::format("[matmul] shapes {} and {}: the last axis of the first must be as long as the "
                  "last but one of the second",
                  graph::to_text(a.shape()), graph::to_text(b.shape())));
}

/// The length of all axes but the last `kept` together, for reshape(): left open, unless there are
/// no elements to tell it.
std::int64_t joined_length(const Shape& shape, std::ptrdiff_t kept) {
  const auto product = [](auto first, auto last) {
    return std::accumulate(first, last, std::int64_t{1}, std::multiplies<>());
  };
  const bool is_open = product(shape.end() - kept, shape.end()) > 0;
  return is_open ? -1 : product(shape.begin(), shape.end() - kept);
}

/// Three axes, the first of which is the batch; broadcast to `batch` when there is more than one.
array batched(const array& a, const Shape& batch, StreamOrDevice s) {
  const std::size_t lead = a.ndim() - 2;
  const std::int64_t rows = a.shape()[lead];
  const std::int64_t columns = a.shape()[lead + 1];
  bool is_one = true;
  for (std::size_t axis = 0; axis < lead; ++axis) {
    is_one = is_one && a.shape()[axis] == 1;
  }
  if (is_one) {
    return reshape(a, {1, rows, columns}, s);
  }
  Shape shape = batch;
  shape.insert(shape.end(), {rows, columns});
  const array whole = broadcast_to(a, shape, s);
  ops::expect_joinable("matmul", whole);
  return reshape(whole, {joined_length(shape, 2), rows, columns}, s);
}

/// Matrices of at least rank 2 and one floating-point type.
array multiply_matrices(const array& a, const array& b, std::uint32_t stream, StreamOrDevice s) {
  const Shape batch_a(a.shape().begin(), a.shape().end() - 2);
  const Shape batch_b(b.shape().begin(), b.shape().end() - 2);
  Shape shape = graph::broadcast_shape("matmul", batch_a, batch_b);
  const Shape batch = shape;
  const std::int64_t rows = a.shape()[a.ndim() - 2];
  const std::int64_t inner = a.shape().back();
  const std::int64_t columns = b.shape().back();
  shape.insert(shape.end(), {rows, columns});

  // One row or one column: a reduction that reads the matrix once.
  if (columns == 1 || rows == 1) {
    const array left = columns == 1 ? a : swapaxes(a, -1, -2, s);
    const array right = columns == 1 ? swapaxes(b, -1, -2, s) : b;
    ops::expect_joinable("matmul", graph::broadcast_shape("matmul", left.shape(), right.shape()),
                         {left.node_pointer(), right.node_pointer()});
    return sum(multiply(left, right, s), columns == 1 ? -1 : -2, true, s);
  }
  array left = batched(a, batch, s);
  array right = batched(b, batch, s);
  if (batch_a.size() > 0 && right.shape()[0] == 1 && left.row_contiguous()) {
    // One matrix for all: the batch is more rows.
    left = reshape(left, {1, -1, inner}, s);
  }
  left = has_unit_stride(left.node()) ? left : ops::row_contiguous(left, stream);
  right = has_unit_stride(right.node()) ? right : ops::row_contiguous(right, stream);
  // One matrix goes with every other, also where there is none.
  const std::int64_t batches = left.shape()[0] == 1 ? right.shape()[0] : left.shape()[0];
  const Shape product_shape = {batches, left.shape()[1], columns};
  const array product(graph::make_computed(product_shape, a.dtype(),
                                           std::make_shared<MatmulPrimitive>(),
                                           {left.node_pointer(), right.node_pointer()}, stream));
  return reshape(product, shape, s);
}

}  // namespace

array matmul(const array& a, const array& b, StreamOrDevice s) {
  if (a.ndim() == 0 || b.ndim() == 0) {
    throw std::invalid_argument(fmt::format("[matmul] shapes {} and {}: ranks must be at least 1",
                                            graph::to_text(a.shape()), graph::to_text(b.shape())));
  }
  const std::uint32_t stream = ops::stream_number(s);
  const Dtype promoted = promote_types(a.dtype(), b.dtype());
  const bool is_half = promoted == Dtype::Float16 || promoted == Dtype::BFloat16;
  const Dtype result = promoted < Dtype::Float16 ? Dtype::Float32 : promoted;
  const Dtype computed = is_half ? Dtype::Float32 : result;
  ops::expect_joinable("matmul", a);
  ops::expect_joinable("matmul", b);
  array left = ops::viewable(ops::convert(a, computed, stream));
  array right = ops::viewable(ops::convert(b, computed, stream));
  left = a.ndim() == 1 ? expand_dims(left, 0, s) : left;
  right = b.ndim() == 1 ? expand_dims(right, 1, s) : right;
  if (left.shape().back() != right.shape()[right.ndim() - 2]) {
    throw mismatch(a, b);
  }
  if (left.shape().back() == 0) {
    Shape shape =
        graph::broadcast_shape("matmul", Shape(left.shape().begin(), left.shape().end() - 2),
                               Shape(right.shape().begin(), right.shape().end() - 2));
    shape.insert(shape.end(), {left.shape()[left.ndim() - 2], right.shape().back()});
    left = zeros(shape, result, s);
  } else {
    left = multiply_matrices(left, right, stream, s);
  }
  Axes gone;
  if (a.ndim() == 1) {
    gone.push_back(-2);
  }
  if (b.ndim() == 1) {
    gone.push_back(-1);
  }
  return ops::convert(gone.empty() ? left : squeeze(left, gone, s), result, stream);
}

array addmm(
    const array& c, const array& a, const array& b, float alpha, float beta, StreamOrDevice s) try {
  array product = matmul(a, b, s);
  const Dtype dtype = promote_types(product.dtype(), c.dtype());
  if (alpha != 1) {
    product = multiply(product, array(alpha, product.dtype()), s);
  }
  const array addend =
      beta == 1 ? astype(c, dtype, s) : multiply(astype(c, dtype, s), array(beta, dtype), s);
  return add(product, addend, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("addmm", refusal);
}

array inner(const array& a, const array& b, StreamOrDevice s) try {
  if (a.ndim() == 0 || b.ndim() == 0) {
    return multiply(a, b, s);
  }
  if (a.shape().back() != b.shape().back()) {
    throw std::invalid_argument(
        fmt::format("[inner] shapes {} and {}: the last axes must be "
                    "equally long",
                    graph::to_text(a.shape()), graph::to_text(b.shape())));
  }
  const array left = reshape(a, {joined_length(a.shape(), 1), a.shape().back()}, s);
  const array right = reshape(b, {joined_length(b.shape(), 1), b.shape().back()}, s);
  Shape shape(a.shape().begin(), a.shape().end() - 1);
  shape.insert(shape.end(), b.shape().begin(), b.shape().end() - 1);
  return reshape(matmul(left, transpose(right, s), s), shape, s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("inner", refusal);
}

array outer(const array& a, const array& b, StreamOrDevice s) try {
  return multiply(reshape(a, {-1, 1}, s), reshape(b, {1, -1}, s), s);
} catch (const std::invalid_argument& refusal) {
  throw ops::refusal_of("outer", refusal);
}

}  // namespace pewter
