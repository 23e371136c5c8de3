#pragma once

#include "clang/Lex/Preprocessor.h"

namespace pewter::compiler::msl {

/// Lets the parser see MSL's pragmas for floating-point arithmetic as Clang's own:
/// `#pragma METAL fp math_mode(safe | relaxed | fast)` and `#pragma METAL fp contract(off | on |
/// fast)`. Other pragmas of METAL mean nothing here.
void define_pragmas(clang::Preprocessor& preprocessor);

}  // namespace pewter::compiler::msl
