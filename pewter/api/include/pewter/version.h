#pragma once

#include <pewter/export.h>

#include <string>

namespace pewter {

/// What this library is built from.
struct Version {
  /// For instance "0.1.0".
  std::string pewter;
  /// Clang and LLVM inside the compiler, for instance "19.1.7".
  std::string llvm;
  /// Newest Metal Shading Language that is understood, for instance "4.0".
  std::string language;
};

PEWTER_EXPORT Version version();

}  // namespace pewter
