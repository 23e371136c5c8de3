#include "pewter/runtime/matrix_product.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "pewter/base/environment.h"
#include "pewter/base/log.h"
#include "pewter/base/thread.h"
#include "pewter/base/worker_pool.h"
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
// Elements of the result that one thread computes at a time, at least: with fewer it would pack the
// matrices too often.
constexpr std::int64_t kLeastBlockArea = std::int64_t{512} * 512;
// Sides of blocks are multiples of it, as those of the library's tiles are.
constexpr std::int64_t kBlockStep = 64;

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

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

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
    if (Blocks(*this, product).count() > 1) {
      helpers().rouse();
    }
    const std::array<Buffer, 2> reads = {product.a.buffer, product.b.buffer};
    encode_host_work(stream, reads, product.out, [this, product] { multiply(product); });
    return true;
  }

 private:
  /// How a product is cut into blocks: `rows` by `columns` of the result each, or less at its end.
  struct Cut {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
  };

  // Blocks depend on the shape and the processor alone, and each is computed by one thread: what
  // the library computes for an element differs with the block that it is in, and results must not
  // depend on the number of threads. A block packs the rows and the columns that it needs, so there
  // are no more than every core needs to have one, and they are nearly square. Rows are cut first:
  // halves of rows whose length is a power of two use half of the sets of a cache.
  static Cut cut(const MatrixProduct& product) {
    const std::int64_t cores = std::max(core_count(), 2U);
    Cut block = {product.rows, product.columns};
    if (product.batches * product.rows * product.columns * product.inner < kLeastSharedWork) {
      return block;
    }
    std::int64_t blocks = product.batches;
    while (blocks < cores && block.rows * block.columns >= 2 * kLeastBlockArea) {
      std::int64_t& side = block.rows >= block.columns ? block.rows : block.columns;
      side = round_up((side + 1) / 2, kBlockStep);
      blocks *= 2;
    }
    return block;
  }

  /// Blocks of the products of a batch, taken one by one by the threads that work on it.
  class Blocks final : public WorkerPool::Job {
   public:
    Blocks(const HostBlas& blas, const MatrixProduct& product)
        : blas_(blas),
          product_(product),
          cut_(cut(product)),
          down_((product.rows + cut_.rows - 1) / cut_.rows),
          across_((product.columns + cut_.columns - 1) / cut_.columns) {}

    std::int64_t count() const { return product_.batches * down_ * across_; }

    bool has_work() const override { return next_.load(std::memory_order_relaxed) < count(); }

    void help() override {
      for (std::int64_t i = next_++; i < count(); i = next_++) {
        blas_.multiply_block(product_, cut_, i / (down_ * across_), i / across_ % down_,
                             i % across_);
      }
    }

   private:
    const HostBlas& blas_;
    const MatrixProduct& product_;
    const Cut cut_;
    const std::int64_t down_;
    const std::int64_t across_;
    std::atomic<std::int64_t> next_ = 0;
  };

  void multiply(const MatrixProduct& product) const {
    const std::scoped_lock lock(mutex_);
    const int threads_before = threads_();
    set_threads_(1);
    Blocks blocks(*this, product);
    if (blocks.count() > 1) {
      WorkerPool& pool = helpers();
      const auto wanted = static_cast<std::uint32_t>(
          std::min<std::int64_t>(blocks.count() - 1, pool.worker_count()));
      pool.add(blocks, wanted);
      pool.wake(wanted);
      blocks.help();
      pool.remove(blocks);
    } else {
      blocks.help();
    }
    set_threads_(threads_before);
  }

  /// The threads that share a product with the one that asks for it: with more than the processor
  /// has cores they would only wait for each other. Never destroyed, as a product may be under way
  /// when the program ends.
  static WorkerPool& helpers() {
    static WorkerPool& pool = []() -> WorkerPool& {
      const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
      const std::uint64_t wanted = environment::number("PEWTER_THREADS").value_or(cores);
      const std::uint64_t threads = std::clamp<std::uint64_t>(wanted, 1, cores);
      return *new WorkerPool(static_cast<std::uint32_t>(threads - 1));
    }();
    return pool;
  }

  void multiply_block(const MatrixProduct& product,
                      const Cut& block,
                      std::int64_t batch,
                      std::int64_t down,
                      std::int64_t across) const {
    const std::size_t item = product.is_complex ? 2 * sizeof(float) : sizeof(float);
    const std::int64_t row = down * block.rows;
    const std::int64_t column = across * block.columns;
    const std::int64_t a = row * (product.a.is_transposed ? 1 : product.a.leading);
    const std::int64_t b = column * (product.b.is_transposed ? product.b.leading : 1);
    const std::int64_t out = (batch * product.rows + row) * product.columns + column;
    MatrixProduct part = product;
    part.rows = std::min(block.rows, product.rows - row);
    part.columns = std::min(block.columns, product.columns - column);
    multiply(part, static_cast<int>(product.columns),
             matrix(product.a, batch, item) + static_cast<std::size_t>(a) * item,
             matrix(product.b, batch, item) + static_cast<std::size_t>(b) * item,
             product.out.contents() + static_cast<std::size_t>(out) * item);
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
