#include "pewter/metal/executor/elf_object.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>
#include <optional>

namespace pewter::executor {
namespace {

// Whole pages are the largest alignment that a mapping gives for free.
constexpr std::uint64_t kMaxAlignment = 4096;

template <typename T>
T read(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// `size` bytes at `offset`; nothing when they are not all there.
std::optional<std::span<const std::byte>> slice(std::span<const std::byte> bytes,
                                                std::uint64_t offset,
                                                std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return std::nullopt;
  }
  return bytes.subspan(offset, size);
}

/// The string that starts at `offset` of a string table; nothing when it does not end inside the
/// table.
std::optional<std::string_view> text_at(std::span<const std::byte> table, std::uint64_t offset) {
  if (offset >= table.size()) {
    return std::nullopt;
  }
  const auto* start = reinterpret_cast<const char*>(table.data() + offset);
  const void* end = std::memchr(start, '\0', table.size() - offset);
  if (end == nullptr) {
    return std::nullopt;
  }
  return std::string_view(start, static_cast<std::size_t>(static_cast<const char*>(end) - start));
}

}  // namespace

Result<ElfObject> ElfObject::parse(std::span<const std::byte> file) {
  if (file.size() < sizeof(Elf64_Ehdr)) {
    return failure(fmt::format("object of {} bytes is shorter than an ELF header", file.size()));
  }
  const auto header = read<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return failure("object is not an ELF file");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_REL) {
    return failure("object is not a 64-bit little-endian relocatable ELF file");
  }

  ElfObject object;
  object.machine_ = header.e_machine;
  if (auto done = object.read_sections(file, header); !done) {
    return std::move(done).error();
  }
  if (auto done = object.read_symbols(); !done) {
    return std::move(done).error();
  }
  return object;
}

Result<void> ElfObject::read_sections(std::span<const std::byte> file, const Elf64_Ehdr& header) {
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    return failure(fmt::format("object has section headers of {} bytes instead of {}",
                               header.e_shentsize, sizeof(Elf64_Shdr)));
  }
  const auto table =
      slice(file, header.e_shoff, std::uint64_t(header.e_shnum) * sizeof(Elf64_Shdr));
  if (!table) {
    return failure("section headers lie outside the object");
  }
  if (header.e_shstrndx >= header.e_shnum) {
    return failure("object has no table of section names");
  }

  std::vector<std::uint32_t> name_offsets;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto raw = read<Elf64_Shdr>(*table, i);
    Section section;
    section.type = raw.sh_type;
    section.flags = raw.sh_flags;
    section.size = raw.sh_size;
    section.alignment = raw.sh_addralign == 0 ? 1 : raw.sh_addralign;
    section.info = raw.sh_info;
    section.link = raw.sh_link;
    if (!std::has_single_bit(section.alignment) || section.alignment > kMaxAlignment) {
      return failure(fmt::format("section {} has alignment {}, limit {}", i, section.alignment,
                                 kMaxAlignment));
    }
    if (raw.sh_type != SHT_NULL && raw.sh_type != SHT_NOBITS) {
      const auto content = slice(file, raw.sh_offset, raw.sh_size);
      if (!content) {
        return failure(fmt::format("content of section {} lies outside the object", i));
      }
      section.content = *content;
    }
    sections_.push_back(section);
    name_offsets.push_back(raw.sh_name);
  }

  const auto names = sections_[header.e_shstrndx].content;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const auto name = text_at(names, name_offsets[i]);
    if (!name) {
      return failure(fmt::format("name of section {} lies outside the object", i));
    }
    sections_[i].name = *name;
  }
  return {};
}

Result<void> ElfObject::read_symbols() {
  const Section* table = nullptr;
  for (const Section& section : sections_) {
    if (section.type == SHT_SYMTAB) {
      if (table != nullptr) {
        return failure("object has two symbol tables");
      }
      table = &section;
    }
  }
  if (table == nullptr) {
    return failure("object has no symbol table");
  }
  if (table->link >= sections_.size()) {
    return failure("symbol table has no names");
  }

  const auto names = sections_[table->link].content;
  const std::size_t count = table->content.size() / sizeof(Elf64_Sym);
  symbols_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto raw = read<Elf64_Sym>(table->content, i);
    const auto name = text_at(names, raw.st_name);
    if (!name) {
      return failure(fmt::format("name of symbol {} lies outside the object", i));
    }
    Symbol symbol;
    symbol.name = *name;
    symbol.value = raw.st_value;
    symbol.section = raw.st_shndx;
    symbol.type = ELF64_ST_TYPE(raw.st_info);
    symbol.binding = ELF64_ST_BIND(raw.st_info);
    const bool is_special = symbol.section == SHN_UNDEF || symbol.section == SHN_ABS;
    if (!is_special) {
      if (symbol.section >= sections_.size()) {
        return failure(fmt::format("symbol '{}' is in section {} of {}", *name, symbol.section,
                                   sections_.size()));
      }
      if (symbol.value > sections_[symbol.section].size) {
        return failure(fmt::format("symbol '{}' lies outside its section", *name));
      }
    }
    symbols_.push_back(symbol);
  }
  return {};
}

std::vector<Elf64_Rela> ElfObject::relocations(const Section& section) {
  std::vector<Elf64_Rela> entries(section.content.size() / sizeof(Elf64_Rela));
  if (!entries.empty()) {
    std::memcpy(entries.data(), section.content.data(), entries.size() * sizeof(Elf64_Rela));
  }
  return entries;
}

}  // namespace pewter::executor
