#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clang/Frontend/CompilerInstance.h"

#include "pewter/compiler/compiler.h"
#include "pewter/compiler/plain_failure.h"

namespace pewter::compiler::msl {

using compiler::plain_failure;

/// Where the user's text appears to be, with what stands before and behind it.
inline constexpr const char* kSourcePath = "/pewter/source.metal";

/// Makes identifiers of the address spaces that MSL's are turned into.
void define_keywords(clang::Preprocessor& preprocessor);

/// Clang with these arguments; null when it does not take them.
std::unique_ptr<clang::CompilerInstance> make_instance(const std::vector<std::string>& arguments,
                                                       clang::DiagnosticConsumer* consumer);

/// Clang ready to read `text`, whole as it stands, on top of the precompiled standard library; null
/// when it is not to be had.
std::unique_ptr<clang::CompilerInstance> make_text_instance(const std::string& text,
                                                            const LibraryOptions& options,
                                                            const std::string& prelude_path,
                                                            clang::DiagnosticConsumer* consumer);

/// The files that were read besides the text and the standard library, in order of their names.
std::vector<std::string> files_read(clang::CompilerInstance& instance);

}  // namespace pewter::compiler::msl
