#pragma once

#include "pewter/base/hash.h"
#include "pewter/compiler/compiler.h"

// Names of what is kept in caches: equal for equal results, and different for another version of
// the compiler, another option or another processor.

namespace pewter::compiler {

Digest library_key(const std::string& source, const LibraryOptions& options);

/// For a unit of a file, whose text is known by its digest.
Digest unit_key(const Digest& text, const LibraryOptions& options);

/// For a kernel of the library with key `library`; the request's mode has to be settled.
Digest kernel_key(const Digest& library, const KernelRequest& request);

}  // namespace pewter::compiler
