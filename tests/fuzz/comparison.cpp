#include "tests/fuzz/comparison.h"

#include <bit>
#include <cstring>

#include <fmt/core.h>

namespace pewter::fuzz {
namespace {

std::uint64_t element(const std::vector<std::byte>& bytes, std::size_t index, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * size, size);
  return bits;
}

bool is_nan(std::uint64_t bits, Scalar scalar) {
  switch (scalar) {
    case Scalar::Half:
      return (bits & 0x7fff) > 0x7c00;
    case Scalar::BFloat:
      return (bits & 0x7fff) > 0x7f80;
    case Scalar::Float:
      return (bits & 0x7fffffff) > 0x7f800000;
    default:
      return false;
  }
}

bool is_equal(std::uint64_t first, std::uint64_t second, Scalar scalar) {
  return first == second || (is_nan(first, scalar) && is_nan(second, scalar));
}

std::string show(std::uint64_t bits, Scalar scalar) {
  if (scalar == Scalar::Float) {
    return fmt::format("{:#010x} ({})", bits,
                       std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  return fmt::format("{:#x}", bits);
}

}  // namespace

Difference compare(const Program& program,
                   const Outcome& expected,
                   const Outcome& actual,
                   std::size_t max_lines) {
  Difference difference;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const std::size_t size = byte_size(buffer.element);
    for (std::size_t at = 0; at < expected.contents[i].size() / size; ++at) {
      const std::uint64_t wanted = element(expected.contents[i], at, size);
      const std::uint64_t got = element(actual.contents[i], at, size);
      if (is_equal(wanted, got, buffer.element)) {
        continue;
      }
      if (difference.count++ < max_lines) {
        difference.lines += fmt::format("  {}[{}]: expected {}, got {}\n", buffer.name, at,
                                        show(wanted, buffer.element), show(got, buffer.element));
      }
    }
  }
  return difference;
}

}  // namespace pewter::fuzz
