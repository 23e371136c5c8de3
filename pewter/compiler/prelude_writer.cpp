// Precompiles the MSL standard library at build time: `pewter-prelude-writer OUTPUT`.

#include <cstdio>

#include "pewter/compiler/msl/translation_unit.h"

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: %s OUTPUT\n", arguments[0]);
    return 2;
  }
  const auto written = pewter::compiler::msl::write_prelude(arguments[1]);
  if (!written) {
    std::fputs(written.error().message.c_str(), stderr);
    return 1;
  }
  return 0;
}
