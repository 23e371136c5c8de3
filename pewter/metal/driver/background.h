#pragma once

#include <functional>

namespace pewter::driver {

/// Runs `task` on a thread of the driver's: the asynchronous forms of compilation. Several tasks
/// may run at once.
void run_in_background(std::function<void()> task);

}  // namespace pewter::driver
