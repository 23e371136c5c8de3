#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class Device;

/// Orders encoders of one queue that share untracked resources.
class _MTL_EXPORT Fence : public NS::Referencing<Fence> {
 public:
  Device* device() const;

  NS::String* label() const;
  void setLabel(const NS::String* label);
};

}  // namespace MTL
