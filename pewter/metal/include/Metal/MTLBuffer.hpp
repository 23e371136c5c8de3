#pragma once

#include <Foundation/Foundation.hpp>

#include "MTLDefines.hpp"
#include "MTLResource.hpp"

namespace MTL {

class Texture;
class TextureDescriptor;

/// A block of bytes that host and device share.
class _MTL_EXPORT Buffer : public NS::Referencing<Buffer, Resource> {
 public:
  NS::UInteger length() const;

  /// Null for private storage, as on a device with memory of its own.
  void* contents();
  void didModifyRange(NS::Range range);

  /// Texels in this buffer, rows of `bytesPerRow`. Null, with the reason in the log, when they do
  /// not fit.
  Texture* newTexture(const TextureDescriptor* descriptor,
                      NS::UInteger offset,
                      NS::UInteger bytesPerRow);

  void addDebugMarker(const NS::String* marker, NS::Range range);
  void removeAllDebugMarkers();

  /// The address that a kernel sees, to be stored in argument buffers.
  std::uint64_t gpuAddress() const;
};

}  // namespace MTL
