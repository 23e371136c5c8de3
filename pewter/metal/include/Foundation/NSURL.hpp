#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

class String;

/// The address of a file.
class _NS_EXPORT URL : public Copying<URL> {
 public:
  static URL* fileURLWithPath(const String* pPath);

  static URL* alloc();
  URL* init();
  /// Understands "file://" addresses; others keep their text and have no file system path.
  URL* init(const String* pString);
  URL* initFileURLWithPath(const String* pPath);

  /// The path; valid as long as this object. Null when this is not the address of a file.
  const char* fileSystemRepresentation() const;
};

}  // namespace NS
