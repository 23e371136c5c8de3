#include "pewter/compiler/compile_thread.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <string>

#include "pewter/base/environment.h"
#include "pewter/base/float_environment.h"
#include "pewter/base/sanitizer.h"
#include "pewter/base/signal_chain.h"

namespace pewter::compiler {
namespace {

/// Clang counts on 8 MiB, and text that people write needs less.
constexpr std::size_t kStackBytes = std::size_t{64} << 20;
/// Below the stack: what lets a function of the C library come to its end after an overflow, so
/// that its locks are free again, and a part that is never accessible.
constexpr std::size_t kReserveBytes = std::size_t{1} << 20;
constexpr std::size_t kGuardBytes = std::size_t{64} << 10;
constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;
constexpr std::size_t kMappingBytes = kGuardBytes + kReserveBytes + kStackBytes + kSignalStackBytes;
/// The C library keeps the thread's own data at the top of its stack.
constexpr std::size_t kKeptBytes = std::size_t{512} << 10;

// The sanitizers' check for leaks must see what a thread left behind.
constexpr bool kFreesStacks = PEWTER_ADDRESS_SANITIZER == 0;

constexpr std::uint64_t kDefaultTimeoutMs = 60'000;
/// Memory that work may take, unless the machine has less than four times as much.
constexpr std::uint64_t kMaxMemoryBytes = std::uint64_t{2} << 30;
constexpr long kPatienceNs = 20'000'000;
constexpr long kImpatienceNs = 1'000'000;

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
/// Sent with a value, which tells it from the signals of the executor.
constexpr int kStopSignal = SIGURG;

enum class Outcome : std::uint8_t {
  Done,
  Exception,
  Abandoned,
  Crash,
  StackOverflow,
  Timeout,
  OutOfMemory,
  Ending,
};

/// What the thread, its signal handlers and the thread that waits for it know of each other.
struct Work {
  const std::function<void()>* body = nullptr;
  std::byte* mapping = nullptr;
  sem_t ended;

  /// Set by the thread or its handlers before `ended`.
  Outcome outcome = Outcome::Done;
  int signal = 0;
  std::uintptr_t place = 0;
  std::array<char, 512> reason = {};
  /// What the thread held in registers at its end: a leak check must see it.
  mcontext_t registers = {};

  std::atomic<bool> overflowed = false;
  std::atomic<bool> is_late = false;
  std::atomic<bool> is_greedy = false;
  std::atomic<pid_t> thread_id = 0;

  std::byte* reserve() const { return mapping + kGuardBytes; }
  std::byte* stack() const { return reserve() + kReserveBytes; }
  std::byte* signal_stack() const { return stack() + kStackBytes; }
};

constinit thread_local Work* current_work __attribute__((tls_model("initial-exec"))) = nullptr;
constinit SignalChain chain;

/// The program is about to end, and with it what Clang and LLVM keep in static variables.
std::atomic<bool> is_ending = false;
std::atomic<int> running_work = 0;
pid_t owner = 0;
/// Longer than it takes to stop any work; a thread that cannot be stopped must not keep the
/// program.
constexpr int kMaxEndMs = 2000;
constexpr const char* kEnding = "the program is ending, and its compiler has ended";

class RunningWork {
 public:
  RunningWork() { ++running_work; }
  ~RunningWork() { --running_work; }
  RunningWork(const RunningWork&) = delete;
  RunningWork& operator=(const RunningWork&) = delete;
};

/// Where the machine code of Clang, LLVM and this library is: a thread that is stopped there holds
/// no lock of the C library.
struct CodeRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
constexpr std::size_t kMaxRanges = 16;
std::array<CodeRange, kMaxRanges> code_ranges;

int add_code_ranges(dl_phdr_info* info, std::size_t, void* count) {
  std::size_t& used = *static_cast<std::size_t*>(count);
  const auto own = reinterpret_cast<std::uintptr_t>(&add_code_ranges);
  const bool is_llvm = std::strstr(info->dlpi_name, "libLLVM") != nullptr ||
                       std::strstr(info->dlpi_name, "libclang") != nullptr;
  for (int number = 0; number < info->dlpi_phnum; ++number) {
    const ElfW(Phdr)& header = info->dlpi_phdr[number];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0 || used == kMaxRanges) {
      continue;
    }
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    const std::uintptr_t end = begin + header.p_memsz;
    if (is_llvm || (own >= begin && own < end)) {
      code_ranges[used++] = {begin, end};
    }
  }
  return 0;
}

/// The instruction that a signal interrupted.
std::uintptr_t place_of(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#else
  return static_cast<std::uintptr_t>(machine.pc);
#endif
}

bool is_in_compiler(const void* context) {
  const std::uintptr_t place = place_of(context);
  for (const CodeRange& range : code_ranges) {
    if (place >= range.begin && place < range.end) {
      return true;
    }
  }
  return false;
}

// What the thread was doing may be half done, so it never goes on, and nothing of it is undone.
[[noreturn]] void end_work(Work& work, Outcome outcome) {
  work.outcome = outcome;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  sem_post(&work.ended);
  while (true) {
    syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
  }
}

void set_reason(Work& work, const char* reason) {
  std::strncpy(work.reason.data(), reason, work.reason.size() - 1);
}

// Registered once LLVM is loaded, so it runs before LLVM's own variables are destroyed. A child
// process has a copy of the counter, and none of the threads.
void end_all_work() {
  if (current_work != nullptr) {
    set_reason(*current_work, "internal compiler error: it called exit");
    end_work(*current_work, Outcome::Abandoned);
  }
  is_ending.store(true);
  for (int ms = 0; ms < kMaxEndMs && getpid() == owner && running_work.load() > 0; ++ms) {
    usleep(1000);
  }
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Work* work = current_work;
  // A code above zero means that an instruction did it, not kill(); abort() sends its signal.
  if (work == nullptr || (info->si_code <= 0 && signal != SIGABRT)) {
    chain.pass_on(signal, info, context);
    return;
  }
  work->signal = signal;
  work->place = place_of(context);
  work->registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  const bool below_stack = signal == SIGSEGV && address >= work->mapping && address < work->stack();
  if (below_stack && !is_in_compiler(context) && !work->overflowed.exchange(true) &&
      mprotect(work->reserve(), kReserveBytes, PROT_READ | PROT_WRITE) == 0) {
    return;
  }
  end_work(*work, below_stack ? Outcome::StackOverflow : Outcome::Crash);
}

void on_stop(int signal, siginfo_t* info, void* context) {
  Work* work = current_work;
  if (work == nullptr || info->si_code != SI_QUEUE) {
    chain.pass_on(signal, info, context);
    return;
  }
  // At a bad moment nothing happens: there will be another signal.
  if (is_in_compiler(context)) {
    work->registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
    if (work->overflowed.load()) {
      end_work(*work, Outcome::StackOverflow);
    }
    if (work->is_late.load()) {
      end_work(*work, Outcome::Timeout);
    }
    if (work->is_greedy.load()) {
      end_work(*work, Outcome::OutOfMemory);
    }
    if (is_ending.load()) {
      end_work(*work, Outcome::Ending);
    }
  }
}

void install_handlers() {
  static auto* mutex = new std::mutex;
  std::scoped_lock lock(*mutex);
  if (code_ranges[0].end == 0) {
    std::size_t count = 0;
    dl_iterate_phdr(add_code_ranges, &count);
    owner = getpid();
    std::atexit(&end_all_work);
  }
  for (const int signal : kFaultSignals) {
    chain.install(signal, &on_fault);
  }
  chain.install(kStopSignal, &on_stop);
}

void* run_thread(void* argument) {
  Work& work = *static_cast<Work*>(argument);
  stack_t handler_stack = {};
  handler_stack.ss_sp = work.signal_stack();
  handler_stack.ss_size = kSignalStackBytes;
  sigaltstack(&handler_stack, nullptr);
  current_work = &work;
  work.thread_id.store(static_cast<pid_t>(syscall(SYS_gettid)));
  try {
    const FloatEnvironment float_environment;
    (*work.body)();
  } catch (const std::exception& exception) {
    work.outcome = Outcome::Exception;
    set_reason(work, exception.what());
  }
  current_work = nullptr;
  handler_stack.ss_flags = SS_DISABLE;
  sigaltstack(&handler_stack, nullptr);
  sem_post(&work.ended);
  return nullptr;
}

/// The program's signals are left to the program's threads, as in start_thread().
int start(Work& work, pthread_t& thread) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, work.stack(), kStackBytes);
  sigset_t blocked;
  sigset_t previous;
  sigfillset(&blocked);
  for (const int signal : kFaultSignals) {
    sigdelset(&blocked, signal);
  }
  sigdelset(&blocked, kStopSignal);
  pthread_sigmask(SIG_SETMASK, &blocked, &previous);
  const int problem = pthread_create(&thread, &attributes, &run_thread, &work);
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  pthread_attr_destroy(&attributes);
  if (problem == 0) {
    pthread_setname_np(thread, "pewter-compile");
  }
  return problem;
}

std::uint64_t timeout_ms() {
  static const std::uint64_t timeout =
      environment::number("PEWTER_COMPILE_TIMEOUT_MS").value_or(kDefaultTimeoutMs);
  return timeout;
}

bool took_too_long(clockid_t processor_time) {
  timespec used = {};
  return timeout_ms() != 0 && clock_gettime(processor_time, &used) == 0 &&
         static_cast<std::uint64_t>(used.tv_sec) * 1000 +
                 static_cast<std::uint64_t>(used.tv_nsec) / 1'000'000 >=
             timeout_ms();
}

/// Memory of the process that no other process has, and of the one thread as far as it can be told:
/// what it was the first to touch.
struct MemoryUse {
  std::uint64_t process_bytes = 0;
  std::uint64_t thread_bytes = 0;
};

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::uint64_t memory_limit() {
  static const std::uint64_t limit = std::min(
      kMaxMemoryBytes, static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes() / 4);
  return limit;
}

MemoryUse memory_use(const Work& work) {
  MemoryUse use;
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  if (std::ifstream("/proc/self/statm") >> total >> resident >> shared) {
    use.process_bytes = (resident - std::min(resident, shared)) * page_bytes();
  }
  std::ifstream facts(fmt::format("/proc/self/task/{}/stat", work.thread_id.load()));
  // Behind the name, which has no bracket in it: state, seven numbers, and the pages it touched.
  facts.ignore(std::numeric_limits<std::streamsize>::max(), ')');
  std::string skipped;
  for (int field = 0; field < 7; ++field) {
    facts >> skipped;
  }
  std::uint64_t pages = 0;
  if (facts >> pages) {
    use.thread_bytes = pages * page_bytes();
  }
  return use;
}

// Another thread may take memory at the same time, so both numbers have to tell.
bool takes_too_much(const Work& work, const MemoryUse& before) {
  const MemoryUse now = memory_use(work);
  return now.process_bytes > before.process_bytes + memory_limit() &&
         now.thread_bytes > memory_limit() / 4;
}

void wait_for(Work& work, pthread_t thread) {
  const MemoryUse before = memory_use(work);
  clockid_t processor_time = CLOCK_THREAD_CPUTIME_ID;
  const bool has_clock = pthread_getcpuclockid(thread, &processor_time) == 0;
  bool must_stop = false;
  while (true) {
    timespec until = {};
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += must_stop ? kImpatienceNs : kPatienceNs;
    if (until.tv_nsec >= 1'000'000'000) {
      until.tv_nsec -= 1'000'000'000;
      ++until.tv_sec;
    }
    if (sem_clockwait(&work.ended, CLOCK_MONOTONIC, &until) == 0) {
      return;
    }
    if (has_clock && took_too_long(processor_time)) {
      work.is_late.store(true);
    }
    if (takes_too_much(work, before)) {
      work.is_greedy.store(true);
    }
    must_stop =
        work.is_late.load() || work.is_greedy.load() || work.overflowed.load() || is_ending.load();
    if (must_stop) {
      pthread_sigqueue(thread, kStopSignal, sigval{});
    }
  }
}

/// The function that an instruction belongs to, or its library.
std::string name_of(std::uintptr_t place) {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(place), &info) == 0) {
    return "unknown code";
  }
  if (info.dli_sname == nullptr) {
    return info.dli_fname;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : info.dli_sname;
}

std::string describe(const Work& work) {
  switch (work.outcome) {
    case Outcome::Done:
      break;
    case Outcome::Abandoned:
      return work.reason.data();
    case Outcome::Exception:
      return fmt::format("internal compiler error: {}", work.reason.data());
    case Outcome::Crash:
      return fmt::format("internal compiler error: {} in {}", strsignal(work.signal),
                         name_of(work.place));
    case Outcome::StackOverflow:
      return fmt::format("the text nests too deeply: the compiler's stack of {} MiB is used up",
                         kStackBytes >> 20);
    case Outcome::Timeout:
      return fmt::format(
          "compiling took more than {} ms of processor time; make the text simpler, or set "
          "PEWTER_COMPILE_TIMEOUT_MS",
          timeout_ms());
    case Outcome::OutOfMemory:
      return fmt::format("compiling took more than {} MiB of memory; make the text simpler",
                         memory_limit() >> 20);
    case Outcome::Ending:
      return kEnding;
  }
  return "";
}

}  // namespace

void abandon_work(const char* reason) {
  if (Work* work = current_work) {
    set_reason(*work, reason);
    end_work(*work, Outcome::Abandoned);
  }
}

Result<void, Interruption> run_compiler(const std::function<void()>& body) {
  install_handlers();
  const RunningWork running;
  if (is_ending.load()) {
    return Interruption{kEnding};
  }
  auto work = std::make_unique<Work>();
  void* mapping = mmap(nullptr, kMappingBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) {
    return Interruption{
        fmt::format("no memory for the compiler's stack of {} MiB", kStackBytes >> 20)};
  }
  work->body = &body;
  work->mapping = static_cast<std::byte*>(mapping);
  mprotect(mapping, kGuardBytes + kReserveBytes, PROT_NONE);
  sem_init(&work->ended, 0, 0);
  pthread_t thread = {};
  if (const int problem = start(*work, thread); problem != 0) {
    munmap(mapping, kMappingBytes);
    return Interruption{
        fmt::format("cannot start a thread for the compiler: {}", strerror(problem))};
  }
  wait_for(*work, thread);
  Interruption interruption;
  interruption.message = describe(*work);
  interruption.is_bug = work->outcome == Outcome::Crash || work->outcome == Outcome::Abandoned;
  if (work->outcome == Outcome::Done || work->outcome == Outcome::Exception) {
    pthread_join(thread, nullptr);
    munmap(mapping, kMappingBytes);
    sem_destroy(&work->ended);
    if (!interruption.message.empty()) {
      return interruption;
    }
    return {};
  }
  // The thread waits for ever. It needs its own data and the stack that it stands on, no more.
  pthread_detach(thread);
  if (kFreesStacks && work->outcome != Outcome::Abandoned) {
    madvise(work->stack(), kStackBytes - kKeptBytes, MADV_DONTNEED);
  }
  leave_for_good(std::move(work));
  return interruption;
}

}  // namespace pewter::compiler
