#include "examples/matmul/matmul.h"

int main() {
  return examples::run_examples({examples::matmul});
}
