// A program that the tests run without a device and with children: backend_program SCENARIO. It
// prints what it sees, one fact to a line, and ends with 0 unless it hangs or crashes.
#include <pewter/metal_backend.h>
#include <pewter/unified_buffer.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <string>

using namespace pewter;
using namespace pewter::backend;

namespace {

void attempt(const std::string& name, const std::function<void()>& call) {
  try {
    call();
    std::printf("%s: ok\n", name.c_str());
  } catch (const MetalError& error) {
    std::printf("%s: MetalError: %s\n", name.c_str(), error.what());
  } catch (const BufferNotAllocatedError& error) {
    std::printf("%s: BufferNotAllocatedError: %s\n", name.c_str(), error.what());
  } catch (const std::exception& error) {
    std::printf("%s: other: %s\n", name.c_str(), error.what());
  }
}

array same(const array& x) {
  return x;
}

/// Every method of a backend, and what it knows.
void attempt_everything(MetalBackend& backend, const array& known) {
  std::printf("type: %d\n", static_cast<int>(backend.backend_type()));
  std::printf("available: %d\n", backend.is_available() ? 1 : 0);
  std::printf("devices: %d\n", backend.device_count());
  std::printf("id: %d\n", backend.device_id());
  std::printf("repr: %s\n", backend.repr().c_str());
  const MetalMemoryInfo info = backend.get_memory_info();
  std::printf("memory: %zu %zu %zu %zu\n", info.allocated, info.buffer_count, info.cache_memory,
              info.peak_memory);

  attempt("allocate", [&] { backend.allocate({4}, HostDtype::Float32); });
  attempt("allocate_zeros", [&] { backend.allocate_zeros({4}, "float32"); });
  attempt("free", [&] { backend.free(known); });
  attempt("copy_to_device", [&] { backend.copy_to_device(HostArray{1.0F}); });
  attempt("copy_to_host", [&] { backend.copy_to_host(known); });
  attempt("copy_of_host", [&] { backend.copy_to_host(HostArray{1.0F}); });
  attempt("synchronize", [&] { backend.synchronize(); });
  attempt("compile_kernel", [&] { backend.compile_kernel(same); });
  attempt("compile_msl", [&] { backend.compile_kernel("kernel void kernel_main() {}"); });
  attempt("clear_cache", [&] { backend.clear_cache(); });

  bool was_called = false;
  const auto outcome = backend.execute_kernel([&] { was_called = true; }, {1}, {1});
  std::printf("execute: %d %d %g\n", outcome.success ? 1 : 0, was_called ? 1 : 0,
              outcome.execution_time_ms);
  attempt("execute error", [&] {
    if (outcome.error) {
      std::rethrow_exception(outcome.error);
    }
  });
  std::printf("ready-made: %d %d %d\n", get_vector_add_kernel() ? 1 : 0,
              get_matrix_multiply_kernel() ? 1 : 0, get_elementwise_kernel("sqrt") ? 1 : 0);
}

void everything() {
  MetalBackend backend(2);
  attempt_everything(backend, array{1.0F});
}

void buffers() {
  AnyUnifiedBuffer buffer(4);
  attempt("unallocated metal", [&] { buffer.metal(); });
  buffer.fill(3.0F);
  attempt("metal", [&] { buffer.metal(); });
  std::printf("state: %s\n", std::string(name_of(buffer.state())).c_str());
  buffer.synchronize();
  std::printf("synchronized: %s\n", std::string(name_of(buffer.state())).c_str());
  attempt("sync_to_device", [&] { buffer.sync_to_device(); });
  attempt("host side", [&] {
    buffer.copy_from(HostArray{1.0F, 2.0F, 3.0F, 4.0F});
    if (buffer.to_numpy().at<float>({3}) != 4 || buffer.device().at<float>({0}) != 1) {
      throw std::runtime_error("wrong elements");
    }
    buffer.mark_metal_dirty();
    buffer.host();
    buffer.free();
  });
}

void forked() {
  MetalBackend before;
  const array known = before.copy_to_device(HostArray{1.0F});
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    // What hangs is ended by the alarm.
    alarm(20);
    MetalBackend made;
    std::printf("new available: %d\n", made.is_available() ? 1 : 0);
    attempt_everything(before, known);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child: %d\n", status);
  std::printf("parent: %g\n", static_cast<double>(before.copy_to_host(known).at<float>({0})));
}

}  // namespace

int main(int count, char** arguments) {
  const std::map<std::string, void (*)()> scenarios = {
      {"everything", everything}, {"buffers", buffers}, {"forked", forked}};
  const auto found = scenarios.find(count == 2 ? arguments[1] : "");
  if (found == scenarios.end()) {
    return 2;
  }
  found->second();
  return 0;
}
