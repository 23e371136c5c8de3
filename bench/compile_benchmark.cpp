// Time from source text to a pipeline for a small kernel.
//
//   first     the first kernel of a process, nothing cached: opening the compiler is part of it
//   cold      a kernel that was never seen, in a process that has compiled before
//   warm      the first kernel of a process, found in the disk cache
//   again     a kernel of the disk cache, in a process that has loaded kernels before
//
// Each figure comes from processes of its own, because caches belong to a process.

#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Metal/Metal.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

/// Seconds to make a pipeline of a small kernel; `salt` makes the text unlike any other. Negative
/// when it failed.
double make_pipeline(MTL::Device* device, const std::string& salt) {
  const std::string text =
      "#include <metal_stdlib>\nusing namespace metal;\n// " + salt +
      "\nkernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],\n"
      "                  constant float& a [[buffer(2)]], uint i [[thread_position_in_grid]]) {\n"
      "  y[i] = a * x[i] + y[i];\n}\n";
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto start = std::chrono::steady_clock::now();
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(device->newLibrary(
      NS::String::string(text.c_str(), NS::UTF8StringEncoding), nullptr, &error));
  if (!library) {
    return -1;
  }
  auto function =
      NS::TransferPtr(library->newFunction(NS::String::string("saxpy", NS::UTF8StringEncoding)));
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return pipeline ? taken.count() : -1;
}

/// The work of a child process: `warm_up` pipelines, then the one that counts. Prints its seconds.
int child(int warm_up, const std::string& salt) {
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  for (int round = 0; round < warm_up; ++round) {
    make_pipeline(device.get(), "warm-up " + std::to_string(round));
  }
  const double seconds = make_pipeline(device.get(), salt);
  std::printf("%.9f\n", seconds);
  return seconds < 0 ? 1 : 0;
}

double seconds_of_child(const std::string& environment, int warm_up, const std::string& salt) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::string command =
      environment + " '" + self + "' --child " + std::to_string(warm_up) + " '" + salt + "'";
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return -1;
  }
  double seconds = -1;
  if (std::fscanf(pipe, "%lf", &seconds) != 1) {
    seconds = -1;
  }
  return ::pclose(pipe) == 0 ? seconds : -1;
}

void measure(benchmark::State& state,
             const std::string& environment,
             int warm_up,
             const std::string& salt) {
  for (auto _ : state) {
    const double seconds = seconds_of_child(environment, warm_up, salt);
    if (seconds < 0) {
      state.SkipWithError("no pipeline");
      return;
    }
    state.SetIterationTime(seconds);
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count == 4 && std::string(arguments[1]) == "--child") {
    return child(std::atoi(arguments[2]), arguments[3]);
  }
  std::string folder = (fs::temp_directory_path() / "pewter-bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror("mkdtemp");
    return 1;
  }
  const std::string cached = "PEWTER_CACHE_DIR='" + folder + "'";
  seconds_of_child(cached, 1, "known");

  const auto add = [](const char* name, const std::string& environment, int warm_up) {
    benchmark::RegisterBenchmark(
        name, [=](benchmark::State& state) { measure(state, environment, warm_up, "known"); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(10);
  };
  add("compile/first", "PEWTER_CACHE=0", 0);
  add("compile/cold", "PEWTER_CACHE=0", 1);
  add("compile/warm", cached, 0);
  add("compile/again", cached, 1);
  benchmark::Initialize(&argument_count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  std::error_code code;
  fs::remove_all(folder, code);
  return 0;
}
