#include <pewter/eval.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "pewter/array/evaluation/evaluate.h"
#include "pewter/array/evaluation/traced_function.h"
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

ArrayFunction compile(ArrayFunction function, bool shapeless) {
  if (!function) {
    throw std::invalid_argument("[compile] an empty function");
  }
  auto traced = std::make_shared<evaluation::TracedFunction>(std::move(function), shapeless);
  return [traced](const std::vector<array>& inputs) { return traced->call(inputs); };
}

void disable_compile() {
  evaluation::enable_tracing(false);
}

void enable_compile() {
  evaluation::enable_tracing(true);
}

}  // namespace pewter
