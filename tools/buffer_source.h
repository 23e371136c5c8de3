#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/value_type.h"

namespace pewter::tools {

/// What a buffer holds before the kernel runs, as `--buffer` describes it.
struct BufferSource {
  ValueType type;
  std::vector<std::uint64_t> shape;
  std::uint64_t byte_count = 0;
  /// Writes the content; the span is `byte_count` long.
  std::function<void(std::span<std::byte>)> fill;
};

/// Parses what follows `NAME=`:
///
///     zeros:TYPE:SHAPE   ones:TYPE:SHAPE   fill:TYPE:SHAPE:NUMBER   range:TYPE:SHAPE
///     random:TYPE:SHAPE[:LOW:HIGH]         normal:TYPE:SHAPE        values:TYPE:N,N,...
///     FILE.npy
///
/// Random content depends on `seed` alone. Throws UsageError for bad text and CommandError for a
/// bad file.
BufferSource parse_buffer_source(const std::string& text, std::uint64_t seed);

}  // namespace pewter::tools
