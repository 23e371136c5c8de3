#include "pewter/compiler/artifact.h"

#include <cstring>
#include <string>
#include <type_traits>

namespace pewter::compiler {
namespace {

// One description of each type serves both directions: `describe(archive, value)` calls the archive
// for each member.

class Writer {
 public:
  template <typename T>
  void operator()(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
      const auto* raw = reinterpret_cast<const std::byte*>(&value);
      bytes_.insert(bytes_.end(), raw, raw + sizeof(T));
    } else {
      describe(*this, const_cast<T&>(value));
    }
  }

  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint64_t>(text.size()));
    const auto* raw = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), raw, raw + text.size());
  }

  template <typename T>
  void operator()(const std::vector<T>& items) {
    (*this)(static_cast<std::uint64_t>(items.size()));
    if constexpr (std::is_same_v<T, std::byte>) {
      bytes_.insert(bytes_.end(), items.begin(), items.end());
    } else {
      for (const T& item : items) {
        (*this)(item);
      }
    }
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  void operator()(T& value) {
    if constexpr (std::is_enum_v<T> || std::is_arithmetic_v<T>) {
      copy(&value, sizeof(T));
    } else {
      describe(*this, value);
    }
  }

  void operator()(bool& value) {
    std::uint8_t byte = 0;
    copy(&byte, 1);
    value = byte != 0;
  }

  void operator()(std::string& text) {
    text.resize(count(1));
    copy(text.data(), text.size());
  }

  template <typename T>
  void operator()(std::vector<T>& items) {
    items.resize(count(1));
    if constexpr (std::is_same_v<T, std::byte>) {
      copy(items.data(), items.size());
    } else {
      for (T& item : items) {
        (*this)(item);
      }
    }
  }

  /// Whether everything was there and nothing is left.
  bool complete() const { return good_ && position_ == bytes_.size(); }

 private:
  void copy(void* target, std::size_t size) {
    // Nothing may have no address.
    if (size == 0) {
      return;
    }
    if (!good_ || size > bytes_.size() - position_) {
      good_ = false;
      std::memset(target, 0, size);
      return;
    }
    std::memcpy(target, bytes_.data() + position_, size);
    position_ += size;
  }

  // A length that the rest cannot hold is damage, not a reason to allocate.
  std::size_t count(std::size_t least_item_bytes) {
    std::uint64_t items = 0;
    copy(&items, sizeof(items));
    if (items > (bytes_.size() - position_) / least_item_bytes) {
      good_ = false;
      return 0;
    }
    return static_cast<std::size_t>(items);
  }

  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool good_ = true;
};

template <typename Archive>
void describe(Archive& archive, ValueType& type) {
  archive(type.scalar);
  archive(type.columns);
  archive(type.rows);
}

template <typename Archive>
void describe(Archive& archive, Member& member) {
  archive(member.name);
  archive(member.id);
  archive(member.offset);
  archive(member.size);
  archive(member.alignment);
  archive(member.count);
  archive(member.is_pointer);
  archive(member.is_texture);
  archive(member.is_sampler);
  archive(member.is_function_table);
  archive(member.is_pipeline);
  archive(member.is_command_buffer);
  archive(member.type);
}

template <typename Archive>
void describe(Archive& archive, Parameter& parameter) {
  archive(parameter.name);
  archive(parameter.kind);
  archive(parameter.index);
  archive(parameter.count);
  archive(parameter.texture_type);
  archive(parameter.is_depth_texture);
  archive(parameter.type_name);
  archive(parameter.type);
  archive(parameter.size);
  archive(parameter.alignment);
  archive(parameter.access);
  archive(parameter.members);
  archive(parameter.is_reference);
  archive(parameter.enabled_by);
  archive(parameter.builtin);
}

template <typename Archive>
void describe(Archive& archive, FunctionConstant& constant) {
  archive(constant.name);
  archive(constant.index);
  archive(constant.type);
  archive(constant.required);
}

template <typename Archive>
void describe(Archive& archive, Diagnostic& diagnostic) {
  archive(diagnostic.severity);
  archive(diagnostic.file);
  archive(diagnostic.line);
  archive(diagnostic.column);
  archive(diagnostic.text);
  archive(diagnostic.rendered);
}

template <typename Archive>
void describe(Archive& archive, KernelInfo& kernel) {
  archive(kernel.name);
  archive(kernel.kind);
  archive(kernel.parameters);
  archive(kernel.constants);
  archive(kernel.max_total_threads);
  for (std::uint32_t& threads : kernel.required_threads) {
    archive(threads);
  }
  archive(kernel.line);
  archive(kernel.column);
}

template <typename Archive>
void describe(Archive& archive, LibraryInfo& info) {
  archive(info.kernels);
  archive(info.constants);
  archive(info.warnings);
  archive(info.self_contained);
}

template <typename Archive>
void describe(Archive& archive, KernelExplanation& explanation) {
  archive(explanation.mode);
  archive(explanation.lanes);
  archive(explanation.fallback);
  archive(explanation.uniform_branches);
  archive(explanation.divergent_branches);
  archive(explanation.uniform_accesses);
  archive(explanation.consecutive_accesses);
  archive(explanation.strided_accesses);
  archive(explanation.gathers);
  archive(explanation.released_loops);
  archive(explanation.released_switches);
}

template <typename Archive>
void describe(Archive& archive, KernelCode& code) {
  archive(code.object);
  archive(code.entry);
  archive(code.threadgroup_bytes);
  archive(code.needs_fibers);
  archive(code.uses_barriers);
  archive(code.uses_simdgroup);
  archive(code.uses_atomics);
  archive(code.required_buffers);
  archive(code.streamed_buffers);
  for (std::uint64_t& textures : code.required_textures) {
    archive(textures);
  }
  archive(code.required_samplers);
  archive(code.required_threadgroup_arguments);
  archive(code.uses_log);
  archive(code.stack_bytes);
  archive(code.runs_whole_groups);
  archive(code.takes_rows);
  archive(code.program_bytes);
  archive(code.handles_parts);
  archive(code.depends_on_shape);
  archive(code.gains_from_size);
  archive(code.may_lose_to_scalar);
  archive(code.explanation);
}

template <typename Archive>
void describe(Archive& archive, std::pair<std::string, std::string>& pair) {
  archive(pair.first);
  archive(pair.second);
}

template <typename Archive>
void describe(Archive& archive, LibraryOptions& options) {
  archive(options.language_version);
  archive(options.math_mode);
  archive(options.math_functions);
  archive(options.enable_logging);
  archive(options.source_name);
}

/// A unit without its texts, which stand in sections of their own.
struct UnitFacts {
  LibraryOptions options;
  LibraryInfo info;
};

template <typename Archive>
void describe(Archive& archive, UnitFacts& facts) {
  archive(facts.options);
  archive(facts.info);
}

template <typename T>
std::vector<std::byte> write(const T& value) {
  Writer writer;
  writer(value);
  return writer.take();
}

template <typename T>
std::optional<T> read(std::span<const std::byte> bytes) {
  T value;
  Reader reader(bytes);
  reader(value);
  return reader.complete() ? std::optional<T>(std::move(value)) : std::nullopt;
}

}  // namespace

std::vector<std::byte> serialise(const LibraryInfo& info) {
  return write(info);
}

std::vector<std::byte> serialise(const KernelCode& code) {
  return write(code);
}

std::vector<std::byte> serialise_facts(const LibraryUnit& unit) {
  return write(UnitFacts{unit.options, unit.info});
}

std::vector<std::byte> serialise_sources(
    const std::vector<std::pair<std::string, std::string>>& sources) {
  return write(sources);
}

std::optional<LibraryInfo> parse_library_info(std::span<const std::byte> bytes) {
  return read<LibraryInfo>(bytes);
}

std::optional<KernelCode> parse_kernel_code(std::span<const std::byte> bytes) {
  return read<KernelCode>(bytes);
}

std::optional<LibraryUnit> parse_facts(std::span<const std::byte> bytes) {
  auto facts = read<UnitFacts>(bytes);
  if (!facts) {
    return std::nullopt;
  }
  LibraryUnit unit;
  unit.options = std::move(facts->options);
  unit.info = std::move(facts->info);
  return unit;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_sources(
    std::span<const std::byte> bytes) {
  return read<std::vector<std::pair<std::string, std::string>>>(bytes);
}

}  // namespace pewter::compiler
