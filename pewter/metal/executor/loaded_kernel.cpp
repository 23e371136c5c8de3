#include "pewter/metal/executor/loaded_kernel.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "pewter/metal/executor/builtins.h"
#include "pewter/metal/executor/elf_object.h"
#include "pewter/metal/executor/fault.h"

namespace pewter::executor {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kHostMachine = EM_X86_64;
#else
// Relocations of other machines are not known here, so that every object is refused.
constexpr std::uint16_t kHostMachine = EM_NONE;
#endif

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kMaxMappingBytes = std::uint64_t(1) << 30;
constexpr std::uint64_t kSlotBytes = 8;
constexpr std::string_view kTableSymbol = "_GLOBAL_OFFSET_TABLE_";

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

bool is_loaded(const ElfObject::Section& section) {
  // Kernels throw nothing, so nobody reads their unwind tables.
  return (section.flags & SHF_ALLOC) != 0 && section.type != SHT_X86_64_UNWIND &&
         !section.name.starts_with(".eh_frame");
}

/// Lays an object out in memory and applies its relocations.
///
/// The mapping is code and stubs first, then data and the table of addresses (the GOT). A stub
/// jumps through the table, because built-ins may lie further away than a 32-bit displacement
/// reaches.
class Linker {
 public:
  explicit Linker(const ElfObject& object) : object_(object) {}

  Result<void> lay_out();
  Result<void> link(std::byte* mapping);

  std::uint64_t code_bytes() const { return code_bytes_; }
  std::uint64_t total_bytes() const { return total_bytes_; }

  /// Offset of a function that the object defines; nothing when it does not.
  std::optional<std::uint64_t> find_function(std::string_view name) const;

 private:
  static constexpr std::uint64_t kNotLoaded = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();

  template <typename Visitor>
  Result<void> for_each_relocation(Visitor visitor) const;
  Result<void> assign_slots();
  Result<void> place_sections();
  Result<void> apply(const ElfObject::Section& section, const Elf64_Rela& entry);
  Result<std::uint64_t> address(std::uint32_t symbol) const;
  std::uint64_t stub_address(std::uint32_t symbol) const;
  std::uint64_t slot_address(std::uint32_t symbol) const;
  void fill_slot(std::uint32_t symbol, std::uint64_t target);

  const ElfObject& object_;
  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint32_t> slots_;
  std::uint32_t slot_count_ = 0;
  std::uint64_t stubs_ = 0;
  std::uint64_t table_ = 0;
  std::uint64_t code_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  std::byte* mapping_ = nullptr;
};

/// Whether the relocation reaches its symbol by a displacement from the code, so that a built-in
/// needs a stub.
bool is_relative(std::uint32_t type) {
  return type == R_X86_64_PC32 || type == R_X86_64_PLT32;
}

bool uses_table(std::uint32_t type) {
  return type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
         type == R_X86_64_REX_GOTPCRELX || type == R_X86_64_GOTPCREL64 || type == R_X86_64_GOT64;
}

template <typename Visitor>
Result<void> Linker::for_each_relocation(Visitor visitor) const {
  for (const ElfObject::Section& section : object_.sections()) {
    if (section.type != SHT_RELA && section.type != SHT_REL) {
      continue;
    }
    if (section.info >= object_.sections().size()) {
      return failure(fmt::format("relocations '{}' apply to no section", section.name));
    }
    const ElfObject::Section& target = object_.sections()[section.info];
    if (!is_loaded(target)) {
      continue;
    }
    if (section.type == SHT_REL) {
      return failure(fmt::format("relocations '{}' carry no addends", section.name));
    }
    for (const Elf64_Rela& entry : ElfObject::relocations(section)) {
      if (ELF64_R_SYM(entry.r_info) >= object_.symbols().size()) {
        return failure(fmt::format("relocation in '{}' names symbol {} of {}", target.name,
                                   ELF64_R_SYM(entry.r_info), object_.symbols().size()));
      }
      if (auto done = visitor(target, entry); !done) {
        return done;
      }
    }
  }
  return {};
}

Result<void> Linker::lay_out() {
  if (auto done = assign_slots(); !done) {
    return done;
  }
  return place_sections();
}

Result<void> Linker::assign_slots() {
  slots_.assign(object_.symbols().size(), kNoSlot);
  std::string unknown;
  auto done = for_each_relocation([&](const ElfObject::Section&, const Elf64_Rela& entry) {
    const auto index = static_cast<std::uint32_t>(ELF64_R_SYM(entry.r_info));
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
    const ElfObject::Symbol& symbol = object_.symbols()[index];
    const bool is_undefined =
        index != 0 && symbol.section == SHN_UNDEF && symbol.name != kTableSymbol;
    if (slots_[index] == kNoSlot && (uses_table(type) || (is_undefined && is_relative(type)))) {
      slots_[index] = slot_count_++;
    }
    if (is_undefined && symbol.binding != STB_WEAK && find_builtin(symbol.name) == nullptr) {
      const std::string quoted = fmt::format("'{}'", symbol.name);
      if (unknown.find(quoted) == std::string::npos) {
        unknown += (unknown.empty() ? "" : ", ") + quoted;
      }
    }
    return Result<void>();
  });
  if (done && !unknown.empty()) {
    return failure("kernel calls functions that the device does not have: " + unknown);
  }
  return done;
}

Result<void> Linker::place_sections() {
  offsets_.assign(object_.sections().size(), kNotLoaded);
  std::uint64_t end = 0;
  for (const bool is_code : {true, false}) {
    for (std::size_t i = 0; i < object_.sections().size(); ++i) {
      const ElfObject::Section& section = object_.sections()[i];
      if (!is_loaded(section) || ((section.flags & SHF_EXECINSTR) != 0) != is_code) {
        continue;
      }
      const bool has_constructors = section.type == SHT_INIT_ARRAY ||
                                    section.type == SHT_FINI_ARRAY ||
                                    section.type == SHT_PREINIT_ARRAY;
      if (((section.flags & SHF_TLS) != 0 || has_constructors) && section.size != 0) {
        return failure(
            fmt::format("section '{}' needs a start-up that kernels do not have", section.name));
      }
      offsets_[i] = round_up(end, section.alignment);
      if (section.size > kMaxMappingBytes || offsets_[i] + section.size > kMaxMappingBytes) {
        return failure(fmt::format("object needs more than {} bytes of memory", kMaxMappingBytes));
      }
      end = offsets_[i] + section.size;
    }
    std::uint64_t& slots = is_code ? stubs_ : table_;
    slots = round_up(end, kSlotBytes);
    end = round_up(slots + slot_count_ * kSlotBytes, kPageBytes);
    if (is_code) {
      code_bytes_ = end;
    }
  }
  total_bytes_ = end;
  return {};
}

Result<void> Linker::link(std::byte* mapping) {
  mapping_ = mapping;
  for (std::size_t i = 0; i < object_.sections().size(); ++i) {
    const auto content = object_.sections()[i].content;
    if (offsets_[i] != kNotLoaded && !content.empty()) {
      std::memcpy(mapping + offsets_[i], content.data(), content.size());
    }
  }
  for (std::uint32_t symbol = 0; symbol < slots_.size(); ++symbol) {
    if (slots_[symbol] != kNoSlot) {
      const auto target = address(symbol);
      if (!target) {
        return target.error();
      }
      fill_slot(symbol, *target);
    }
  }
  return for_each_relocation([&](const ElfObject::Section& section, const Elf64_Rela& entry) {
    return apply(section, entry);
  });
}

std::uint64_t Linker::stub_address(std::uint32_t symbol) const {
  return reinterpret_cast<std::uint64_t>(mapping_) + stubs_ + slots_[symbol] * kSlotBytes;
}

std::uint64_t Linker::slot_address(std::uint32_t symbol) const {
  return reinterpret_cast<std::uint64_t>(mapping_) + table_ + slots_[symbol] * kSlotBytes;
}

void Linker::fill_slot(std::uint32_t symbol, std::uint64_t target) {
  std::memcpy(reinterpret_cast<void*>(slot_address(symbol)), &target, sizeof(target));

  // jmp *displacement(%rip)
  const auto displacement =
      static_cast<std::int32_t>(slot_address(symbol) - (stub_address(symbol) + 6));
  std::byte stub[kSlotBytes] = {std::byte(0xff), std::byte(0x25)};
  std::memcpy(stub + 2, &displacement, sizeof(displacement));
  stub[6] = stub[7] = std::byte(0xcc);
  std::memcpy(reinterpret_cast<void*>(stub_address(symbol)), stub, sizeof(stub));
}

Result<std::uint64_t> Linker::address(std::uint32_t symbol) const {
  const ElfObject::Symbol& wanted = object_.symbols()[symbol];
  const auto base = reinterpret_cast<std::uint64_t>(mapping_);
  if (wanted.section == SHN_ABS) {
    return wanted.value;
  }
  if (wanted.section == SHN_UNDEF) {
    if (wanted.name == kTableSymbol) {
      return base + table_;
    }
    // Null for the symbol of index 0 and for weak references to nothing.
    return reinterpret_cast<std::uint64_t>(find_builtin(wanted.name));
  }
  if (offsets_[wanted.section] == kNotLoaded) {
    return failure(fmt::format("symbol '{}' is in section '{}', which is not loaded", wanted.name,
                               object_.sections()[wanted.section].name));
  }
  return base + offsets_[wanted.section] + wanted.value;
}

Result<void> Linker::apply(const ElfObject::Section& section, const Elf64_Rela& entry) {
  const auto symbol = static_cast<std::uint32_t>(ELF64_R_SYM(entry.r_info));
  const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
  if (type == R_X86_64_NONE) {
    return {};
  }
  auto target = address(symbol);
  if (!target) {
    return std::move(target).error();
  }
  const auto base = reinterpret_cast<std::uint64_t>(mapping_);
  const std::uint64_t section_offset =
      offsets_[static_cast<std::size_t>(&section - object_.sections().data())];
  const std::uint64_t place = base + section_offset + entry.r_offset;
  const auto addend = static_cast<std::uint64_t>(entry.r_addend);

  // Unsigned arithmetic wraps as the ABI's formulas ask for.
  std::uint64_t value = 0;
  std::size_t width = sizeof(std::uint64_t);
  bool is_signed = true;
  switch (type) {
    case R_X86_64_64:
      value = *target + addend;
      break;
    case R_X86_64_PC64:
      value = *target + addend - place;
      break;
    case R_X86_64_GOTOFF64:
      value = *target + addend - (base + table_);
      break;
    case R_X86_64_GOTPC64:
      value = base + table_ + addend - place;
      break;
    case R_X86_64_GOT64:
      value = slot_address(symbol) - (base + table_) + addend;
      break;
    case R_X86_64_GOTPCREL64:
      value = slot_address(symbol) + addend - place;
      break;
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
      value = (slots_[symbol] != kNoSlot && object_.symbols()[symbol].section == SHN_UNDEF
                   ? stub_address(symbol)
                   : *target) +
              addend - place;
      width = sizeof(std::uint32_t);
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      value = slot_address(symbol) + addend - place;
      width = sizeof(std::uint32_t);
      break;
    case R_X86_64_GOTPC32:
      value = base + table_ + addend - place;
      width = sizeof(std::uint32_t);
      break;
    case R_X86_64_32:
      is_signed = false;
      [[fallthrough]];
    case R_X86_64_32S:
      value = *target + addend;
      width = sizeof(std::uint32_t);
      break;
    default:
      return failure(
          fmt::format("section '{}' has a relocation of unknown type {}", section.name, type));
  }

  if (entry.r_offset > section.size || width > section.size - entry.r_offset) {
    return failure(fmt::format("relocation at {} lies outside section '{}' of {} bytes",
                               entry.r_offset, section.name, section.size));
  }
  const bool fits =
      width == sizeof(std::uint64_t) ||
      (is_signed ? static_cast<std::int64_t>(value) == static_cast<std::int32_t>(value)
                 : value == static_cast<std::uint32_t>(value));
  if (!fits) {
    return failure(fmt::format("symbol '{}' is out of reach of a 32-bit relocation of type {}",
                               object_.symbols()[symbol].name, type));
  }
  std::memcpy(mapping_ + section_offset + entry.r_offset, &value, width);
  return {};
}

std::optional<std::uint64_t> Linker::find_function(std::string_view name) const {
  for (const ElfObject::Symbol& symbol : object_.symbols()) {
    if (symbol.name == name && symbol.section != SHN_UNDEF && symbol.section != SHN_ABS &&
        symbol.type == STT_FUNC && offsets_[symbol.section] != kNotLoaded &&
        (object_.sections()[symbol.section].flags & SHF_EXECINSTR) != 0 &&
        symbol.value < object_.sections()[symbol.section].size) {
      return offsets_[symbol.section] + symbol.value;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::shared_ptr<const LoadedKernel>> LoadedKernel::load(std::span<const std::byte> bytes,
                                                               const std::string& entry,
                                                               const KernelTraits& traits) {
  const auto object = ElfObject::parse(bytes);
  if (!object) {
    return object.error();
  }
  if (object->machine() != kHostMachine) {
    return failure(fmt::format("object for ELF machine {} cannot be loaded on this processor",
                               object->machine()));
  }
  Linker linker(*object);
  if (auto done = linker.lay_out(); !done) {
    return std::move(done).error();
  }
  const auto entry_offset = linker.find_function(entry);
  if (!entry_offset) {
    return failure(fmt::format("object has no function '{}'", entry));
  }

  void* mapping = mmap(nullptr, linker.total_bytes(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return failure(fmt::format("no memory for {} bytes of code: {}", linker.total_bytes(),
                               std::strerror(errno)));
  }
  // make_shared cannot reach the private constructor.
  std::shared_ptr<LoadedKernel> kernel(new LoadedKernel);
  kernel->mapping_ = mapping;
  kernel->mapping_bytes_ = linker.total_bytes();
  kernel->traits_ = traits;
  auto* base = static_cast<std::byte*>(mapping);
  if (auto done = linker.link(base); !done) {
    return std::move(done).error();
  }

  const std::uint64_t data_bytes = linker.total_bytes() - linker.code_bytes();
  if (mprotect(base, linker.code_bytes(), PROT_READ | PROT_EXEC) != 0 ||
      (data_bytes != 0 && mprotect(base + linker.code_bytes(), data_bytes, PROT_READ) != 0)) {
    return failure(fmt::format("memory cannot be made executable: {}", std::strerror(errno)));
  }
  kernel->entry_ = reinterpret_cast<abi::EntryPoint>(base + *entry_offset);

  // Before the first kernel runs, and again in case the program has put handlers of its own in
  // place since.
  install_fault_handlers();
  return std::shared_ptr<const LoadedKernel>(std::move(kernel));
}

std::shared_ptr<const LoadedKernel> LoadedKernel::wrap(abi::EntryPoint entry) {
  std::shared_ptr<LoadedKernel> kernel(new LoadedKernel);
  kernel->entry_ = entry;
  install_fault_handlers();
  return kernel;
}

LoadedKernel::~LoadedKernel() {
  if (mapping_ != nullptr) {
    munmap(mapping_, mapping_bytes_);
  }
}

}  // namespace pewter::executor
