#pragma once

#include <cstdint>
#include <functional>
#include <thread>

namespace pewter {

/// Starts a thread of the library's own.
///
/// The program's signals are left to the program's threads: all are blocked here but those that an
/// instruction causes. Neither does it have the rounding mode or the traps of the thread that
/// starts it. `name` has at most 15 characters. Throws std::system_error when there is no room for
/// a thread.
std::thread start_thread(const char* name, std::function<void()> body);

/// The same for a thread that nobody waits for. Returns false when there is no room for it, and
/// writes to the log what follows from that.
bool start_detached_thread(const char* name,
                           std::function<void()> body,
                           const char* what_follows_without);

/// A number that is another one in a process that was forked from this one, which has none of the
/// threads of this one.
std::uint32_t fork_generation();

/// The core that the calling thread runs on, if the system tells, and how many there may be.
std::uint32_t current_core();
std::uint32_t core_count();

}  // namespace pewter
