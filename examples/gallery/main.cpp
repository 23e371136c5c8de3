// Compiles and runs every example, checks each against a plain loop, and prints one table.
#include <cstdio>
#include <filesystem>
#include <string>

#include "examples/mandelbrot/mandelbrot.h"
#include "examples/matmul/matmul.h"
#include "examples/nbody/nbody.h"
#include "examples/reduction/reduction.h"

int main(int argc, char** argv) {
  std::string folder = ".";
  if (argc == 3 && std::string(argv[1]) == "--output") {
    folder = argv[2];
  } else if (argc != 1) {
    std::fprintf(stderr, "usage: gallery [--output FOLDER]\n");
    return 2;
  }
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) {
    std::fprintf(stderr, "gallery: cannot make %s: %s\n", folder.c_str(), code.message().c_str());
    return 1;
  }

  return examples::run_examples({
      [&](examples::Gpu& gpu) { return examples::mandelbrot(gpu, folder); },
      examples::nbody,
      examples::matmul,
      examples::reduction,
  });
}
