#include "pewter/metal/executor/executor.h"

#include <algorithm>
#include <thread>

#include "pewter/base/environment.h"
#include "pewter/base/float_environment.h"
#include "pewter/base/log.h"
#include "pewter/base/process_instance.h"
#include "pewter/metal/executor/grid_run.h"

namespace pewter::executor {
namespace {

constexpr std::uint64_t kMaxThreads = 1024;

class SharedPool : public WorkerPool {
 public:
  SharedPool()
      : WorkerPool(thread_count(),
                   environment::flag("PEWTER_AFFINITY", false) ? Placement::OneCoreEach
                                                               : Placement::Free) {}
};

constinit ProcessInstance<SharedPool> shared_pool;

}  // namespace

WorkerPool& worker_pool() {
  return shared_pool.get();
}

Fault run(const Dispatch& dispatch) {
  const FloatEnvironment float_environment;
  Grid grid;
  grid.dispatch = &dispatch;
  GridRun run;
  run.start(grid);
  run.advance(false);
  return run.fault();
}

void post(Task& task) {
  worker_pool().post(task);
}

std::uint32_t thread_count() {
  static const std::uint32_t count = [] {
    const std::uint64_t cores = std::max(1U, std::thread::hardware_concurrency());
    const auto wanted = environment::number("PEWTER_THREADS");
    if (wanted && (*wanted == 0 || *wanted > kMaxThreads)) {
      logging::warning("environment", "PEWTER_THREADS={} is not between 1 and {}; using {}",
                       *wanted, kMaxThreads, cores);
      return static_cast<std::uint32_t>(cores);
    }
    return static_cast<std::uint32_t>(wanted.value_or(cores));
  }();
  return count;
}

}  // namespace pewter::executor
