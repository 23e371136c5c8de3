// What needs a process of its own: other environments. Prints facts as "name: value".

#include <pewter/device.h>
#include <pewter/eval.h>
#include <pewter/fast.h>
#include <pewter/ops.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

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

/// One number that depends on the order of additions, and one product of matrices.
void compute() {
  const array x = arange(0.0, 100003.0, 1.0, Dtype::Float32) * 1e-3F;
  const array m = reshape(slice(sin(x), {0}, {90000}), {300, 300});
  print("sum", std::to_string(sum(sin(x) * 0.37F).item<float>()));
  std::string bits;
  for (const float value : slice(matmul(m, m), {7, 0}, {8, 300}).to_vector<float>()) {
    bits += std::to_string(value) + " ";
  }
  print("product", bits);
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

}  // namespace

int main(int count, char** arguments) {
  const std::string scenario = count > 1 ? arguments[1] : "";
  if (scenario == "fuse") {
    fuse(4, 8);
  } else if (scenario == "fuse_others") {
    fuse(7, 5);
  } else if (scenario == "known_operations") {
    compute_known_operations();
  } else if (scenario == "end_while_compiling") {
    end_while_compiling();
  } else if (scenario == "compute") {
    compute();
  } else if (scenario == "without_device") {
    without_device();
  } else if (scenario == "count_bodies") {
    count_bodies();
  } else if (scenario == "keep_graphs") {
    keep_graphs();
  } else {
    return 2;
  }
  return 0;
}
