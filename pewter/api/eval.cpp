#include <pewter/eval.h>

#include <stdexcept>

#include "pewter/array/evaluation/evaluate.h"
#include "pewter/array/ops/trace.h"

namespace pewter {
namespace {

void expect_no_trace() {
  if (ops::is_tracing()) {
    throw std::invalid_argument(
        "[eval] an array cannot be evaluated while a function is being traced");
  }
}

}  // namespace

void eval(const std::vector<array>& arrays) {
  if (arrays.empty()) {
    return;
  }
  expect_no_trace();
  evaluation::schedule(arrays);
  for (const array& a : arrays) {
    evaluation::wait(a);
  }
}

void async_eval(const std::vector<array>& arrays) {
  if (arrays.empty()) {
    return;
  }
  expect_no_trace();
  evaluation::schedule(arrays);
}

}  // namespace pewter
