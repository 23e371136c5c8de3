#include "pewter/runtime/matrix_product.h"

#include <dlfcn.h>

#include <array>

#include "pewter/base/environment.h"
#include "pewter/base/log.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/host_work.h"

namespace pewter::runtime {
namespace {

// CBLAS's numbers.
constexpr int kRowMajor = 101;
constexpr int kNoTranspose = 111;
constexpr int kTranspose = 112;

// Below it the way to the host and back costs more than the product.
constexpr std::int64_t kLeastWork = 64 * 64 * 64;

using Sgemm = void (*)(
    int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
using Cgemm = void (*)(int,
                       int,
                       int,
                       int,
                       int,
                       int,
                       const void*,
                       const void*,
                       int,
                       const void*,
                       int,
                       const void*,
                       void*,
                       int);

/// OpenBLAS, opened when the first product asks for it.
class HostBlas final : public MatrixMultiplier {
 public:
  static const HostBlas* open() {
    if (environment::text("PEWTER_BLAS").value_or("1") == "0") {
      return nullptr;
    }
    void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      log::detail("fusion", "products of matrices run as kernels: no libopenblas.so.0");
      return nullptr;
    }
    auto* const blas = new HostBlas;
    blas->sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    blas->cgemm_ = reinterpret_cast<Cgemm>(dlsym(library, "cblas_cgemm"));
    if (blas->sgemm_ == nullptr || blas->cgemm_ == nullptr) {
      delete blas;
      return nullptr;
    }
    return blas;
  }

  bool encode(Stream& stream, const MatrixProduct& product) const override {
    if (product.rows * product.columns * product.inner < kLeastWork) {
      return false;
    }
    const std::array<Buffer, 2> reads = {product.a.buffer, product.b.buffer};
    encode_host_work(stream, reads, product.out, [this, product] { multiply(product); });
    return true;
  }

 private:
  void multiply(const MatrixProduct& product) const {
    const std::size_t item = product.is_complex ? 2 * sizeof(float) : sizeof(float);
    for (std::int64_t i = 0; i < product.batches; ++i) {
      const std::byte* a = matrix(product.a, i, item);
      const std::byte* b = matrix(product.b, i, item);
      std::byte* out = product.out.contents() +
                       static_cast<std::size_t>(i * product.rows * product.columns) * item;
      multiply(product, a, b, out);
    }
  }

  static const std::byte* matrix(const MatrixOperand& operand, std::int64_t i, std::size_t item) {
    return operand.buffer.contents() + operand.byte_offset +
           static_cast<std::size_t>(i * operand.batch_stride) * item;
  }

  void multiply(const MatrixProduct& product,
                const std::byte* a,
                const std::byte* b,
                std::byte* out) const {
    const int transpose_a = product.a.is_transposed ? kTranspose : kNoTranspose;
    const int transpose_b = product.b.is_transposed ? kTranspose : kNoTranspose;
    const auto rows = static_cast<int>(product.rows);
    const auto columns = static_cast<int>(product.columns);
    const auto inner = static_cast<int>(product.inner);
    const auto leading_a = static_cast<int>(product.a.leading);
    const auto leading_b = static_cast<int>(product.b.leading);
    if (product.is_complex) {
      const std::array<float, 2> one = {1, 0};
      const std::array<float, 2> zero = {0, 0};
      cgemm_(kRowMajor, transpose_a, transpose_b, rows, columns, inner, one.data(), a, leading_a, b,
             leading_b, zero.data(), out, columns);
    } else {
      sgemm_(kRowMajor, transpose_a, transpose_b, rows, columns, inner, 1.0F,
             reinterpret_cast<const float*>(a), leading_a, reinterpret_cast<const float*>(b),
             leading_b, 0.0F, reinterpret_cast<float*>(out), columns);
    }
  }

  Sgemm sgemm_ = nullptr;
  Cgemm cgemm_ = nullptr;
};

bool runs_on_this_processor() {
  // The software device says so; a real one has its own way.
  return device_info().architecture.starts_with("pewter");
}

}  // namespace

const MatrixMultiplier* matrix_multiplier() {
  // Never destroyed: products may be computed by destructors of static objects.
  static const MatrixMultiplier* const multiplier =
      runs_on_this_processor() ? HostBlas::open() : nullptr;
  return multiplier;
}

}  // namespace pewter::runtime
