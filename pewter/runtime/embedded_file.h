#pragma once

namespace pewter::runtime {

/// A file that is part of the library.
struct EmbeddedFile {
  const char* name;
  const char* bytes;
  unsigned long size;
};

/// The headers that shaders may include, by the name in the include; ends with a null name. Written
/// by cmake/embed_files.py.
extern const EmbeddedFile kShaderHeaders[];

}  // namespace pewter::runtime
