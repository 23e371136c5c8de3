#pragma once

#include <string>

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace pewter::compiler::msl {

/// A file of the standard library, as embedded in the back end.
struct EmbeddedFile {
  const char* name;
  const char* begin;
  unsigned long size;
};

/// The table that cmake/embed_files.py writes; ends with a null name.
extern const EmbeddedFile kStdlibFiles[];

/// The machine's files with the standard library laid over them at kStdlibFolder.
///
/// Being virtual, the library looks the same wherever pewter is installed, so the precompiled
/// prelude stays valid.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> file_system_with_stdlib();

}  // namespace pewter::compiler::msl
