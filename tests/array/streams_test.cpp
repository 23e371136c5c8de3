#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/ops.h>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace pewter;

namespace {

using Floats = std::vector<float>;

/// Ended streams are those of the thread, so each case has its own.
template <typename Body>
void on_own_thread(const Body& body) {
  std::thread(body).join();
}

}  // namespace

TEST_CASE("a context whose streams are ended leaves a default stream that works") {
  on_own_thread([] {
    const Stream before = default_stream(default_device());
    {
      const StreamContext context(new_stream());
      clear_streams();
      CHECK((ones({3}) + 1.0F).to_vector<float>() == Floats{2, 2, 2});
    }
    CHECK(default_stream(default_device()) != before);
    CHECK((ones({3}) + 2.0F).to_vector<float>() == Floats{3, 3, 3});
    synchronize();
  });
}

TEST_CASE("a stream that has ended is refused by name") {
  on_own_thread([] {
    const Stream ended = new_stream();
    clear_streams();
    const std::string text = " was ended by clear_streams";
    const std::string name = "stream " + std::to_string(ended.index);
    CHECK_THROWS_WITH_AS(set_default_stream(ended), ("[set_default_stream] " + name + text).c_str(),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(synchronize(ended), ("[synchronize] " + name + text).c_str(),
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS(add(ones({1}), ones({1}), ended), ("[stream] " + name + text).c_str(),
                         std::invalid_argument);
    CHECK(ones({2}).to_vector<float>() == Floats{1, 1});
  });
}

TEST_CASE("lazy arrays outlive the streams that they were built for") {
  on_own_thread([] {
    const array on_default = ones({3}) * 2.0F;
    const array on_own = add(on_default, array(1.0F), new_stream());
    const array on_each = add(on_own, array(1.0F), new_thread_local_stream());
    clear_streams();
    CHECK(on_each.to_vector<float>() == Floats{4, 4, 4});
    CHECK(on_own.to_vector<float>() == Floats{3, 3, 3});
  });
}

TEST_CASE("a default stream that another thread ends is replaced") {
  on_own_thread([] {
    std::promise<Stream> made;
    std::promise<void> used;
    std::thread other([&] {
      made.set_value(new_thread_unsafe_stream());
      used.get_future().wait();
      clear_streams();
    });
    const Stream shared = made.get_future().get();
    set_default_stream(shared);
    CHECK(default_stream(shared.device) == shared);
    used.set_value();
    other.join();
    CHECK(default_stream(shared.device) != shared);
    CHECK((ones({3}) + 1.0F).to_vector<float>() == Floats{2, 2, 2});
  });
}
