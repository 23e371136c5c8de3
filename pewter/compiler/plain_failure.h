#pragma once

#include <string>

#include "pewter/compiler/compiler.h"

namespace pewter::compiler {

/// A failure that has no place in the source text.
inline CompileFailure plain_failure(const std::string& text) {
  Diagnostic diagnostic;
  diagnostic.text = text;
  diagnostic.rendered = "error: " + text + "\n";
  return CompileFailure{{std::move(diagnostic)}};
}

}  // namespace pewter::compiler
