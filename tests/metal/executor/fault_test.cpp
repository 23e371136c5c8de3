#include "pewter/metal/executor/fault.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <thread>

#include "tests/metal/executor/executor_support.h"

namespace pewter::executor::test {
namespace {

bool a_kernel_still_runs() {
  const auto kernel = fiber_kernel("tree_sum");
  std::vector<std::uint32_t> values(256, 1);
  const Fault fault = run(dispatch(*kernel, {256}, {128}, {values.data()}, 512));
  return !fault && values == std::vector<std::uint32_t>(256, 128);
}

TEST_CASE("a write through a null pointer ends the grid with a page fault") {
  const auto kernel = plain_kernel("write_to_null");

  const Fault fault = run(dispatch(*kernel, {1000}, {10}));

  CHECK(fault.kind == FaultKind::PageFault);
  CHECK(fault.address == 0);
  CHECK(a_kernel_still_runs());
}

TEST_CASE("a fault names the address and the group, and drops groups that have not begun") {
  const auto kernel = plain_kernel("fault_in_one_group");
  std::uint32_t finished = 0;
  const std::uint32_t bad_group = 7;

  const Fault fault = run(dispatch(*kernel, {1000000}, {1}, {&finished, &bad_group}));

  CHECK(fault.kind == FaultKind::PageFault);
  CHECK(fault.address == 0x1234);
  CHECK(fault.group[0] == 7);
  CHECK(finished < 999999);
}

TEST_CASE("an access past the end of threadgroup memory is a page fault") {
  const auto kernel = plain_kernel("touch_threadgroup_memory");
  const std::uint32_t past_the_end = 256;

  CHECK(run(dispatch(*kernel, {1}, {1}, {&past_the_end}, 256)).kind == FaultKind::PageFault);
}

TEST_CASE("a division by zero is an arithmetic fault") {
  const auto kernel = plain_kernel("divide_by_zero");
  std::int32_t numbers[] = {1, 0};

  CHECK(run(dispatch(*kernel, {1}, {1}, {numbers})).kind == FaultKind::Arithmetic);
  CHECK(a_kernel_still_runs());
}

TEST_CASE("an illegal instruction ends the grid") {
  const auto kernel = plain_kernel("illegal_instruction");

  CHECK(run(dispatch(*kernel, {1}, {1})).kind == FaultKind::IllegalInstruction);
  CHECK(a_kernel_still_runs());
}

TEST_CASE("endless recursion is a stack overflow") {
  const auto kernel = plain_kernel("recurse_for_ever");

  CHECK(run(dispatch(*kernel, {64}, {8})).kind == FaultKind::StackOverflow);
  CHECK(a_kernel_still_runs());
}

TEST_CASE("endless recursion on a fiber is a stack overflow") {
  const auto kernel = fiber_kernel("recurse_after_barrier");

  CHECK(run(dispatch(*kernel, {64}, {32})).kind == FaultKind::StackOverflow);
  CHECK(a_kernel_still_runs());
}

TEST_CASE("a fault on a fiber leaves the stacks usable") {
  const auto kernel = fiber_kernel("fault_after_barrier");
  for (int i = 0; i < 100; ++i) {
    const Fault fault = run(dispatch(*kernel, {256}, {64}));
    REQUIRE(fault.kind == FaultKind::PageFault);
    REQUIRE(fault.address == 0x1234);
  }
  CHECK(a_kernel_still_runs());
}

TEST_CASE("threads of the program that end after a fault leave nothing behind") {
  const auto kernel = plain_kernel("write_to_null");
  for (int i = 0; i < 20; ++i) {
    FaultKind kind = FaultKind::None;
    std::thread([&] { kind = run(dispatch(*kernel, {4}, {1})).kind; }).join();
    REQUIRE(kind == FaultKind::PageFault);
  }
}

sigjmp_buf after_program_fault;

TEST_CASE("a fault outside kernels goes to the program's own handler") {
  struct sigaction action = {};
  struct sigaction saved = {};
  action.sa_handler = [](int) { siglongjmp(after_program_fault, 1); };
  sigaction(SIGSEGV, nullptr, &saved);
  sigaction(SIGSEGV, &action, nullptr);
  // Loading puts the executor's handler in front of the program's.
  const auto kernel = plain_kernel("write_to_null");
  REQUIRE(run(dispatch(*kernel, {1}, {1})).kind == FaultKind::PageFault);

  bool handled = false;
  if (sigsetjmp(after_program_fault, 1) == 0) {
    raise(SIGSEGV);
  } else {
    handled = true;
  }

  CHECK(handled);
  sigaction(SIGSEGV, &saved, nullptr);
}

struct sigaction before_chaining;
int chained_count = 0;
constexpr int kEndlessChain = 42;

void chaining_handler(int signal, siginfo_t* info, void* context) {
  if (++chained_count > 3) {
    _exit(kEndlessChain);
  }
  before_chaining.sa_sigaction(signal, info, context);
}

TEST_CASE("a handler that passes faults on to ours does not get them back for ever") {
  const auto kernel = plain_kernel("write_to_null");
  const pid_t child = fork();
  if (child == 0) {
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = &chaining_handler;
    sigaction(SIGSEGV, &action, &before_chaining);
    ensure_fault_handlers();
    if (run(dispatch(*kernel, {1}, {1})).kind != FaultKind::PageFault || chained_count != 0) {
      _exit(0);
    }
    // Whoever comes last, the test framework or a sanitizer, would report the crash.
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    raise(SIGSEGV);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);

  const bool ends_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  const bool is_endless = WIFEXITED(status) && WEXITSTATUS(status) == kEndlessChain;
  CHECK(!ends_well);
  CHECK(!is_endless);
}

TEST_CASE("a fault outside kernels ends a process that has no handler") {
  const auto kernel = plain_kernel("write_to_null");
  REQUIRE(run(dispatch(*kernel, {1}, {1})).kind == FaultKind::PageFault);

  const pid_t child = fork();
  if (child == 0) {
    // A handler of a sanitizer or of the test framework may stand behind the executor's.
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(SIGSEGV, &action, nullptr);
    install_fault_handlers();
    volatile std::uintptr_t nowhere = 16;
    *reinterpret_cast<volatile int*>(nowhere) = 1;
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);

  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
}

}  // namespace
}  // namespace pewter::executor::test
