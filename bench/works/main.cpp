// Kernels on a device: Metal's when linked with libpewter, OpenCL's otherwise.

#include <string>

#include "bench/support/measure.h"
#include "bench/works/works.h"

namespace bench {

Device& shared_device() {
  // Ends with the process: worker threads of the device may outlive static objects.
  static Device& device = *open_device().release();
  return device;
}

}  // namespace bench

int main(int argument_count, char** arguments) {
  if (argument_count > 1 && std::string(arguments[1]) == "--compile") {
    return bench::compile_in_child(argument_count, arguments);
  }
  bench::add_memory_works();
  bench::add_compute_works();
  bench::add_divergent_works();
  bench::add_dispatch_works();
  bench::add_compile_works(arguments[0]);
  return bench::run_works(argument_count, arguments);
}
