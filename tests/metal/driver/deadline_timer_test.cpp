#include "pewter/metal/driver/deadline_timer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <vector>

namespace pewter::driver::test {
namespace {

using std::chrono::milliseconds;

std::mutex order_mutex;  // guards the member `order` of every TestDeadline

struct TestDeadline : Deadline {
  std::vector<int>* order = nullptr;
  int number = 0;
  std::atomic<bool> has_expired = false;
};

void note(Deadline& deadline) {
  auto& self = static_cast<TestDeadline&>(deadline);
  if (self.order != nullptr) {
    std::scoped_lock lock(order_mutex);
    self.order->push_back(self.number);
  }
  self.has_expired = true;
  self.has_expired.notify_all();
}

void wait_for(TestDeadline& deadline) {
  deadline.has_expired.wait(false);
  // Until the call is over, so that the deadline may be destroyed.
  remove_deadline(deadline);
}

TEST_CASE("deadlines expire in the order of their times") {
  std::vector<int> order;
  TestDeadline deadlines[3];
  for (int i = 0; i < 3; ++i) {
    deadlines[i].expired = &note;
    deadlines[i].order = &order;
    deadlines[i].number = i;
  }

  add_deadline(deadlines[2], milliseconds(40));
  add_deadline(deadlines[1], milliseconds(20));
  add_deadline(deadlines[0], milliseconds(1));
  for (TestDeadline& deadline : deadlines) {
    wait_for(deadline);
  }

  std::scoped_lock lock(order_mutex);
  CHECK(order == std::vector<int>{0, 1, 2});
}

TEST_CASE("a deadline that is removed does not expire") {
  TestDeadline removed;
  TestDeadline later;
  removed.expired = later.expired = &note;
  add_deadline(removed, milliseconds(10));
  add_deadline(later, milliseconds(20));

  remove_deadline(removed);
  wait_for(later);

  CHECK(!removed.has_expired);
}

TEST_CASE("a deadline can be used again") {
  TestDeadline deadline;
  deadline.expired = &note;
  for (int i = 0; i < 5; ++i) {
    deadline.has_expired = false;
    add_deadline(deadline, milliseconds(1));
    wait_for(deadline);
  }
  CHECK(deadline.has_expired);
}

TEST_CASE("removing a deadline that was never added does nothing") {
  TestDeadline deadline;
  remove_deadline(deadline);
  CHECK(!deadline.has_expired);
}

}  // namespace
}  // namespace pewter::driver::test
