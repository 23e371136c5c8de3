#include <fmt/core.h>
#include <pewter/errors.h>
#include <pewter/mps_random.h>

#include <cstring>
#include <span>

#include "pewter/api/mps_device.h"
#include "pewter/array/ops/random.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/generator.h"
#include "pewter/runtime/stream.h"

namespace pewter::mps {

array get_rng_state() {
  require_device("[mps::get_rng_state]");
  const runtime::Generator::State state = runtime::default_generator().state();
  std::vector<std::uint8_t> bytes(state.size());
  std::memcpy(bytes.data(), state.data(), state.size());
  return array(bytes, Placement::Host);
}

void set_rng_state(const array& state) {
  require_device("[mps::set_rng_state]");
  if (state.dtype() != Dtype::UInt8) {
    throw TypeError(fmt::format("[mps::set_rng_state] the state has elements of type {}, not uint8",
                                name_of(state.dtype())));
  }
  const std::vector<std::uint8_t> bytes = state.to_vector<std::uint8_t>();
  runtime::default_generator().set_state(std::as_bytes(std::span(bytes)));
}

void manual_seed(std::uint64_t seed) {
  if (runtime::in_bad_fork() || !runtime::device_available()) {
    return;
  }
  runtime::default_generator().seed(seed);
}

void seed() {
  require_device("[mps::seed]");
  runtime::default_generator().seed_from_entropy();
}

namespace random {

array bits(const Shape& shape) {
  require_device("[mps::random::bits]");
  return ops::random_bits(runtime::default_generator(), *current_runtime_stream(), shape);
}

array uniform(const Shape& shape, double low, double high, Dtype dtype) {
  require_device("[mps::random::uniform]");
  return ops::random_uniform(runtime::default_generator(), *current_runtime_stream(), shape, low,
                             high, dtype);
}

array normal(const Shape& shape, double mean, double deviation, Dtype dtype) {
  require_device("[mps::random::normal]");
  return ops::random_normal(runtime::default_generator(), *current_runtime_stream(), shape, mean,
                            deviation, dtype);
}

array randint(std::int64_t low, std::int64_t high, const Shape& shape, Dtype dtype) {
  require_device("[mps::random::randint]");
  return ops::random_integers(runtime::default_generator(), *current_runtime_stream(), low, high,
                              shape, dtype);
}

array bernoulli(double probability, const Shape& shape) {
  require_device("[mps::random::bernoulli]");
  return ops::random_bernoulli(runtime::default_generator(), *current_runtime_stream(), probability,
                               shape);
}

}  // namespace random
}  // namespace pewter::mps
