#pragma once

#include <cstdint>

#include "pewter/base/kernel_abi.h"

namespace pewter::executor {

/// What the lanes of a simdgroup hand to an operation, and what each gets back.
struct SimdExchange {
  std::uint64_t a[abi::kSimdWidth];
  std::uint64_t b[abi::kSimdWidth];
  std::uint64_t c[abi::kSimdWidth];
  std::uint64_t result[abi::kSimdWidth];
};

/// Computes the results of the lanes whose bit is set in `active` from their inputs; other lanes
/// take no part.
using SimdOperation = void (*)(SimdExchange& lanes, std::uint32_t active);

}  // namespace pewter::executor
