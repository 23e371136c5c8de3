#include "tests/fuzz/kernel_runner.h"

#include <bit>
#include <cstring>

#include "tests/fuzz/random.h"

namespace pewter::fuzz {
namespace {

NS::String* string(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

std::string text(const NS::Error* error) {
  return error == nullptr ? "no error given" : error->localizedDescription()->utf8String();
}

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

NS::SharedPtr<MTL::FunctionConstantValues> constants_of(const Program& program) {
  auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  for (std::size_t i = 0; i < program.constants.size(); ++i) {
    values->setConstantValue(&program.constants[i], MTL::DataTypeInt, i);
  }
  return values;
}

MTL::Size size_of(const Extent& extent) {
  return MTL::Size(extent.x, extent.y, extent.z);
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

KernelRunner::KernelRunner()
    : device_(NS::TransferPtr(MTL::CreateSystemDefaultDevice())),
      queue_(NS::TransferPtr(device_->newCommandQueue())) {}

Outcome KernelRunner::run(const Program& program, const Mode&) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  options->setMathMode(MTL::MathModeSafe);

  NS::Error* error = nullptr;
  const auto library =
      NS::TransferPtr(device_->newLibrary(string(program.source()), options.get(), &error));
  if (!library) {
    return {Outcome::Kind::NotCompiled, text(error), {}};
  }
  const auto constants = constants_of(program);
  const auto function =
      NS::TransferPtr(library->newFunction(string("fuzz"), constants.get(), &error));
  if (!function) {
    return {Outcome::Kind::NotCompiled, text(error), {}};
  }
  const auto pipeline = NS::TransferPtr(device_->newComputePipelineState(function.get(), &error));
  if (!pipeline) {
    return {Outcome::Kind::NotCompiled, text(error), {}};
  }

  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  MTL::CommandBuffer* commands = queue_->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const std::vector<std::byte> content = initial_content(program, i);
    buffers.push_back(NS::TransferPtr(
        device_->newBuffer(content.data(), content.size(), MTL::ResourceStorageModeShared)));
    encoder->setBuffer(buffers.back().get(), 0, i);
  }
  encoder->dispatchThreads(size_of(program.grid), size_of(program.group));
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  if (commands->status() != MTL::CommandBufferStatusCompleted) {
    return {Outcome::Kind::Failed, text(commands->error()), {}};
  }

  Outcome outcome;
  outcome.contents.resize(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const BufferKind kind = program.buffers[i].kind;
    if (kind == BufferKind::Output || kind == BufferKind::Approximate) {
      const auto* bytes = static_cast<const std::byte*>(buffers[i]->contents());
      outcome.contents[i].assign(bytes, bytes + buffers[i]->length());
    }
  }
  return outcome;
}

}  // namespace pewter::fuzz
