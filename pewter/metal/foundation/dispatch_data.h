#pragma once

#include <Foundation/NSTypes.hpp>
#include <cstddef>
#include <span>

namespace pewter::foundation {

/// The bytes of data that dispatch_data_create() made. Null has none.
std::span<const std::byte> bytes_of(dispatch_data_t data);

}  // namespace pewter::foundation
