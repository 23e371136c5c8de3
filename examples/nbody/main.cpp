#include "examples/nbody/nbody.h"

int main() {
  return examples::run_examples({examples::nbody});
}
