// The usage examples of the Python packages that pewter's front doors are modelled on, in C++: the
// Metal backend with its unified buffers, shaders compiled by mps, and the questions about the
// device. Each prints what it found and checks it.
#include <pewter/eval.h>
#include <pewter/metal.h>
#include <pewter/metal_backend.h>
#include <pewter/mps.h>
#include <pewter/ops.h>
#include <pewter/printing.h>
#include <pewter/random.h>
#include <pewter/unified_buffer.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace pewter;
using namespace pewter::backend;

namespace {

void expect(bool is_right, const std::string& what) {
  if (!is_right) {
    throw std::runtime_error(what + " is wrong");
  }
}

HostArray random_normal(const Shape& shape, std::uint64_t seed) {
  const array drawn = random::normal(shape, Dtype::Float32, 0, 1, random::key(seed));
  return HostArray(drawn.to_vector<float>(), shape);
}

/// Basic computation: copy two arrays to the device, add them, copy the result back.
void basic_computation() {
  MetalBackend backend;
  const array a = backend.copy_to_device(HostArray{1.0F, 2.0F, 3.0F});
  const array b = backend.copy_to_device(HostArray{4.0F, 5.0F, 6.0F});

  const array c = add(a, b);
  eval(c);

  const HostArray result = backend.copy_to_host(c);
  std::cout << "a + b = " << c << '\n';
  expect(result == HostArray{5.0F, 7.0F, 9.0F}, "the sum");
}

/// Kernels that are ready to use.
void ready_made_kernels() {
  MetalBackend backend;
  const auto add_kernel = get_vector_add_kernel();
  const array sum = (*add_kernel)(backend.copy_to_device(HostArray{1.0F, 2.0F, 3.0F}),
                                  backend.copy_to_device(HostArray{4.0F, 5.0F, 6.0F}));
  expect(backend.copy_to_host(sum) == HostArray{5.0F, 7.0F, 9.0F}, "the vector sum");

  const auto matmul_kernel = get_matrix_multiply_kernel();
  const HostArray left = random_normal({100, 100}, 1);
  const HostArray right = random_normal({100, 100}, 2);
  const array product =
      (*matmul_kernel)(backend.copy_to_device(left), backend.copy_to_device(right));
  double corner = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    corner += static_cast<double>(left.at<float>({99, i})) * right.at<float>({i, 99});
  }
  const HostArray copied = backend.copy_to_host(product);
  expect(std::abs(copied.at<float>({99, 99}) - corner) < 1e-3, "the product");

  const auto sqrt_kernel = get_elementwise_kernel("sqrt");
  const array roots = (*sqrt_kernel)(backend.copy_to_device(HostArray{1.0F, 4.0F, 9.0F}));
  std::cout << "roots = " << roots << '\n';
  expect(backend.copy_to_host(roots) == HostArray{1.0F, 2.0F, 3.0F}, "the roots");
}

/// A function of one's own, compiled; host arrays are converted.
void compiled_function() {
  MetalBackend backend;
  const Kernel gaussian =
      backend.compile_kernel([](const array& x) { return exp(negative(square(x))); });

  std::vector<float> input(100);
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = -3.0F + 6.0F * static_cast<float>(i) / 99.0F;
  }
  const array output = gaussian(HostArray(input));
  const HostArray result = backend.copy_to_host(output);
  double difference = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const double expected = std::exp(-static_cast<double>(input[i]) * input[i]);
    difference =
        std::max(difference, std::abs(result.at<float>({static_cast<std::int64_t>(i)}) - expected));
  }
  std::printf("gaussian: largest difference %.1e\n", difference);
  expect(difference < 1e-6, "the gaussian");
}

/// How long a kernel takes.
void timed_execution() {
  MetalBackend backend;
  const auto lengths = [](const array& a, const array& b) {
    return sqrt(add(square(a), square(b)));
  };
  const array a = backend.copy_to_device(random_normal({10000}, 3));
  const array b = backend.copy_to_device(random_normal({10000}, 4));

  const KernelExecutionResult result = backend.execute_kernel(lengths, {1}, {1}, a, b);
  if (!result.success) {
    std::rethrow_exception(result.error);
  }
  std::printf("execution time: %.3f ms\n", result.execution_time_ms);
  expect(result.execution_time_ms >= 0, "the time");
}

/// What a backend knows of its memory.
void memory_management() {
  MetalBackend backend;
  std::vector<array> arrays;
  for (int i = 0; i < 10; ++i) {
    arrays.push_back(backend.allocate({1000}, "float32"));
  }
  const MetalMemoryInfo info = backend.get_memory_info();
  std::printf("buffers: %zu, cache: %.1f KB, peak: %.1f KB\n", info.buffer_count,
              static_cast<double>(info.cache_memory) / 1024,
              static_cast<double>(info.peak_memory) / 1024);
  expect(info.buffer_count == 10 && info.allocated == 40000, "the number of buffers");

  for (const array& x : arrays) {
    backend.free(x);
  }
  backend.clear_cache();
  expect(backend.get_memory_info().buffer_count == 0, "the number of buffers after free()");
}

/// Data that host and device share.
void unified_buffer() {
  UnifiedBuffer<float> buffer(1000);
  buffer.allocate();
  std::iota(buffer.host().begin(), buffer.host().end(), 0.0F);
  buffer.mark_host_dirty();

  const array total = sum(buffer.metal());
  std::printf("sum: %g\n", static_cast<double>(total.item<float>()));
  expect(total.item<float>() == 499500, "the sum of the buffer");

  buffer.set_metal(buffer.metal() * 2.0F);
  expect(buffer.host()[999] == 1998, "the doubled buffer");
}

/// A shader from text, as in the documentation of torch.mps.
void shader() {
  const mps::ShaderLibrary library = mps::compile_shader(
      "kernel void full(device float* out, constant float& val, uint idx "
      "[[thread_position_in_grid]]) { out[idx] = val; }");
  const array x = zeros({16});
  library["full"]({x, 3.14});
  std::cout << "full = " << x << '\n';
  expect(x.to_vector<float>() == std::vector<float>(16, 3.14F), "the filled array");
}

/// What the guides to MLX ask of the device.
void device() {
  if (!metal::is_available()) {
    throw std::runtime_error("there is no device");
  }
  const auto& info = metal::device_info();
  std::printf("device: %s\n", std::get<std::string>(info.at("device_name")).c_str());
  expect(std::get<std::size_t>(info.at("max_buffer_length")) > 0, "the largest buffer");
}

}  // namespace

int main() {
  try {
    basic_computation();
    ready_made_kernels();
    compiled_function();
    timed_execution();
    memory_management();
    unified_buffer();
    shader();
    device();
    std::puts("all right");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "documents: %s\n", error.what());
    return 1;
  }
}
