#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/support/measure.h"
#include "bench/works/works.h"

// From source text to a kernel that has run once: PoCL, for one, compiles when a kernel is first
// launched.
namespace bench {
namespace {

namespace fs = std::filesystem;

/// A directory that is removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "kernel-bench-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
      fail("cannot make a directory like " + path_);
    }
  }
  ~TemporaryFolder() {
    std::error_code code;
    fs::remove_all(path_, code);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Seconds that a process of its own needs for a kernel, after `warm_up` other ones, with its cache
/// in `folder`.
double seconds_of_child(const std::string& executable, const std::string& folder, int warm_up) {
  const std::string command = "PEWTER_CACHE_DIR='" + folder + "' POCL_CACHE_DIR='" + folder +
                              "' '" + executable + "' --compile " + std::to_string(warm_up);
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

double seconds_to_first_run(Device& device, const std::string& factor) {
  const auto out = memory_of(device, std::vector<float>(64));
  const auto in = memory_of(device, std::vector<float>(64));
  const auto start = std::chrono::steady_clock::now();
  const auto kernel = device.compile(device.small_source(factor), "scale");
  device.dispatch(*kernel, {64}, {64}, {out, in});
  device.finish();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

Prepared in_new_cache(const std::string& executable, int warm_up) {
  return {.run = {}, .check = {}, .timed = [=] {
            const TemporaryFolder folder;
            return seconds_of_child(executable, folder.path(), warm_up);
          }};
}

Prepared in_filled_cache(const std::string& executable) {
  auto folder = std::make_shared<TemporaryFolder>();
  seconds_of_child(executable, folder->path(), 0);
  return {.run = {}, .check = {}, .timed = [=] {
            return seconds_of_child(executable, folder->path(), 0);
          }};
}

}  // namespace

void add_compile_works(const char* executable) {
  const std::string self = executable;
  add("compile_first", Unit::Milliseconds, 1, [=] { return in_new_cache(self, 0); });
  add("compile_cold", Unit::Milliseconds, 1, [=] { return in_new_cache(self, 1); });
  add("compile_warm", Unit::Milliseconds, 1, [=] { return in_filled_cache(self); });
}

int compile_in_child(int argument_count, char** arguments) {
  const int warm_up = argument_count > 2 ? std::atoi(arguments[2]) : 0;
  const auto device = open_device();
  for (int i = 0; i < warm_up; ++i) {
    seconds_to_first_run(*device, "1." + std::to_string(i));
  }
  std::printf("%.9f\n", seconds_to_first_run(*device, "2.5"));
  return 0;
}

}  // namespace bench
