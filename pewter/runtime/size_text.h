#pragma once

#include <cstddef>
#include <string>

namespace pewter::runtime {

/// Bytes for people: "17.00 bytes", "1.50 GiB".
std::string size_text(std::size_t bytes);

}  // namespace pewter::runtime
