#pragma once

#include <stdexcept>
#include <string_view>

namespace pewter::ops {

/// What a function that `origin` is made of has refused, as refused by `origin`: whoever called it
/// knows of no other.
std::invalid_argument refusal_of(std::string_view origin, const std::invalid_argument& refusal);

}  // namespace pewter::ops
