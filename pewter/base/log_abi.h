#pragma once

#include <cstdint>

/// Messages of kernels on their way to the host, as compiled kernels write them.
///
/// `metal_logging` of the MSL standard library has the same structures; a change here is a change
/// there and of `kKernelAbiVersion`.
namespace pewter::abi {

/// Followed by `capacity` bytes of records. Kernels add to `used` first and write only what fits.
struct LogBuffer {
  std::uint64_t used;
  std::uint64_t capacity;
  /// Messages below this MTL::LogLevel are not written.
  std::uint32_t level;
  std::uint32_t padding;
};

/// One message, followed by `word_count` words: each argument's kind, then its bits.
struct LogRecord {
  /// Bytes of the record and its arguments, a multiple of 8; written last, so 0 means unfinished.
  std::uint32_t byte_count;
  std::uint32_t level;
  /// Zero-terminated texts in the kernel's own constant memory.
  const char* subsystem;
  const char* category;
  const char* format;
};

/// What an argument of a message is. A vector is that many arguments after a word of its own.
enum class LogArgument : std::uint32_t { Signed, Unsigned, Floating, Pointer, Text, Vector };

}  // namespace pewter::abi
