#pragma once

#include <cstddef>
#include <cstdint>

#include "pewter/runtime/buffer.h"
#include "pewter/runtime/stream.h"

namespace pewter::runtime {

/// One matrix operand of a product: `leading` elements from row to row, or, when transposed, from
/// column to column.
struct MatrixOperand {
  Buffer buffer;
  std::size_t byte_offset = 0;
  std::int64_t leading = 0;
  bool is_transposed = false;
  /// Elements from one matrix of a batch to the next; 0 repeats one.
  std::int64_t batch_stride = 0;
};

/// out = a @ b for each of `batches` matrices; `out` is row contiguous.
struct MatrixProduct {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t inner = 0;
  std::int64_t batches = 1;
  /// Elements are pairs of floats.
  bool is_complex = false;
  MatrixOperand a;
  MatrixOperand b;
  Buffer out;
};

/// What a device has for products of matrices besides kernels of ours.
class MatrixMultiplier {
 public:
  virtual ~MatrixMultiplier() = default;
  /// Encodes the product, or returns false when kernels do it better.
  virtual bool encode(Stream& stream, const MatrixProduct& product) const = 0;
};

/// The device's own multiplier: for one whose memory the processor shares and whose kernels run on
/// it, a BLAS of the host. Null when there is none; PEWTER_BLAS=0 switches it off.
const MatrixMultiplier* matrix_multiplier();

}  // namespace pewter::runtime
