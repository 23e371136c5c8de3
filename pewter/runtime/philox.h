#pragma once

#include <array>
#include <cstdint>

namespace pewter::runtime {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Four random words for a counter and a key: Philox 4x32 with 10 rounds (Salmon et al., "Parallel
/// Random Numbers: As Easy as 1, 2, 3"). The reference for the kernels, bit for bit.
PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key);

/// `counter` plus `blocks`, as one number of 128 bits whose first word is the lowest.
PhiloxCounter advanced(PhiloxCounter counter, std::uint64_t blocks);

}  // namespace pewter::runtime
