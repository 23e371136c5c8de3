#include "pewter/compiler/codegen/fatal_error.h"

#include <csetjmp>
#include <mutex>
#include <string>

#include "llvm/Support/ErrorHandling.h"

namespace pewter::compiler::codegen {
namespace {

/// Where a thread goes on after a fatal error, and what the error said.
struct Rescue {
  std::jmp_buf place;
  std::string reason;
};

thread_local Rescue* current_rescue = nullptr;

// LLVM calls this and then ends the process, unless we leave by the back door.
void leave(void*, const char* reason, bool) {
  if (current_rescue != nullptr) {
    current_rescue->reason = reason;
    std::longjmp(current_rescue->place, 1);
  }
}

}  // namespace

Result<void> survive_fatal_errors(const std::function<void()>& work) {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(leave); });
  Rescue rescue;
  Rescue* const outer = current_rescue;
  current_rescue = &rescue;
  const bool failed = setjmp(rescue.place) != 0;
  if (!failed) {
    work();
  }
  current_rescue = outer;
  if (failed) {
    return failure("internal compiler error: " + rescue.reason);
  }
  return {};
}

}  // namespace pewter::compiler::codegen
