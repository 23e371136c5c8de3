#include <doctest/doctest.h>
#include <pewter/eval.h>
#include <pewter/fast.h>
#include <pewter/ops.h>
#include <Metal/Metal.hpp>

#include <cstdint>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pewter/array/graph/node.h"
#include "pewter/array/graph/streams.h"

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

TEST_CASE("a context of neither a stream nor a device is refused and changes nothing") {
  on_own_thread([] {
    const Stream before = default_stream(default_device());

    CHECK_THROWS_WITH_AS(StreamContext{StreamOrDevice()},
                         "[StreamContext] neither a stream nor a device is given",
                         std::runtime_error);

    CHECK(default_stream(default_device()) == before);
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

TEST_CASE("lazy arrays of threads that have ended need no streams of theirs") {
  const auto default_of_this =
      graph::stream_with(static_cast<std::uint32_t>(default_stream(default_device()).index));
  for (const bool has_computed : {false, true}) {
    CAPTURE(has_computed);
    array built(0.0F);
    on_own_thread([&] {
      if (has_computed) {
        eval(ones({3}) * 5.0F);
      }
      built = ones({3}) + 1.0F;
    });
    CHECK(graph::stream_with(built.node().stream) == default_of_this);
    CHECK(built.to_vector<float>() == Floats{2, 2, 2});
  }
}

TEST_CASE("a stream whose thread has ended is waited for by name") {
  const auto kernel = fast::metal_kernel("slow_stream", {}, {"out"}, R"(
      float sum = 0;
      for (int i = 0; i < 5000000; ++i) { sum += metal::sin(float(i)); }
      out[0] = sum == 0 ? 1 : 2;)");
  fast::CustomKernelCall call;
  call.output_shapes = {{1}};
  call.output_dtypes = {Dtype::Float32};
  call.init_value = 7.0F;
  eval(kernel(call)[0]);
  for (Stream (*const make)(Device) : {new_stream, new_thread_unsafe_stream}) {
    array slow(0.0F);
    Stream stream;
    on_own_thread([&] {
      stream = make(DeviceType::Gpu);
      call.stream = stream;
      slow = kernel(call)[0];
      async_eval(slow);
    });
    const volatile auto* result = static_cast<float*>(slow.metal_buffer()->contents());

    synchronize(stream);

    CHECK(*result == 2);
    CHECK(add(slow, array(1.0F), stream).item<float>() == 3);
  }
}
