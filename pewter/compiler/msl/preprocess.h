#pragma once

#include <string>

#include "pewter/base/result.h"
#include "pewter/compiler/compiler.h"

namespace pewter::compiler::msl {

/// Expands macros and includes, the standard library's excepted, which a text carries with it
/// anyway. Line markers lead back to the user's files.
Result<PreprocessedText, CompileFailure> preprocess(const std::string& source,
                                                    const LibraryOptions& options,
                                                    const std::string& prelude_path);

}  // namespace pewter::compiler::msl
