#include "tests/compiler/stdlib/accuracy/sweep.h"

#include <fmt/core.h>

#include <Metal/Metal.hpp>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/text.h"

namespace pewter::test {
namespace {

constexpr std::uint64_t kChunk = std::uint64_t{1} << 18;

std::string source_of(const Sweep& sweep, const SweepMode& mode) {
  std::string result = result_expression(sweep.function);
  if (!mode.space.empty()) {
    const std::string name = sweep.function.expression;
    result.insert(result.find(name), mode.space + "::");
  }
  return math_prologue() + "using T = " + sweep.format.name +
         ";\nusing Bits = " + (sweep.format.bits() == 32 ? "uint" : "ushort") +
         ";\nkernel void f(device float* out [[buffer(0)]], constant uint2& range [[buffer(1)]],\n"
         "              uint i [[thread_position_in_grid]]) {\n"
         "  const T x = as_type<T>(Bits(range.x + i * range.y));\n  out[i] = " +
         result + ";\n}\n";
}

/// The function, compiled. May be used by several threads, each with a buffer of its own.
class SweepKernel {
 public:
  SweepKernel(const Sweep& sweep, const SweepMode& mode)
      : pool_(NS::TransferPtr(NS::AutoreleasePool::alloc()->init())),
        device_(NS::TransferPtr(MTL::CreateSystemDefaultDevice())) {
    if (!device_) {
      throw std::runtime_error("no device");
    }
    auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
    options->setMathMode(mode.math == "safe"      ? MTL::MathModeSafe
                         : mode.math == "relaxed" ? MTL::MathModeRelaxed
                                                  : MTL::MathModeFast);
    options->setMathFloatingPointFunctions(mode.has_fast_functions
                                               ? MTL::MathFloatingPointFunctionsFast
                                               : MTL::MathFloatingPointFunctionsPrecise);
    const NS::Object* keys[] = {string("PEWTER_MODE")};
    const NS::Object* values[] = {string(mode.is_spmd ? "spmd" : "scalar")};
    options->setPreprocessorMacros(NS::Dictionary::dictionary(values, keys, 1));
    NS::Error* error = nullptr;
    auto library =
        NS::TransferPtr(device_->newLibrary(string(source_of(sweep, mode)), options.get(), &error));
    if (!library) {
      throw std::runtime_error(text(error));
    }
    auto function = NS::TransferPtr(library->newFunction(string("f")));
    pipeline_ = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
    if (!pipeline_) {
      throw std::runtime_error(text(error));
    }
    queue_ = NS::TransferPtr(device_->newCommandQueue());
  }

  NS::SharedPtr<MTL::Buffer> new_buffer() const {
    return NS::TransferPtr(
        device_->newBuffer(kChunk * sizeof(float), MTL::ResourceStorageModeShared));
  }

  /// The results for bits first, first + stride, ...; they stay in the buffer.
  std::span<const float> run(MTL::Buffer* out,
                             std::uint32_t first,
                             std::uint32_t stride,
                             std::size_t count) const {
    const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* commands = queue_->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline_.get());
    encoder->setBuffer(out, 0, 0);
    const std::uint32_t range[2] = {first, stride};
    encoder->setBytes(range, sizeof(range), 1);
    encoder->dispatchThreads(MTL::Size(count, 1, 1), MTL::Size(256, 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    if (commands->status() != MTL::CommandBufferStatusCompleted) {
      throw std::runtime_error(text(commands->error()));
    }
    return {static_cast<const float*>(out->contents()), count};
  }

 private:
  NS::SharedPtr<NS::AutoreleasePool> pool_;
  NS::SharedPtr<MTL::Device> device_;
  NS::SharedPtr<MTL::ComputePipelineState> pipeline_;
  NS::SharedPtr<MTL::CommandQueue> queue_;
};

/// Calls `work` with the first index and the count of every chunk of the numbers of one sign, from
/// `jobs` threads. The first exception ends all of them and is thrown again.
void for_each_chunk(const Sweep& sweep,
                    const std::function<void(std::uint64_t first, std::size_t count)>& work) {
  const std::uint64_t half = std::uint64_t{1} << (sweep.format.bits() - 1);
  const std::uint64_t count = (half + sweep.stride - 1) / sweep.stride;
  std::atomic<std::uint64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work_on = [&] {
    try {
      for (;;) {
        const std::uint64_t first = next.fetch_add(kChunk);
        if (first >= count) {
          return;
        }
        work(first, static_cast<std::size_t>(std::min(kChunk, count - first)));
      }
    } catch (...) {
      next = count;
      const std::scoped_lock lock(mutex);
      failure = failure ? failure : std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned job = 1; job < sweep.jobs; ++job) {
    threads.emplace_back(work_on);
  }
  work_on();
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace

Measurement measure(const Sweep& sweep,
                    const SweepMode& mode,
                    const std::function<void(double)>& progress) {
  const SweepKernel kernel(sweep, mode);
  const std::uint32_t sign = std::uint32_t{1} << (sweep.format.bits() - 1);
  std::mutex mutex;
  Measurement total;
  for_each_chunk(sweep, [&](std::uint64_t first, std::size_t count) {
    const auto buffer = kernel.new_buffer();
    std::vector<double> arguments(count);
    std::vector<double> wanted(count);
    const auto first_bits = static_cast<std::uint32_t>(first * sweep.stride);
    Measurement part;
    for (const bool is_negative : {false, true}) {
      for (std::size_t index = 0; index < count; ++index) {
        const auto bits = static_cast<std::uint32_t>(first_bits + index * sweep.stride);
        arguments[index] = sweep.format.value(is_negative ? bits | sign : bits);
        if (!is_negative || sweep.function.symmetry == Symmetry::None) {
          wanted[index] = sweep.function.wanted(arguments[index], sweep.format);
        } else if (sweep.function.symmetry == Symmetry::Odd) {
          wanted[index] = -wanted[index];
        }
      }
      const std::span<const float> got = kernel.run(
          buffer.get(), is_negative ? first_bits | sign : first_bits, sweep.stride, count);
      part.add(measure(sweep.function, sweep.format, arguments, got, wanted));
    }
    const std::scoped_lock lock(mutex);
    total.add(part);
    progress(static_cast<double>(total.inputs) * sweep.stride / (2.0 * sign));
  });
  return total;
}

std::uint64_t count_differences(const Sweep& sweep, const SweepMode& one, const SweepMode& other) {
  const SweepKernel kernels[2] = {{sweep, one}, {sweep, other}};
  const std::uint32_t sign = std::uint32_t{1} << (sweep.format.bits() - 1);
  std::atomic<std::uint64_t> differences{0};
  for_each_chunk(sweep, [&](std::uint64_t first, std::size_t count) {
    const NS::SharedPtr<MTL::Buffer> buffers[2] = {kernels[0].new_buffer(),
                                                   kernels[1].new_buffer()};
    const auto first_bits = static_cast<std::uint32_t>(first * sweep.stride);
    std::uint64_t found = 0;
    for (const std::uint32_t start : {first_bits, first_bits | sign}) {
      const auto a = kernels[0].run(buffers[0].get(), start, sweep.stride, count);
      const auto b = kernels[1].run(buffers[1].get(), start, sweep.stride, count);
      for (std::size_t index = 0; index < count; ++index) {
        const bool are_same =
            std::bit_cast<std::uint32_t>(a[index]) == std::bit_cast<std::uint32_t>(b[index]) ||
            (std::isnan(a[index]) && std::isnan(b[index]));
        found += static_cast<std::uint64_t>(!are_same);
      }
    }
    differences += found;
  });
  return differences;
}

bool has_spaces(const MathFunction& function) {
  const std::string expression = function.expression;
  return expression == std::string(function.name) + "(x)" && expression != "sign(x)" &&
         expression.find("::") == std::string::npos;
}

}  // namespace pewter::test
