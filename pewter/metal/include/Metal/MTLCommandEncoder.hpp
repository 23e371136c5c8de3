#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"

namespace MTL {

class Device;

_MTL_OPTIONS(NS::UInteger, ResourceUsage){
    ResourceUsageRead = 1,
    ResourceUsageWrite = 2,
    ResourceUsageSample = 4,
};

_MTL_OPTIONS(NS::UInteger, BarrierScope){
    BarrierScopeBuffers = 1,
    BarrierScopeTextures = 2,
    BarrierScopeRenderTargets = 4,
};

/// Writes commands into a command buffer until endEncoding().
class _MTL_EXPORT CommandEncoder : public NS::Referencing<CommandEncoder> {
 public:
  Device* device() const;

  NS::String* label() const;
  void setLabel(const NS::String* label);

  void endEncoding();

  void insertDebugSignpost(const NS::String* string);
  void pushDebugGroup(const NS::String* string);
  void popDebugGroup();
};

}  // namespace MTL
