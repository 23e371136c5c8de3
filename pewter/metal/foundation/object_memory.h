#pragma once

#include <cstddef>

/// Memory of objects, used again and again, so that a program which makes the same objects in every
/// frame stops asking the heap. Takes no lock. Safe to use from any thread.
namespace pewter::foundation::object_memory {

/// Throws std::bad_alloc when memory is out.
void* allocate(std::size_t bytes);

/// Takes back what allocate() gave, for another object of about that size. Null is allowed.
void free(void* memory) noexcept;

}  // namespace pewter::foundation::object_memory
