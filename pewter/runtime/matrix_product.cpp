#include "pewter/runtime/matrix_product.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

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
// Below it the product is finished before a thread has started.
constexpr std::int64_t kLeastSharedWork = std::int64_t{256} * 256 * 256;
// Rows or columns that one thread computes at a time: fewer would pack the other matrix too often.
constexpr std::int64_t kBlock = 512;

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
      logging::detail("fusion", "products of matrices run as kernels: no libopenblas.so.0");
      return nullptr;
    }
    auto* const blas = new HostBlas;
    blas->sgemm_ = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    blas->cgemm_ = reinterpret_cast<Cgemm>(dlsym(library, "cblas_cgemm"));
    blas->threads_ = reinterpret_cast<int (*)()>(dlsym(library, "openblas_get_num_threads"));
    blas->set_threads_ =
        reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
    if (blas->sgemm_ == nullptr || blas->cgemm_ == nullptr || blas->threads_ == nullptr ||
        blas->set_threads_ == nullptr) {
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
  /// A stretch of rows or columns of one product of the batch.
  struct Block {
    std::int64_t batch = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  // Blocks depend on the shape alone, and each is computed by one thread, so that the results do
  // not depend on the number of threads.
  void multiply(const MatrixProduct& product) const {
    const bool by_rows = product.rows >= product.columns;
    const std::int64_t length = by_rows ? product.rows : product.columns;
    const std::int64_t half = (length + 127) / 128 * 64;
    const std::int64_t step = std::min(kBlock, half);
    std::vector<Block> blocks;
    for (std::int64_t batch = 0; batch < product.batches; ++batch) {
      for (std::int64_t first = 0; first < length; first += step) {
        blocks.push_back({batch, first, std::min(step, length - first)});
      }
    }

    const std::scoped_lock lock(mutex_);
    const int threads_before = threads_();
    set_threads_(1);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < blocks.size(); i = next++) {
        multiply_block(product, blocks[i], by_rows);
      }
    };
    const std::int64_t amount = product.batches * product.rows * product.columns * product.inner;
    std::vector<std::thread> helpers;
    const std::size_t wanted =
        amount < kLeastSharedWork ? 0 : std::min(thread_count(), blocks.size()) - 1;
    for (std::size_t i = 0; i < wanted; ++i) {
      helpers.emplace_back(work);
    }
    work();
    for (std::thread& helper : helpers) {
      helper.join();
    }
    set_threads_(threads_before);
  }

  static std::size_t thread_count() {
    static const std::size_t count = std::max<std::size_t>(
        environment::number("PEWTER_THREADS").value_or(std::thread::hardware_concurrency()), 1);
    return count;
  }

  void multiply_block(const MatrixProduct& product, const Block& block, bool by_rows) const {
    const std::size_t item = product.is_complex ? 2 * sizeof(float) : sizeof(float);
    const std::byte* a = matrix(product.a, block.batch, item);
    const std::byte* b = matrix(product.b, block.batch, item);
    std::byte* out = product.out.contents() +
                     static_cast<std::size_t>(block.batch * product.rows * product.columns) * item;
    MatrixProduct part = product;
    if (by_rows) {
      part.rows = block.count;
      a += static_cast<std::size_t>(block.first *
                                    (product.a.is_transposed ? 1 : product.a.leading)) *
           item;
      out += static_cast<std::size_t>(block.first * product.columns) * item;
    } else {
      part.columns = block.count;
      b += static_cast<std::size_t>(block.first *
                                    (product.b.is_transposed ? product.b.leading : 1)) *
           item;
      out += static_cast<std::size_t>(block.first) * item;
    }
    multiply(part, static_cast<int>(product.columns), a, b, out);
  }

  static const std::byte* matrix(const MatrixOperand& operand, std::int64_t i, std::size_t item) {
    return operand.buffer.contents() + operand.byte_offset +
           static_cast<std::size_t>(i * operand.batch_stride) * item;
  }

  void multiply(const MatrixProduct& product,
                int leading_out,
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
             leading_b, zero.data(), out, leading_out);
    } else {
      sgemm_(kRowMajor, transpose_a, transpose_b, rows, columns, inner, 1.0F,
             reinterpret_cast<const float*>(a), leading_a, reinterpret_cast<const float*>(b),
             leading_b, 0.0F, reinterpret_cast<float*>(out), leading_out);
    }
  }

  Sgemm sgemm_ = nullptr;
  Cgemm cgemm_ = nullptr;
  int (*threads_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
  // One product at a time: the number of threads belongs to the whole library.
  mutable std::mutex mutex_;
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
