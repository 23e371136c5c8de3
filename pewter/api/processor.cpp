#include <pewter/processor.h>

#include "pewter/base/cpu.h"
#include "pewter/compiler/compiler.h"
#include "pewter/metal/executor/executor.h"

namespace pewter {

Processor processor() {
  return {cpu::brand(), compiler::target_cpu(), cpu::features(), executor::thread_count()};
}

}  // namespace pewter
