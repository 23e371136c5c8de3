#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

/// A block of bytes.
class _NS_EXPORT Data : public Copying<Data> {
 public:
  void* mutableBytes() const;
  UInteger length() const;
};

}  // namespace NS
