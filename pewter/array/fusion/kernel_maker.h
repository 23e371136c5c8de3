#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pewter/array/fusion/kernel_structure.h"
#include "pewter/runtime/shader_library.h"

namespace pewter::fusion {

using KernelPointer = std::shared_ptr<const runtime::ShaderKernel>;

/// Compiles the kernel of a structure. Throws what compiling throws.
KernelPointer make_kernel(const KernelStructure& structure);

/// Makes kernels on one thread of its own, so that evaluation need not wait for them. The thread
/// starts with the first request, and ends before the program does; what is still waiting then is
/// dropped. Safe to use from any thread.
class KernelMaker {
 public:
  /// The only one; never destroyed.
  static KernelMaker& instance();

  using Made = std::pair<std::string, KernelPointer>;

  /// `key` is the structure's own. Does nothing for a kernel that is asked for already. False when
  /// there is no room for a thread.
  bool request(const std::string& key, const KernelStructure& structure);

  /// Waits for a kernel that the thread is at, and takes one that waits for it away again. True
  /// when it has been made.
  bool wait_for(const std::string& key);

  bool has_made() const { return has_made_.load(std::memory_order_acquire); }
  /// What has been made since the last call; nothing for those that did not compile.
  std::vector<Made> take();

 private:
  struct Request {
    std::string key;
    KernelStructure structure;
  };

  /// Stops when the main thread ends, which is before static objects do: those that the compiler
  /// has made by then are gone when functions of `atexit` run that were registered earlier.
  struct MainThreadEnd {
    ~MainThreadEnd();
  };

  /// Starts it unless it runs. False when there is no room for a thread.
  bool ensure_thread();
  void work();
  void stop();

  std::atomic<bool> has_made_ = false;
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  std::deque<Request> waiting_;
  std::string current_;
  std::unordered_set<std::string> asked_for_;
  std::vector<Made> made_;
  std::thread thread_;
  bool is_stopping_ = false;

  /// The process that has the thread; set once, before it starts.
  int owner_ = 0;
};

}  // namespace pewter::fusion
