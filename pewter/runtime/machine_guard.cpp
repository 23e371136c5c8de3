#include "pewter/runtime/machine_guard.h"

#include <algorithm>

#include "pewter/base/environment.h"
#include "pewter/runtime/system_memory.h"

namespace pewter::runtime {
namespace {

// What is left to everything else on the machine.
constexpr std::size_t kReserveDivisor = 32;

}  // namespace

MachineGuard::MachineGuard()
    : enabled_(environment::flag("PEWTER_MEMORY_GUARD", true)),
      other_resident_(resident_memory()),
      reserve_(physical_memory() / kReserveDivisor) {}

void MachineGuard::measure() {
  const std::size_t available = available_memory();
  if (available == 0) {
    enabled_ = false;
    return;
  }
  const std::size_t resident = resident_memory();
  const std::size_t own = resident - std::min(resident, other_resident_);
  budget_ = available + own - std::min(available + own, reserve_);
}

bool MachineGuard::allows(std::size_t held, std::size_t length) {
  if (!enabled_) {
    return true;
  }
  const std::size_t wanted = held + length;
  if (wanted >= recheck_at_) {
    measure();
    if (!enabled_) {
      return true;
    }
    // Others take memory too: look again after a quarter of the room.
    recheck_at_ = wanted < budget_ ? wanted + (budget_ - wanted) / 4 : 0;
  }
  return wanted <= budget_;
}

}  // namespace pewter::runtime
