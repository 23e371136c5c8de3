#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pewter/base/result.h"

namespace pewter::compiler {

/// Why work did not come to its end.
struct Interruption {
  std::string message;
  /// Whether the work ran into a bug of Clang's or LLVM's, and not into a limit at any point of
  /// what it did: then what it had heard before can be read.
  bool is_bug = false;
};

/// Runs work of Clang and LLVM on a thread of its own, and waits for it.
///
/// They are made for programs of good will, and end the process where a text nests too deeply or
/// finds a bug of theirs. Here the thread has a deep stack, and work that uses it up, crashes,
/// meets a fatal error or takes more processor time than `PEWTER_COMPILE_TIMEOUT_MS` fails with the
/// reason. What it held at that moment stays as it is for good: nobody may change it again.
Result<void, Interruption> run_compiler(const std::function<void()>& work);

/// Ends the work of the calling thread, which then fails with this reason. Returns only when the
/// thread does no such work.
void abandon_work(const char* reason);

/// Keeps an object that abandoned work may have left half changed: it is never changed nor freed.
template <typename T>
void leave_for_good(std::unique_ptr<T> object) {
  static auto* mutex = new std::mutex;
  static auto* left = new std::vector<T*>;
  std::scoped_lock lock(*mutex);
  left->push_back(object.release());
}

}  // namespace pewter::compiler
