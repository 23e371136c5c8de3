#include <cstdint>

#include "pewter/metal/executor/builtins.h"
#include "pewter/metal/executor/fiber_group.h"
#include "pewter/metal/executor/kernel_thread.h"

namespace pewter::executor {
namespace {

void no_operation(SimdExchange&, std::uint32_t) {}

// A group runs on one operating-system thread, so memory flags and scopes ask for nothing more than
// the order of the program, which a call keeps.
void threadgroup_barrier(std::uint32_t, std::uint32_t) {
  if (FiberGroup* fibers = kernel_thread.fibers) {
    fibers->wait_at_barrier();
  }
}

void simdgroup_barrier(std::uint32_t, std::uint32_t) {
  if (FiberGroup* fibers = kernel_thread.fibers) {
    fibers->exchange(&no_operation, 0, 0, 0);
  }
}

void site(std::uint32_t id) {
  if (FiberGroup* fibers = kernel_thread.fibers) {
    fibers->set_site(id);
  }
}

void reconverge(std::uint32_t id) {
  if (FiberGroup* fibers = kernel_thread.fibers) {
    fibers->reconverge(id);
  }
}

void* threadgroup_base() {
  return kernel_thread.threadgroup_memory;
}

}  // namespace

std::span<const Builtin> synchronization_builtins() {
  static const Builtin table[] = {
      {"air.wg.barrier", address_of(&threadgroup_barrier)},
      {"air.simdgroup.barrier", address_of(&simdgroup_barrier)},
      {"pewter.site", address_of(&site)},
      {"pewter.reconverge", address_of(&reconverge)},
      {"pewter.threadgroup_base", address_of(&threadgroup_base)},
  };
  return table;
}

}  // namespace pewter::executor
