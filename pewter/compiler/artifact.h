#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "pewter/compiler/compiler.h"

/// Compiled things as bytes, for the disk cache.
namespace pewter::compiler {

std::vector<std::byte> serialise(const LibraryInfo& info);
std::vector<std::byte> serialise(const KernelCode& code);

/// Everything of a unit but its text and its sources.
std::vector<std::byte> serialise_facts(const LibraryUnit& unit);
std::vector<std::byte> serialise_sources(
    const std::vector<std::pair<std::string, std::string>>& sources);

/// Nothing when the bytes are not what serialise wrote: cut short, too long or out of range.
std::optional<LibraryInfo> parse_library_info(std::span<const std::byte> bytes);
std::optional<KernelCode> parse_kernel_code(std::span<const std::byte> bytes);
std::optional<LibraryUnit> parse_facts(std::span<const std::byte> bytes);
std::optional<std::vector<std::pair<std::string, std::string>>> parse_sources(
    std::span<const std::byte> bytes);

}  // namespace pewter::compiler
