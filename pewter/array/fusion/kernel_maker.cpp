#include "pewter/array/fusion/kernel_maker.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <system_error>

#include "pewter/base/log.h"
#include "pewter/base/thread.h"

namespace pewter::fusion {

KernelPointer make_kernel(const KernelStructure& structure) {
  logging::detail("fusion", "a text is made for {}", describe(structure));
  const auto library =
      runtime::ShaderLibrary::compile(kernel_text(structure), runtime::MathMode::Safe);
  return library->kernel("generated", runtime::GroupSizes::WholeSimdgroups);
}

KernelMaker& KernelMaker::instance() {
  static auto* const instance = new KernelMaker;
  return *instance;
}

KernelMaker::MainThreadEnd::~MainThreadEnd() {
#if defined(__linux__)
  const bool is_main_thread = gettid() == getpid();
#else
  const bool is_main_thread = pthread_main_np() != 0;
#endif
  if (is_main_thread) {
    instance().stop();
  }
}

bool KernelMaker::request(const std::string& key, const KernelStructure& structure) {
  static thread_local MainThreadEnd main_thread_end;
  static_cast<void>(&main_thread_end);
  const std::scoped_lock lock(mutex_);
  if (is_stopping_) {
    return true;
  }
  if (!ensure_thread()) {
    return false;
  }
  if (asked_for_.insert(key).second) {
    waiting_.push_back({key, structure});
    changed_.notify_all();
  }
  return true;
}

bool KernelMaker::ensure_thread() {
  if (thread_.joinable()) {
    return true;
  }
  try {
    owner_ = getpid();
    thread_ = start_thread("pewter-fusion", [this] { work(); });
  } catch (const std::system_error& error) {
    logging::detail("fusion", "no kernel is made in the background: {}", error.what());
    return false;
  }
  std::atexit([] { instance().stop(); });
  return true;
}

bool KernelMaker::wait_for(const std::string& key) {
  std::unique_lock lock(mutex_);
  std::erase_if(waiting_, [&](const Request& request) { return request.key == key; });
  changed_.wait(lock, [&] { return current_ != key; });
  return std::any_of(made_.begin(), made_.end(),
                     [&](const Made& made) { return made.first == key; });
}

std::vector<KernelMaker::Made> KernelMaker::take() {
  const std::scoped_lock lock(mutex_);
  has_made_.store(false, std::memory_order_relaxed);
  return std::exchange(made_, {});
}

void KernelMaker::work() {
  bool is_first = true;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !waiting_.empty(); });
    if (is_stopping_) {
      return;
    }
    const Request request = std::move(waiting_.front());
    waiting_.pop_front();
    current_ = request.key;
    lock.unlock();
    KernelPointer kernel;
    try {
      kernel = make_kernel(request.structure);
    } catch (const std::exception& failure) {
      logging::detail("fusion", "a kernel was not made: {}", failure.what());
    }
    if (std::exchange(is_first, false)) {
      // Once more: compiling has made static objects, which have to outlive the thread.
      std::atexit([] { instance().stop(); });
    }
    lock.lock();
    current_.clear();
    if (kernel) {
      made_.emplace_back(request.key, std::move(kernel));
      has_made_.store(true, std::memory_order_release);
    }
    changed_.notify_all();
  }
}

void KernelMaker::stop() {
  // A forked child has no such thread, and the lock may never be free there.
  if (getpid() != owner_) {
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    waiting_.clear();
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

}  // namespace pewter::fusion
