#include "pewter/base/worker_pool.h"

#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace pewter {
namespace {

struct CountingTask : WorkerPool::Task {
  std::atomic<std::uint32_t>* pending = nullptr;
};

void count_down(WorkerPool::Task& task) {
  auto& pending = *static_cast<CountingTask&>(task).pending;
  if (pending.fetch_sub(1) == 1) {
    pending.notify_all();
  }
}

/// Pieces that each thread takes one by one.
class Pieces : public WorkerPool::Job {
 public:
  explicit Pieces(std::uint32_t count) : count_(count) {}

  void help() override { work(); }
  bool has_work() const override { return next_.load() < count_; }

  void work() {
    for (std::uint32_t piece = next_++; piece < count_; piece = next_++) {
      done_.fetch_add(1);
      std::scoped_lock lock(mutex_);
      threads_.insert(std::this_thread::get_id());
    }
  }

  std::uint32_t done() const { return done_.load(); }
  std::size_t thread_count() const { return threads_.size(); }

 private:
  const std::uint32_t count_;
  std::atomic<std::uint32_t> next_ = 0;
  std::atomic<std::uint32_t> done_ = 0;
  std::mutex mutex_;  // guards threads_
  std::set<std::thread::id> threads_;
};

/// Keeps a helper inside until it is opened.
class Gate : public WorkerPool::Job {
 public:
  void help() override {
    entered.store(1);
    entered.notify_all();
    closed_.wait(1);
  }
  bool has_work() const override { return entered.load() == 0; }

  void open() {
    closed_.store(0);
    closed_.notify_all();
  }

  std::atomic<std::uint32_t> entered = 0;

 private:
  std::atomic<std::uint32_t> closed_ = 1;
};

TEST_CASE("every task that is posted runs once") {
  WorkerPool pool(3);
  std::atomic<std::uint32_t> pending = 1000;
  std::vector<CountingTask> tasks(1000);

  for (CountingTask& task : tasks) {
    task.run = &count_down;
    task.pending = &pending;
    pool.post(task);
  }
  wait_until_zero(pending);

  CHECK(pending.load() == 0);
}

TEST_CASE("tasks that follow each other after a pause run too") {
  WorkerPool pool(1);
  for (int i = 0; i < 20; ++i) {
    std::atomic<std::uint32_t> pending = 1;
    CountingTask task;
    task.run = &count_down;
    task.pending = &pending;
    // Long enough for the worker to fall asleep every other time.
    std::this_thread::sleep_for(std::chrono::microseconds(i % 2 * 500));
    pool.post(task);
    wait_until_zero(pending);
  }
}

TEST_CASE("a job is done completely when it is removed") {
  WorkerPool pool(3);
  for (int round = 0; round < 300; ++round) {
    Pieces job(50);
    pool.add(job, 3);
    pool.wake(3);
    job.work();
    pool.remove(job);
    REQUIRE(job.done() == 50);
  }
}

TEST_CASE("no more than the allowed number of workers helps with a job") {
  WorkerPool pool(4);
  Pieces job(20000);

  pool.add(job, 1);
  pool.wake(4);
  job.work();
  pool.remove(job);

  CHECK(job.thread_count() <= 2);
}

TEST_CASE("several jobs at once are all done") {
  WorkerPool pool(2);
  std::vector<std::thread> owners;
  std::atomic<std::uint32_t> done = 0;
  for (int i = 0; i < 4; ++i) {
    owners.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        Pieces job(100);
        pool.add(job, 2);
        pool.wake(2);
        job.work();
        pool.remove(job);
        done += job.done();
      }
    });
  }
  for (std::thread& owner : owners) {
    owner.join();
  }
  CHECK(done.load() == 4 * 100 * 100);
}

TEST_CASE("more tasks than the ring holds all run") {
  WorkerPool pool(1);
  std::atomic<std::uint32_t> pending = 5000;
  std::vector<CountingTask> tasks(5000);
  // The only worker is kept busy by a job until all tasks are posted.
  Gate gate;
  pool.add(gate, 1);
  pool.wake(1);
  gate.entered.wait(0);

  for (CountingTask& task : tasks) {
    task.run = &count_down;
    task.pending = &pending;
    pool.post(task);
  }
  CHECK(pool.has_tasks());
  CHECK(pending.load() == 5000);
  gate.open();
  wait_until_zero(pending);
  pool.remove(gate);

  CHECK_FALSE(pool.has_tasks());
}

TEST_CASE("jobs beyond the number of slots are done by their owners") {
  WorkerPool pool(2);
  std::vector<std::unique_ptr<Pieces>> jobs;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(std::make_unique<Pieces>(10));
    pool.add(*jobs.back(), 2);
  }
  pool.wake(2);
  for (auto& job : jobs) {
    job->work();
    pool.remove(*job);
    CHECK(job->done() == 10);
  }
}

TEST_CASE("a task can wait until the last helper has left a job") {
  WorkerPool pool(2);
  for (int round = 0; round < 50; ++round) {
    std::atomic<std::uint32_t> pending = 1;
    CountingTask task;
    task.run = &count_down;
    task.pending = &pending;
    Gate gate;
    pool.add(gate, 1);
    pool.wake(2);
    gate.entered.wait(0);

    REQUIRE_FALSE(pool.try_remove(gate));
    pool.post_when_left(gate, task);
    CHECK(pending.load() == 1);
    gate.open();
    wait_until_zero(pending);

    CHECK(pool.try_remove(gate));
  }
}

#if defined(__linux__)
TEST_CASE("workers that are roused for nothing sleep again and take what comes later") {
  WorkerPool pool(3);
  for (int i = 0; i < 20; ++i) {
    std::atomic<std::uint32_t> pending = 1;
    CountingTask task;
    task.run = &count_down;
    task.pending = &pending;
    std::this_thread::sleep_for(std::chrono::microseconds(i % 3 * 500));
    pool.rouse();
    pool.post(task);
    wait_until_zero(pending);
  }
}

TEST_CASE("workers that are bound to cores have one each") {
  WorkerPool pool(2, WorkerPool::Placement::OneCoreEach);
  struct Asking : WorkerPool::Task {
    std::atomic<std::uint32_t> pending = 1;
    int cores = 0;
  } asking;
  asking.run = [](WorkerPool::Task& task) {
    auto& self = static_cast<Asking&>(task);
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    self.cores = CPU_COUNT(&allowed);
    self.pending.store(0);
    self.pending.notify_all();
  };

  pool.post(asking);
  wait_until_zero(asking.pending);

  CHECK(asking.cores == 1);
}
#endif

TEST_CASE("a pool can be destroyed while it is idle") {
  for (int i = 0; i < 20; ++i) {
    WorkerPool pool(4);
    CHECK(pool.worker_count() == 4);
  }
}

}  // namespace
}  // namespace pewter
