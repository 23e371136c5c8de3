// What needs a process of its own: other environments. Prints facts as "name: value".

#include <pewter/device.h>
#include <pewter/eval.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "pewter/runtime/allocator.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/host_work.h"
#include "pewter/runtime/stream.h"
#include "tests/support/no_threads.h"

using namespace pewter;

namespace {

void print(const char* name, const std::string& value) {
  std::printf("%s: %s\n", name, value.c_str());
}

/// "ok", or the kind and the text of what was thrown.
std::string outcome(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return std::string("invalid_argument ") + error.what();
  } catch (const std::runtime_error& error) {
    return std::string("runtime_error ") + error.what();
  }
  return "ok";
}

void fuse(std::int64_t rows, std::int64_t columns) {
  const array x = ones({rows, columns});
  eval(x);
  eval(exp(x * 2.0F) + 1.0F);
  eval(sum(sqrt(x), -1));
  // A product has a kernel of its own, and nothing is computed along with it.
  const array shared = x + 1.0F;
  eval(shared * 2.0F, matmul(shared, transpose(shared)));
}

void broadcast(std::int64_t rows, std::int64_t columns) {
  const array x = ones({rows, columns});
  const array row = ones({columns});
  eval(x, row);
  eval(exp(x - row) * row);
}

/// Operations that end kernels although others need them.
void end_kernels() {
  const array x = ones({300, 200});
  eval(x);
  eval(x / sum(x, 1, true));
  eval(matmul(exp(x), transpose(x)));
  eval(sort(where(x > 0.0F, x, -x)));
  eval(transpose(abs(x)) + 1.0F);
  eval(slice(log(x), {0, 0}, {100, 100}) * 2.0F);
  eval(sqrt(slice(x, {0, 0}, {1, 200})) + x);
  eval(max(transpose(square(x)), 0));
}

/// Operations that have kernels already, in an expression that has none.
void compute_known_operations() {
  const auto expression = [](std::int64_t count) {
    const array a = arange(0.0, static_cast<double>(count), 1.0, Dtype::Float32);
    const array b = a * 0.001F;
    eval(a, b);
    eval(a + b);
    eval(a * b);
    eval(maximum(a, b));
    return maximum((a + b) * a, b) + a * b;
  };
  const std::vector<float> first = expression(1000).to_vector<float>();
  // Computing so many elements one by one would take longer than making the kernel.
  eval(expression(100000));
  print("same", expression(1000).to_vector<float>() == first ? "yes" : "no");
}

/// Leaves many kernels in the making behind.
void end_while_compiling() {
  const array a = ones({8});
  const array b = a * 2.0F;
  eval(a, b);
  eval(a + b);
  eval(a * b);
  array last = b;
  for (unsigned digits = 0; digits < 64; ++digits) {
    array y = b;
    for (unsigned bit = 0; bit < 6; ++bit) {
      y = (digits >> bit & 1U) != 0 ? y + a : y * a;
    }
    eval(y);
    last = y;
  }
  print("last", std::to_string(last.to_vector<float>()[0]));
}

/// Leaves products of matrices in flight.
void end_while_multiplying() {
  static std::vector<array> products;
  const array a = ones({600, 600});
  eval(a);
  for (int i = 0; i < 10; ++i) {
    products.push_back(matmul(a, a + static_cast<float>(i)));
    async_eval(products.back());
  }
  products.front().to_vector<float>();
}

/// Looks when whatever is registered after main's beginning has been called.
void end_while_host_computes() {
  static std::atomic<bool> is_done = false;
  std::atexit([] { print("work", is_done ? "done" : "under way"); });
  const auto stream = runtime::Stream::create();
  const auto buffer = runtime::allocator().allocate(16);
  for (int i = 0; i < 2; ++i) {
    runtime::encode_host_work(*stream, {}, buffer, [i] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      is_done = i == 1;
    });
  }
}

/// Memory whose end comes when a task of the stream has completed.
void leave_memory_to(runtime::Stream& stream, std::function<void()> release) {
  const std::size_t bytes = runtime::page_size();
  void* const memory = std::aligned_alloc(bytes, bytes);
  stream.use(runtime::allocator().adopt(memory, bytes, [memory, release = std::move(release)] {
    std::free(memory);
    release();
  }));
  stream.commit();
}

void end_while_releasing() {
  static std::atomic<bool> is_done = false;
  static std::latch has_begun(1);
  std::atexit([] { print("release", is_done ? "done" : "under way"); });
  const auto stream = runtime::Stream::create();
  leave_memory_to(*stream, [] {
    has_begun.count_down();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    is_done = (ones({4}) + 1.0F).to_vector<float>()[3] == 2;
  });
  has_begun.wait();
}

/// As in a process that may not have more threads.
void compute_without_threads() {
  const pewter::test::NoThreads no_threads;
  const array a = arange(0.0, 600.0, 1.0, Dtype::Float32);
  print("sum", std::to_string(sum(a * 2.0F + 1.0F).item<float>()));
  const array many = ones({20000});
  eval(many);
  for (int i = 0; i < 2; ++i) {
    eval(exp(many) - 1.0F);
  }
  const auto stream = runtime::Stream::create();
  leave_memory_to(*stream, [] { print("memory", "released"); });
  stream->synchronize();
}

/// Every bit of the elements, one number for 1000 of them.
std::string bits_of(const array& a) {
  std::string text;
  std::uint64_t hash = 0;
  std::size_t count = 0;
  for (const float value : contiguous(a).to_vector<float>()) {
    hash = hash * 1099511628211U + std::bit_cast<std::uint32_t>(value);
    if (++count % 1000 == 0) {
      text += std::to_string(hash) + " ";
    }
  }
  return text + std::to_string(hash);
}

/// Numbers that depend on the order of additions.
void compute() {
  const array x = sin(arange(0.0, 300003.0, 1.0, Dtype::Float32) * 1e-3F);
  const array m = reshape(slice(x, {0}, {300000}), {600, 500});
  print("sum", bits_of(sum(x * 0.37F)));
  print("rows", bits_of(sum(m * m, 1)));
  print("columns", bits_of(sum(m * m, 0)));
  print("both", bits_of(mean(m)));
  print("variance", bits_of(var(m, 0)));
  print("softmax", bits_of(softmax(m, -1)));
  print("logsumexp", bits_of(logsumexp(x)));
  print("cumsum", bits_of(cumsum(x, 0)));
  print("layer_norm", bits_of(fast::layer_norm(m, std::nullopt, std::nullopt, 1e-5F)));
  print("product", bits_of(matmul(m, transpose(m))));
}

/// Elements around 0, exact in every floating-point type.
array eighths(const Shape& shape, Dtype dtype, int step) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) {
    count *= length;
  }
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i * step % 17 - 8) / 8);
  }
  return astype(array(values, shape), dtype);
}

/// The largest distance of a batch of products from one computed in double, as a part of the number
/// of products that each element adds up.
double distance_of_product(const array& a, const array& b, const array& got) {
  const Shape& left = a.shape();
  const Shape& right = b.shape();
  const std::int64_t batches = std::max(left[0], right[0]);
  const auto x = contiguous(astype(a, Dtype::Float32)).to_vector<float>();
  const auto y = contiguous(astype(b, Dtype::Float32)).to_vector<float>();
  const auto z = contiguous(astype(got, Dtype::Float32)).to_vector<float>();
  if (got.shape() != Shape{batches, left[1], right[2]}) {
    return INFINITY;
  }
  double worst = 0;
  for (std::int64_t i = 0; i < batches * left[1] * right[2]; ++i) {
    const std::int64_t batch = i / (left[1] * right[2]);
    const std::int64_t row = i / right[2] % left[1];
    const std::int64_t column = i % right[2];
    double total = 0;
    for (std::int64_t k = 0; k < left[2]; ++k) {
      const std::int64_t in_left = ((left[0] == 1 ? 0 : batch) * left[1] + row) * left[2] + k;
      const std::int64_t in_right = ((right[0] == 1 ? 0 : batch) * left[2] + k) * right[2] + column;
      total += static_cast<double>(x[static_cast<std::size_t>(in_left)]) *
               static_cast<double>(y[static_cast<std::size_t>(in_right)]);
    }
    const double distance = std::abs(total - static_cast<double>(z[static_cast<std::size_t>(i)]));
    worst = std::max(worst, distance / static_cast<double>(left[2]));
  }
  return worst;
}

/// Products of many forms, each with the distance from what it should be.
void multiply_matrices() {
  struct Sizes {
    std::int64_t left_batch, right_batch, rows, inner, columns;
  };
  for (const Dtype dtype : {Dtype::Float32, Dtype::Float16, Dtype::BFloat16}) {
    for (const Sizes& s : {Sizes{1, 1, 1, 1, 1},
                           {1, 1, 2, 3, 4},
                           {1, 1, 33, 31, 65},
                           {1, 1, 257, 3, 300},
                           {1, 1, 3, 129, 513},
                           {2, 2, 5, 7, 9},
                           {1, 3, 4, 5, 6},
                           {3, 1, 4, 5, 6},
                           {2, 2, 1, 7, 9},
                           {2, 2, 7, 5, 1},
                           {2, 2, 64, 64, 64}}) {
      const array a = eighths({s.left_batch, s.rows, s.inner}, dtype, 5);
      const array b = eighths({s.right_batch, s.inner, s.columns}, dtype, 3);
      const array a_by_columns = swapaxes(contiguous(swapaxes(a, 1, 2)), 1, 2);
      const array b_by_columns = swapaxes(contiguous(swapaxes(b, 1, 2)), 1, 2);
      const array a_in_wide =
          slice(concatenate({a, a}, 2), {0, 0, 0}, {s.left_batch, s.rows, s.inner});
      const array b_every_other =
          slice(repeat(b, 2, 2), {0, 0, 0}, {s.right_batch, s.inner, 2 * s.columns}, {1, 1, 2});
      const std::string name =
          std::string(name_of(dtype)) + " " + a.description() + " by " + b.description() + " ";
      const auto check = [&](const char* form, const array& left, const array& right) {
        print((name + form).c_str(),
              std::to_string(distance_of_product(a, b, matmul(left, right))));
      };
      check("rows rows", a, b);
      check("columns rows", a_by_columns, b);
      check("rows columns", a, b_by_columns);
      check("columns columns", a_by_columns, b_by_columns);
      check("part rows", a_in_wide, b);
      check("rows strided", a, b_every_other);
    }
  }
}

void print_kernels() {
  const auto kernel =
      fast::metal_kernel("spaces", {"a", "b", "c"}, {"out"}, "out[0] = a[0] + b[0] + c;");
  fast::CustomKernelCall call;
  call.inputs = {ones({8}), array({1.0F, 2.0F, 3.0F}), array(7.3F)};
  call.output_shapes = {{1}};
  call.output_dtypes = {Dtype::Float32};
  kernel(call);
  call.verbose = true;
  kernel(call);
  kernel(call);
}

void without_device() {
  const array x = ones({3}) + 1.0F;
  print("built", x.description());
  print("evaluate", outcome([&] { eval(x); }));
  print("gpu", outcome([] { set_default_device(DeviceType::Gpu); }));
  print("stream", outcome([] { static_cast<void>(new_stream(DeviceType::Gpu)); }));
  const auto kernel = fast::metal_kernel("any", {}, {"out"}, "out[0] = 1;");
  fast::CustomKernelCall call;
  call.output_shapes = {{1}};
  call.output_dtypes = {Dtype::Float32};
  print("kernel", outcome([&] { kernel(call); }));
  print("info", std::to_string(device_info(DeviceType::Gpu).size()));
  print("synchronize", outcome([] { synchronize(); }));
  print("clear", outcome([] { clear_streams(); }));
}

void count_bodies() {
  int runs = 0;
  const ArrayFunction function = compile([&](const std::vector<array>& inputs) {
    ++runs;
    return std::vector<array>{inputs[0] + 1.0F};
  });
  function({ones({2})});
  function({ones({2})});
  print("runs", std::to_string(runs));
  enable_compile();
  function({ones({2})});
  function({ones({2})});
  print("enabled", std::to_string(runs));
}

/// Graphs that outlive main, and with it this thread's own variables. What is allocated after them
/// finds out whether they have touched memory that was freed.
struct Kept {
  std::vector<array> graphs;

  ~Kept() {
    graphs.clear();
    std::vector<std::unique_ptr<char[]>> blocks;
    for (std::size_t i = 0; i < 400; ++i) {
      blocks.push_back(std::make_unique<char[]>(8 + i % 64 * 8));
    }
    print("kept", std::to_string(blocks.size()));
  }
};

void keep_graphs() {
  static Kept kept;
  // One graph ends here, with the thread's variables in use.
  eval(exp(ones({4}) * 2.0F) + 1.0F);
  static_cast<void>(ones({3}) + ones({3}) * 2.0F);
  for (int i = 0; i < 5; ++i) {
    kept.graphs.push_back(ones({3}) + ones({3}) * 2.0F);
  }
}

/// Computes after main, when this thread's own variables are gone. What is allocated behind it
/// finds out whether it has touched memory that was freed.
struct ComputedLast {
  ~ComputedLast() {
    const array x = add(ones({4}) * 3.0F, array(1.0F), new_stream());
    const std::string result = std::to_string(x.to_vector<float>()[3]);
    std::vector<std::unique_ptr<char[]>> blocks;
    for (std::size_t i = 0; i < 4000; ++i) {
      blocks.push_back(std::make_unique<char[]>(8 + i % 64 * 8));
    }
    print("computed", result);
  }
};

void compute_at_end() {
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(new_stream());
  }
  // The compiler is not there at the end, but its kernels are.
  eval(add(ones({4}) * 3.0F, array(1.0F), new_stream()));
  static const ComputedLast last;
}

/// Wants a kernel when the compiler, which was loaded later, is gone already.
struct CompiledLast {
  ~CompiledLast() {
    try {
      eval(ones({4}) * 3.0F + 1.0F);
      print("compiled", "too late");
    } catch (const std::exception& error) {
      print("refused", error.what());
    }
  }
};

void compile_at_end() {
  static const CompiledLast last;
  eval(exp(ones({4})));
}

}  // namespace

int main(int count, char** arguments) {
  const std::string scenario = count > 1 ? arguments[1] : "";
  if (scenario == "end_kernels") {
    end_kernels();
  } else if (scenario == "fuse") {
    fuse(4, 8);
  } else if (scenario == "fuse_others") {
    fuse(7, 5);
  } else if (scenario == "broadcast") {
    broadcast(300, 64);
  } else if (scenario == "broadcast_others") {
    broadcast(300, 5);
    broadcast(1, 20000);
    broadcast(20000, 1);
  } else if (scenario == "known_operations") {
    compute_known_operations();
  } else if (scenario == "end_while_host_computes") {
    end_while_host_computes();
  } else if (scenario == "end_while_releasing") {
    end_while_releasing();
  } else if (scenario == "end_while_compiling") {
    end_while_compiling();
  } else if (scenario == "compute_without_threads") {
    compute_without_threads();
  } else if (scenario == "end_while_multiplying") {
    end_while_multiplying();
  } else if (scenario == "compute") {
    compute();
  } else if (scenario == "multiply_matrices") {
    multiply_matrices();
  } else if (scenario == "print_kernels") {
    print_kernels();
  } else if (scenario == "without_device") {
    without_device();
  } else if (scenario == "count_bodies") {
    count_bodies();
  } else if (scenario == "keep_graphs") {
    keep_graphs();
  } else if (scenario == "compute_at_end") {
    compute_at_end();
  } else if (scenario == "compile_at_end") {
    compile_at_end();
  } else {
    return 2;
  }
  return 0;
}
