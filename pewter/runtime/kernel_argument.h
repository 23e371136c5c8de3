#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "pewter/runtime/buffer.h"

namespace pewter::runtime {

/// A stretch of device memory; a null buffer binds nothing.
struct BufferArgument {
  Buffer buffer;
  std::size_t offset = 0;
};

/// Buffers whose addresses are bound one after the other, as an argument buffer.
struct BufferListArgument {
  std::vector<BufferArgument> buffers;
};

/// Bytes that are copied when the kernel is launched.
struct BytesArgument {
  std::vector<std::byte> bytes;
};

/// What is bound to one `[[buffer(n)]]` of a kernel.
using KernelArgument = std::variant<BufferArgument, BufferListArgument, BytesArgument>;

/// What a number becomes on its way to a kernel.
enum class ArgumentCast : std::uint8_t { Float16, BFloat16, Int32, Int16, Int8, UInt8 };

/// The cast with that name (`fp16`, `bf16`, `int32`, `int16`, `int8`, `uint8`). Throws
/// std::runtime_error, with the name, when there is none.
ArgumentCast argument_cast(std::string_view name);

/// Numbers as a kernel reads them: 8 bytes each without a cast.
BytesArgument pack_integers(std::span<const std::int64_t> values, std::optional<ArgumentCast> cast);
/// 4-byte floats without a cast.
BytesArgument pack_floats(std::span<const double> values, std::optional<ArgumentCast> cast);

}  // namespace pewter::runtime
