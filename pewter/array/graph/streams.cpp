#include "pewter/array/graph/streams.h"

#include <fmt/core.h>

#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pewter/runtime/device.h"

namespace pewter::graph {
namespace {

struct Entry {
  Device device;
  StreamUse use = StreamUse::AnyThread;
  bool has_ended = false;
  /// Null until it is used; never set for streams that each thread has one of.
  std::shared_ptr<runtime::Stream> stream;
};

struct Registry {
  std::mutex mutex;
  std::deque<Entry> entries;  // guarded by mutex

  static Registry& instance() {
    // Never destroyed: threads may end after main.
    static auto* const instance = new Registry;
    return *instance;
  }
};

/// What one thread has chosen and made.
struct ThreadStreams {
  Device device{runtime::device_available() ? DeviceType::Gpu : DeviceType::Cpu};
  std::array<int, 2> defaults = {-1, -1};
  std::vector<int> made;
  std::map<std::uint32_t, std::shared_ptr<runtime::Stream>> own;

  ThreadStreams() = default;
  ThreadStreams(const ThreadStreams&) = delete;
  ThreadStreams& operator=(const ThreadStreams&) = delete;
  // The numbers stay valid: graphs that this thread built may be evaluated by another.
  ~ThreadStreams() { release(false); }

  void release(bool ends) {
    std::vector<std::shared_ptr<runtime::Stream>> released;
    Registry& registry = Registry::instance();
    {
      const std::scoped_lock lock(registry.mutex);
      for (const int number : made) {
        Entry& entry = registry.entries[static_cast<std::size_t>(number)];
        entry.has_ended = ends;
        released.push_back(std::exchange(entry.stream, nullptr));
      }
    }
    for (const auto& [number, stream] : own) {
      released.push_back(stream);
    }
    own.clear();
    made.clear();
    defaults = {-1, -1};
    for (const auto& stream : released) {
      if (ends && stream) {
        stream->synchronize();
      }
    }
  }
};

ThreadStreams& thread_streams() {
  thread_local ThreadStreams streams;
  return streams;
}

}  // namespace

std::shared_ptr<runtime::Stream> stream_with(std::uint32_t number) {
  Registry& registry = Registry::instance();
  const std::scoped_lock lock(registry.mutex);
  if (number >= registry.entries.size() || registry.entries[number].has_ended) {
    throw std::runtime_error(
        fmt::format("[eval] stream {} does not exist, or was ended by "
                    "clear_streams",
                    number));
  }
  Entry& entry = registry.entries[number];
  auto& stream = entry.use == StreamUse::EachThread ? thread_streams().own[number] : entry.stream;
  if (!stream) {
    stream = runtime::Stream::create();
  }
  return stream;
}

Stream make_stream(Device device, StreamUse use) {
  ThreadStreams& mine = thread_streams();
  Registry& registry = Registry::instance();
  const std::scoped_lock lock(registry.mutex);
  const auto number = static_cast<int>(registry.entries.size());
  registry.entries.push_back({.device = device, .use = use, .has_ended = false, .stream = nullptr});
  mine.made.push_back(number);
  return {number, device};
}

Device& thread_device() {
  return thread_streams().device;
}

Stream thread_stream(DeviceType type) {
  const Device device(type);
  int& number = thread_streams().defaults[static_cast<std::size_t>(type)];
  if (number < 0) {
    number = make_stream(device, StreamUse::AnyThread).index;
  }
  return {number, device};
}

void set_thread_stream(Stream stream) {
  thread_streams().defaults[static_cast<std::size_t>(stream.device.type)] = stream.index;
}

void end_thread_streams() {
  thread_streams().release(true);
}

void expect_stream(const char* origin, Stream stream) {
  Registry& registry = Registry::instance();
  const std::scoped_lock lock(registry.mutex);
  if (stream.index < 0 || static_cast<std::size_t>(stream.index) >= registry.entries.size() ||
      registry.entries[static_cast<std::size_t>(stream.index)].device != stream.device) {
    throw std::invalid_argument(
        fmt::format("[{}] there is no stream {} on that device", origin, stream.index));
  }
}

}  // namespace pewter::graph
