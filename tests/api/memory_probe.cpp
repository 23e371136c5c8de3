// A program of its own, for what needs a process of its own: no device, fork, being
// watched.
//
// usage: memory_probe <part>; prints "name value" lines, ends with 0 unless something is wrong.
#include <pewter/array.h>
#include <pewter/metal.h>
#include <pewter/process_memory.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

#include "pewter/runtime/allocator.h"

namespace {

using pewter::array;
using pewter::Dtype;
using pewter::runtime::allocator;
using pewter::runtime::Buffer;

constexpr std::size_t kMiB = std::size_t{1} << 20;

void print(const char* name, const std::string& value) {
  std::printf("%s %s\n", name, value.c_str());
  std::fflush(stdout);
}

void print(const char* name, std::size_t value) {
  print(name, std::to_string(value));
}

/// "runtime_error: text", "invalid_argument: text", or "none".
std::string outcome(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return std::string("invalid_argument: ") + error.what();
  } catch (const std::runtime_error& error) {
    return std::string("runtime_error: ") + error.what();
  }
  return "none";
}

void no_device() {
  print("available", pewter::metal::is_available() ? "yes" : "no");
  print("device_info", outcome([] { static_cast<void>(pewter::metal::device_info()); }));
  print("start_capture", outcome([] { pewter::metal::start_capture("x.gputrace"); }));
  print("stop_capture", outcome([] { pewter::metal::stop_capture(); }));
  print("trace", std::filesystem::exists("x.gputrace") ? "written" : "none");
  print("wired_before", pewter::set_wired_limit(1000));
  print("wired_after", pewter::set_wired_limit(0));
  print("cache_limit", pewter::set_cache_limit(32 * kMiB));
  print("memory_limit", pewter::get_memory_limit());

  Buffer buffer = allocator().allocate(5000);
  print("active", pewter::get_active_memory());
  buffer.reset();
  print("cached", pewter::get_cache_memory());
  buffer = allocator().allocate(4999);
  print("reused", pewter::get_active_memory());
  buffer.reset();
  buffer = allocator().allocate(33 * kMiB);
  buffer.reset();
  print("too_large_to_cache", pewter::get_cache_memory());
  pewter::set_cache_limit(100);
  print("trimmed_at_once", pewter::get_cache_memory());
  print("peak", pewter::get_peak_memory());
}

/// Forks; the child runs `action` and the parent waits. Prints how the child ended.
void in_child(const std::function<void()>& action) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    action();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  print("child", WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "ended" : "failed");
}

void fork_after_use() {
  const array x = array::empty({1024}, Dtype::Float32);
  in_child([] {
    print("active", pewter::get_active_memory());
    print("available", pewter::metal::is_available() ? "yes" : "no");
    print("evaluate", outcome([] { static_cast<void>(array::empty({1024}, Dtype::Float32)); }));
    print("clear_cache", outcome([] { pewter::clear_cache(); }));
  });
  print("parent", outcome([] { static_cast<void>(array::empty({1024}, Dtype::Float32)); }));
}

void fork_before_use() {
  print("available", pewter::metal::is_available() ? "yes" : "no");
  in_child([] {
    print("evaluate", outcome([] { static_cast<void>(array::empty({1024}, Dtype::Float32)); }));
  });
}

/// Memory that grows, shrinks and grows again; the peak is 96 MiB.
void steps() {
  {
    const Buffer one = allocator().allocate(48 * kMiB);
    const Buffer two = allocator().allocate(48 * kMiB);
  }
  const Buffer again = allocator().allocate(48 * kMiB);
  std::puts("done");
}

/// Holds 48 MiB until the input ends.
void hold() {
  const Buffer buffer = allocator().allocate(48 * kMiB);
  // Who is told may look at the reports at once.
  const std::string reports = pewter::memory_sample_path(getpid());
  for (auto sample = pewter::read_memory_sample(reports); !sample || sample->active != 48 * kMiB;
       sample = pewter::read_memory_sample(reports)) {
    std::this_thread::yield();
  }
  std::puts("ready");
  std::fflush(stdout);
  static_cast<void>(std::getchar());
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, void (*)()> parts = {
      {"no_device", no_device},
      {"fork_after_use", fork_after_use},
      {"fork_before_use", fork_before_use},
      {"steps", steps},
      {"hold", hold},
  };
  const auto part = parts.find(count == 2 ? arguments[1] : "");
  if (part == parts.end()) {
    return 2;
  }
  part->second();
  return 0;
}
