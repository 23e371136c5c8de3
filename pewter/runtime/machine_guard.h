#pragma once

#include <cstddef>

namespace pewter::runtime {

/// Says when one more buffer would make the machine swap, or the system end the process.
///
/// Memory is only taken when it is touched, so what is allocated counts as if all of it were. The
/// system is asked anew once a part of the room that it reported has been used up. Not safe for
/// several threads: the allocator's mutex guards it.
class MachineGuard {
 public:
  MachineGuard();

  /// Whether `length` more bytes fit beside `held`, which the process has allocated already.
  bool allows(std::size_t held, std::size_t length);
  /// What the process can have in all, as last measured; 0 when the system does not say.
  std::size_t budget() const { return budget_; }

 private:
  void measure();

  bool enabled_ = true;
  // Resident memory that is not the allocator's.
  std::size_t other_resident_ = 0;
  std::size_t reserve_ = 0;
  std::size_t budget_ = 0;
  std::size_t recheck_at_ = 0;
};

}  // namespace pewter::runtime
