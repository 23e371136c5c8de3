#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// What this machine's processor is and can do, without LLVM.
namespace pewter::cpu {

/// The processor's own name, for instance "AMD EPYC 7763".
const std::string& brand();

/// The code generation level that this machine runs: "x86-64-v4", "x86-64-v3", "x86-64-v2",
/// "x86-64" or "generic".
const std::string& level();

/// The vector features that matter to kernels, for instance {"avx2", "fma", "f16c"}.
const std::vector<std::string>& features();

/// Bytes of the largest cache that a core shares; 32 MiB when the system does not say.
std::uint64_t largest_cache_bytes();

}  // namespace pewter::cpu
