#include "bench/support/measure.h"
#include "bench/works/works.h"

// What it costs to have nothing done.
namespace bench {
namespace {

constexpr int kQueued = 10'000;
constexpr int kRoundTrips = 100;

/// `count` dispatches of `groups` groups, `per_finish` of them to each wait.
Prepared empty(int count, int per_finish, std::size_t threads, std::size_t group) {
  std::shared_ptr<Kernel> kernel = shared_device().kernel("elementwise", "empty");
  return {.run =
              [=] {
                for (int i = 0; i < count; i += per_finish) {
                  for (int j = 0; j < per_finish; ++j) {
                    shared_device().dispatch(*kernel, {threads}, {group}, {});
                  }
                  shared_device().finish();
                }
              },
          .check = {}};
}

}  // namespace

void add_dispatch_works() {
  constexpr Unit kTime = Unit::Microseconds;
  add("dispatch_queued", kTime, kQueued, [] { return empty(kQueued, kQueued, 1, 1); });
  add("dispatch_queued_256_groups", kTime, kQueued,
      [] { return empty(kQueued, kQueued, 65536, 256); });
  add("dispatch_round_trip", kTime, kRoundTrips, [] { return empty(kRoundTrips, 1, 1, 1); });
  add("dispatch_round_trip_256_groups", kTime, kRoundTrips,
      [] { return empty(kRoundTrips, 1, 65536, 256); });
}

}  // namespace bench
