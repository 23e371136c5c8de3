#include "pewter/base/signal_chain.h"

#include <doctest/doctest.h>
#include <signal.h>

namespace pewter {
namespace {

constexpr int kSignal = SIGUSR2;

constinit SignalChain chain;
int seen_by_ours = 0;
int seen_by_theirs = 0;
int seen_by_newcomer = 0;

void ours(int signal, siginfo_t* info, void* context) {
  ++seen_by_ours;
  chain.pass_on(signal, info, context);
}

void theirs(int) {
  ++seen_by_theirs;
}

struct sigaction before_newcomer;

// As a library does that was started after ours: it gives back what is not its own.
void newcomer(int signal, siginfo_t* info, void* context) {
  ++seen_by_newcomer;
  before_newcomer.sa_sigaction(signal, info, context);
}

}  // namespace

TEST_CASE("a signal that is not ours reaches each handler before ours once") {
  struct sigaction saved = {};
  struct sigaction action = {};
  action.sa_handler = theirs;
  sigaction(kSignal, &action, &saved);
  chain.install(kSignal, &ours);
  REQUIRE(SignalChain::is_installed(kSignal, &ours));

  raise(kSignal);

  CHECK(seen_by_ours == 1);
  CHECK(seen_by_theirs == 1);

  // Somebody comes after us, then we go before them: two handlers that pass to each other.
  action = {};
  action.sa_sigaction = newcomer;
  action.sa_flags = SA_SIGINFO;
  sigaction(kSignal, &action, &before_newcomer);
  CHECK(!SignalChain::is_installed(kSignal, &ours));
  chain.install(kSignal, &ours);

  raise(kSignal);

  CHECK(seen_by_newcomer == 1);
  CHECK(seen_by_theirs == 2);
  sigaction(kSignal, &saved, nullptr);
}

}  // namespace pewter
