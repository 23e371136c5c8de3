#include "tests/fuzz/kernel_runner.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "pewter/metal/driver/kernel_variants.h"
#include "pewter/metal/executor/executor.h"
#include "tests/fuzz/guarded_bytes.h"
#include "tests/fuzz/random.h"

namespace pewter::fuzz {
namespace {

// Halves, bfloats and floats share the layout of sign, exponent and fraction; only widths differ.
std::uint64_t float_bits(Random& random, unsigned fraction_bits, unsigned exponent_bits) {
  const std::uint64_t exponent_mask = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t bias = exponent_mask >> 1;
  const std::uint64_t fraction = random.bits() & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t sign = random.bits() & 1;
  std::uint64_t exponent = bias + random.below(8) - 3;
  switch (random.below(24)) {
    case 0:
      exponent = random.below(exponent_mask);
      break;
    case 1:  // denormal or zero
      exponent = 0;
      break;
    case 2:  // infinity, or the NaN that operations give
      return sign << (fraction_bits + exponent_bits) | exponent_mask << fraction_bits |
             (random.chance(50) ? std::uint64_t{1} << (fraction_bits - 1) : 0);
    default:
      break;
  }
  // Few fraction bits make equal values likely and sums exact.
  const bool coarse = random.chance(50);
  const std::uint64_t kept =
      coarse ? fraction & ~((std::uint64_t{1} << (fraction_bits - 2)) - 1) : fraction;
  return sign << (fraction_bits + exponent_bits) | exponent << fraction_bits | kept;
}

std::uint64_t element_bits(Random& random, Scalar scalar) {
  switch (scalar) {
    case Scalar::Half:
      return float_bits(random, 10, 5);
    case Scalar::BFloat:
      return float_bits(random, 7, 8);
    case Scalar::Float:
      return float_bits(random, 23, 8);
    default:
      return random.chance(60) ? random.below(40) : random.bits();
  }
}

compiler::KernelRequest request_for(const Program& program, const Mode& mode) {
  compiler::KernelRequest request;
  request.kernel = "fuzz";
  for (std::uint32_t i = 0; i < program.constants.size(); ++i) {
    compiler::ConstantBytes bytes(sizeof(std::int32_t));
    std::memcpy(bytes.data(), &program.constants[i], bytes.size());
    request.constants[i] = std::move(bytes);
  }
  request.mode = mode.is_spmd ? compiler::ExecutionMode::Spmd : compiler::ExecutionMode::Scalar;
  request.lanes = mode.lanes;
  return request;
}

void set_size(abi::Launch& launch, const Extent& grid, const Extent& group) {
  const std::uint32_t threads[] = {grid.x, grid.y, grid.z};
  const std::uint32_t together[] = {group.x, group.y, group.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    launch.threads_per_grid[axis] = threads[axis];
    launch.threads_per_threadgroup[axis] = together[axis];
    launch.threadgroups_per_grid[axis] = (threads[axis] + together[axis] - 1) / together[axis];
  }
}

}  // namespace

std::string Mode::name() const {
  if (!is_spmd) {
    return "scalar";
  }
  return lanes == 0 ? "spmd" : "spmd " + std::to_string(lanes);
}

std::vector<std::byte> initial_content(const Program& program, std::size_t index) {
  const Buffer& buffer = program.buffers[index];
  if (!buffer.bytes.empty()) {
    return buffer.bytes;
  }
  Random random(program.seed * 64 + index);
  const std::size_t size = byte_size(buffer.element);
  std::vector<std::byte> bytes(buffer.count * size);
  for (std::size_t i = 0; i < buffer.count; ++i) {
    const std::uint64_t bits = element_bits(random, buffer.element);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

KernelRunner::KernelRunner(const Program& program) : program_(program) {
  compiler::LibraryOptions options;
  options.math_mode = program.is_fast_math ? compiler::MathMode::Fast : compiler::MathMode::Safe;
  options.math_functions =
      program.is_fast_math ? compiler::MathFunctions::Fast : compiler::MathFunctions::Precise;
  auto library = compiler::open_library(program.source(), options);
  if (library) {
    library_ = *library;
  } else {
    error_ = library.error().text();
  }
}

Outcome KernelRunner::run(const Mode& mode) const {
  Outcome outcome;
  if (!library_) {
    outcome.kind = Outcome::Kind::NotCompiled;
    outcome.error = error_;
    return outcome;
  }
  auto variants = driver::KernelVariants::create(library_, request_for(program_, mode), {0, 0, 0});
  if (!variants) {
    outcome.kind = Outcome::Kind::NotCompiled;
    outcome.error = variants.error().text();
    return outcome;
  }
  const compiler::KernelCode& code = (*variants)->code();
  if (mode.is_spmd && code.explanation.mode != compiler::ExecutionMode::Spmd) {
    outcome.fallback = code.explanation.fallback.empty() ? "unknown" : code.explanation.fallback;
  }

  executor::Dispatch dispatch{};
  set_size(dispatch.launch, program_.grid, program_.group);
  dispatch.threadgroup_bytes = code.threadgroup_bytes;
  std::vector<GuardedBytes> buffers;
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    buffers.emplace_back(initial_content(program_, i));
    dispatch.launch.buffers[i] = buffers.back().data();
  }
  if (auto chosen = (*variants)->choose(dispatch); !chosen) {
    outcome.kind = Outcome::Kind::NotCompiled;
    outcome.error = chosen.error().message;
    return outcome;
  }
  if (const executor::Fault fault = executor::run(dispatch)) {
    outcome.kind = Outcome::Kind::Failed;
    outcome.error =
        fmt::format("fault {} at {:#x} in threadgroup ({}, {}, {})", static_cast<int>(fault.kind),
                    fault.address, fault.group[0], fault.group[1], fault.group[2]);
    return outcome;
  }

  outcome.contents.resize(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferKind kind = program_.buffers[i].kind;
    if (kind == BufferKind::Output) {
      outcome.contents[i].assign(buffers[i].data(), buffers[i].data() + buffers[i].size());
    }
  }
  return outcome;
}

}  // namespace pewter::fuzz
