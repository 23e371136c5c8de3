#include "pewter/array/graph/streams.h"

#include <fmt/core.h>

#include <array>
#include <atomic>
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
  /// How often streams were ended.
  std::atomic<std::uint64_t> ends = 0;

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
  /// Registry::ends when the defaults were last seen to be there.
  std::uint64_t ends_seen = 0;
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
    if (!ends) {
      return;
    }
    registry.ends.fetch_add(1, std::memory_order_acq_rel);
    std::erase(released, nullptr);
    for (const auto& stream : released) {
      stream->wait_on_host(stream->open_task());
    }
    for (const auto& stream : released) {
      stream->synchronize();
    }
  }

  void replace_ended() {
    Registry& registry = Registry::instance();
    const std::uint64_t ends = registry.ends.load(std::memory_order_acquire);
    if (ends == ends_seen) {
      return;
    }
    ends_seen = ends;
    const std::scoped_lock lock(registry.mutex);
    for (int& number : defaults) {
      if (number >= 0 && registry.entries[static_cast<std::size_t>(number)].has_ended) {
        number = -1;
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
  std::unique_lock lock(registry.mutex);
  if (number < registry.entries.size() && registry.entries[number].has_ended) {
    // Graphs outlive the streams that they were built for.
    const DeviceType type = registry.entries[number].device.type;
    lock.unlock();
    number = static_cast<std::uint32_t>(thread_stream(type).index);
    lock.lock();
  }
  if (number >= registry.entries.size()) {
    throw std::runtime_error(fmt::format("[eval] there is no stream {}", number));
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
  ThreadStreams& mine = thread_streams();
  mine.replace_ended();
  int& number = mine.defaults[static_cast<std::size_t>(type)];
  if (number < 0) {
    number = make_stream(device, StreamUse::AnyThread).index;
  }
  return {number, device};
}

void set_thread_stream(Stream stream) {
  ThreadStreams& mine = thread_streams();
  // It may have ended since it was the default before.
  mine.ends_seen = 0;
  mine.defaults[static_cast<std::size_t>(stream.device.type)] = stream.index;
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
  if (registry.entries[static_cast<std::size_t>(stream.index)].has_ended) {
    throw std::invalid_argument(
        fmt::format("[{}] stream {} was ended by clear_streams", origin, stream.index));
  }
}

}  // namespace pewter::graph
