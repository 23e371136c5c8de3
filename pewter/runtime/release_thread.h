#pragma once

#include <functional>

namespace pewter::runtime {

/// Calls the end of adopted memory on a thread of the library's own, one after another, for threads
/// that complete a task: there it could neither wait for that task's stream nor compute arrays.
///
/// The program's end waits a while for what has been handed over. Called at once where no thread
/// can be started. It must not throw. Safe to use from any thread.
void release_elsewhere(std::function<void()> release) noexcept;

}  // namespace pewter::runtime
