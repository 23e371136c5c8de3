#include <pewter/version.h>

#include "pewter/compiler/compiler.h"

namespace pewter {

Version version() {
  return {PEWTER_VERSION, compiler::llvm_version(), "4.0"};
}

}  // namespace pewter
