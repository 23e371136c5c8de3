#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

/// How a sampler compares a reference with a texel.
_MTL_ENUM(NS::UInteger, CompareFunction){
    CompareFunctionNever = 0,        CompareFunctionLess = 1,    CompareFunctionEqual = 2,
    CompareFunctionLessEqual = 3,    CompareFunctionGreater = 4, CompareFunctionNotEqual = 5,
    CompareFunctionGreaterEqual = 6, CompareFunctionAlways = 7,
};

}  // namespace MTL
