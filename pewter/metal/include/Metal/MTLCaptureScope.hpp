#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class CommandQueue;
class Device;

/// Marks a span of work that a capture can be limited to.
class _MTL_EXPORT CaptureScope : public NS::Referencing<CaptureScope> {
 public:
  Device* device() const;

  NS::String* label() const;
  void setLabel(const NS::String* pLabel);

  CommandQueue* commandQueue() const;

  void beginScope();
  void endScope();
};

}  // namespace MTL
