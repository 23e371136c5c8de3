#include "bench/support/device.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace bench {

std::string kernel_text(const std::string& name) {
  const std::string path = std::string(BENCH_KERNELS) + "/" + name;
  std::ifstream file(path);
  if (!file) {
    fail("cannot read " + path);
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void fail(const std::string& text) {
  std::fprintf(stderr, "benchmark: %s\n", text.c_str());
  std::exit(1);
}

}  // namespace bench
