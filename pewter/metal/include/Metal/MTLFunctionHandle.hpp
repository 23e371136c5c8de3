#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLLibrary.hpp"

namespace MTL {

class Device;

/// A visible function as one pipeline knows it.
class _MTL_EXPORT FunctionHandle : public NS::Referencing<FunctionHandle> {
 public:
  MTL::FunctionType functionType() const;
  NS::String* name() const;
  Device* device() const;
};

}  // namespace MTL
