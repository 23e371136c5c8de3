#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "pewter/base/result.h"

namespace pewter::executor {

/// A checked view of an ELF64 relocatable object: every offset and index that it hands out lies
/// inside the file.
///
/// The bytes must outlive it. Sections and symbols are copied, because the file need not be
/// aligned.
class ElfObject {
 public:
  struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t size = 0;
    std::uint64_t alignment = 1;
    /// Section that relocations apply to, or other meanings by type.
    std::uint32_t info = 0;
    std::uint32_t link = 0;
    /// Empty for a section without content in the file.
    std::span<const std::byte> content;
  };

  struct Symbol {
    std::string_view name;
    std::uint64_t value = 0;
    std::uint16_t section = 0;
    std::uint8_t type = 0;
    std::uint8_t binding = 0;
  };

  /// Fails on a file that is no 64-bit little-endian relocatable object, or one that points outside
  /// itself.
  static Result<ElfObject> parse(std::span<const std::byte> file);

  std::uint16_t machine() const { return machine_; }
  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }

  /// The entries of a relocation section.
  static std::vector<Elf64_Rela> relocations(const Section& section);

 private:
  ElfObject() = default;

  Result<void> read_sections(std::span<const std::byte> file, const Elf64_Ehdr& header);
  Result<void> read_symbols();

  std::uint16_t machine_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace pewter::executor
