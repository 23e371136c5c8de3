#include "bench/native/native.h"
#include "bench/support/measure.h"

int main(int argument_count, char** arguments) {
  bench::add_native_memory_works();
  bench::add_native_compute_works();
  bench::add_native_matmul_works();
  bench::add_native_divergent_works();
  return bench::run_works(argument_count, arguments);
}
