#include "examples/mandelbrot/mandelbrot.h"

int main() {
  return examples::run_examples(
      {[](examples::Gpu& gpu) { return examples::mandelbrot(gpu, "."); }});
}
