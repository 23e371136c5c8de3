// A program that the tests run in environments of their own: mps_program SCENARIO. It prints what
// it sees, one fact to a line, and ends with 0 unless it hangs or crashes.
#include <pewter/metal.h>
#include <pewter/mps.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pewter/array/graph/node.h"
#include "tests/api/mps_support.h"

using namespace pewter;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// Prints the outcome of a call by name.
void attempt(const std::string& name, const std::function<void()>& call) {
  try {
    call();
    std::printf("%s: ok\n", name.c_str());
  } catch (const std::invalid_argument& error) {
    std::printf("%s: invalid: %s\n", name.c_str(), error.what());
  } catch (const std::runtime_error& error) {
    std::printf("%s: error: %s\n", name.c_str(), error.what());
  }
}

array bytes(std::int64_t count) {
  return array::empty({count}, Dtype::UInt8);
}

/// Everything that needs a device.
void attempt_everything() {
  attempt("synchronize", [] { mps::synchronize(); });
  attempt("current_allocated_memory", [] { mps::current_allocated_memory(); });
  attempt("driver_allocated_memory", [] { mps::driver_allocated_memory(); });
  attempt("recommended_max_memory", [] { mps::recommended_max_memory(); });
  attempt("empty_cache", [] { mps::empty_cache(); });
  attempt("get_rng_state", [] { mps::get_rng_state(); });
  attempt("set_rng_state",
          [] { mps::set_rng_state(array(std::vector<std::uint8_t>(44), Placement::Host)); });
  attempt("seed", [] { mps::seed(); });
  attempt("uniform", [] { mps::random::uniform({4}); });
  attempt("Event", [] { mps::Event(); });
  attempt("profiler", [] { mps::profiler::start(); });
  attempt("capture", [] { const mps::profiler::MetalCapture capture("foo"); });
  attempt("is_metal_capture_enabled", [] {
    if (mps::profiler::is_metal_capture_enabled() || mps::profiler::is_capturing_metal()) {
      throw std::runtime_error("a capture is possible or under way");
    }
  });
  attempt("compile_shader", [] { mps::compile_shader(test::kFull); });
  attempt("load_metallib", [] { mps::load_metallib("x.metallib"); });
  attempt("fraction", [] { mps::set_per_process_memory_fraction(0.5); });
  attempt("wrong fraction", [] { mps::set_per_process_memory_fraction(3.0); });
  attempt("manual_seed", [] { mps::manual_seed(0); });
  std::printf("device_count: %d\n", mps::device_count());
  std::printf("is_available: %d\n", mps::is_available() ? 1 : 0);
  std::printf("is_in_bad_fork: %d\n", mps::is_in_bad_fork() ? 1 : 0);
}

void allocate() {
  attempt("is_available", [] { mps::is_available(); });
  attempt("allocate", [] { bytes(4 * kMiB); });
}

/// Prints whether large and small requests that miss the cache shrink it.
void low_watermark() {
  std::vector<array> kept;
  for (int i = 0; i < 4; ++i) {
    kept.push_back(bytes(20 * kMiB));
  }
  kept.clear();
  const std::size_t full = metal::get_cache_memory();
  const array small = bytes(4096);
  std::printf("after small: %s\n", metal::get_cache_memory() == full ? "same" : "changed");
  const array large = bytes(45 * kMiB);
  std::printf("after large: %s\n", metal::get_cache_memory() < full ? "less" : "not less");
}

/// Uses the device, forks, and lets the child try everything.
void fork_after_use(bool use_before) {
  std::optional<mps::ShaderLibrary> library;
  std::optional<mps::Event> event;
  std::optional<array> x;
  if (use_before) {
    library = mps::compile_shader(test::kFull);
    event.emplace(true);
    x = test::zeros(4);
    library->kernel("full")({*x, 1.0});
    event->record();
  }
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    attempt_everything();
    if (use_before) {
      attempt("kernel", [&] { library->kernel("full"); });
      attempt("event", [&] { event->record(); });
      attempt("event wait", [&] { event->synchronize(); });
      attempt("allocate", [] { bytes(64); });
    }
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child: %d\n", status);
  attempt("parent", [&] {
    const array y = test::zeros(8);
    mps::compile_shader(test::kFull).kernel("full")({y, 2.0});
    std::printf("parent result: %g\n", static_cast<double>(y.to_vector<float>()[7]));
  });
}

/// Forks when the device was only asked for.
void fork_after_question() {
  mps::is_available();
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    std::printf("is_in_bad_fork: %d\n", mps::is_in_bad_fork() ? 1 : 0);
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

/// Forks again and again while other threads allocate, draw and launch, so that some lock is held
/// at most forks; the children drop what they inherited and try everything.
void fork_while_busy() {
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  const mps::Kernel full = mps::compile_shader(test::kFull).kernel("full");
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const array x = array::empty({1000}, Dtype::Float32);
        full({x, 1.0});
        mps::Event event;
        event.record();
        mps::random::uniform({100});
      }
    });
  }
  int failures = 0;
  for (int i = 0; i < 30; ++i) {
    std::optional<array> inherited = test::zeros(100);
    std::optional<mps::Event> event(std::in_place, true);
    const pid_t child = fork();
    if (child == 0) {
      alarm(5);
      if (std::freopen("/dev/null", "w", stdout) == nullptr) {
        _exit(1);
      }
      inherited.reset();
      event.reset();
      attempt_everything();
      _exit(mps::is_in_bad_fork() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failures += status == 0 ? 0 : 1;
  }
  done = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::printf("failures: %d\n", failures);
  attempt("parent", [] { mps::synchronize(); });
}

/// Prints a digest of random arrays of every kind, and the state that the process began with.
void draws() {
  const auto digest = [](const array& drawn) {
    const array host = drawn.copy(Placement::Host);
    std::uint64_t hash = 0xcbf29ce484222325;
    const std::byte* bytes = host.node().first();
    for (std::size_t i = 0; i < host.nbytes(); ++i) {
      hash = (hash ^ std::to_integer<std::uint64_t>(bytes[i])) * 0x100000001b3;
    }
    return hash;
  };
  const auto print = [&](const char* name, const array& drawn) {
    std::printf("%s: %016llx\n", name, static_cast<unsigned long long>(digest(drawn)));
  };
  print("initial state", mps::get_rng_state());
  mps::manual_seed(2024);
  print("bits", mps::random::bits({10007}));
  print("uniform", mps::random::uniform({10007}, -3, 5));
  print("uniform half", mps::random::uniform({10007}, 0, 1, Dtype::Float16));
  print("normal", mps::random::normal({10007}, 1, 2));
  print("normal bfloat", mps::random::normal({10007}, 0, 1, Dtype::BFloat16));
  print("integers", mps::random::randint(-1000, 1000003, {10007}));
  print("coins", mps::random::bernoulli(0.3, {10007}));
}

/// Prints whether shaders are compiled with fast math: then a product may keep all its bits until
/// the sum.
void math() {
  attempt("math", [] {
    const array x = test::zeros(1);
    mps::compile_shader(R"(
      kernel void multiply_add(device float* x, constant float& a, constant float& b) {
        x[0] = a * a + b;
      })")
        .kernel("multiply_add")({x, 1 + 0x1p-12, -(1 + 0x1p-11)});
    std::printf("fast: %d\n", x.item<float>() != 0 ? 1 : 0);
  });
}

void profile() {
  attempt("launch", [] {
    const array x = test::zeros(4);
    mps::compile_shader(test::kFull).kernel("full")({x, 1.0});
    mps::synchronize();
  });
  attempt("log", [] {
    for (const mps::profiler::Record& record : mps::profiler::log()) {
      std::printf("record: %s\n", record.text.c_str());
    }
  });
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, std::function<void()>> scenarios = {
      {"everything", attempt_everything},
      {"allocate", allocate},
      {"low_watermark", low_watermark},
      {"fork_after_use", [] { fork_after_use(true); }},
      {"fork_after_question", fork_after_question},
      {"fork_while_busy", fork_while_busy},
      {"draws", draws},
      {"math", math},
      {"fork_before_use", [] { fork_after_use(false); }},
      {"profile", profile},
  };
  const auto scenario = scenarios.find(count == 2 ? arguments[1] : "");
  if (scenario == scenarios.end()) {
    return 2;
  }
  // A child that hangs must not outlive the test.
  alarm(60);
  scenario->second();
  return 0;
}
