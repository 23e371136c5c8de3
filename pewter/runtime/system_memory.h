#pragma once

#include <cstddef>

namespace pewter::runtime {

/// Bytes of memory that the machine has; 0 when the system does not say.
std::size_t physical_memory();

}  // namespace pewter::runtime
