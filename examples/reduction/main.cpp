#include "examples/reduction/reduction.h"

int main() {
  return examples::run_examples({examples::reduction});
}
