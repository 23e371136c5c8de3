#pragma once

#include <cstddef>

/// What the operating system says about memory; 0 where it does not.
namespace pewter::runtime {

/// Memory that the machine has.
std::size_t physical_memory();

/// Memory that can be had without swapping: the machine's, or what the control group leaves.
std::size_t available_memory();

/// Memory of this process that is in the machine's memory now.
std::size_t resident_memory();

/// How much of the memory from `address` on is in the machine's memory now.
std::size_t resident_part(const void* address, std::size_t length);

}  // namespace pewter::runtime
