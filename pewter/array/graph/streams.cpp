#include "pewter/array/graph/streams.h"

#include <fmt/core.h>

#include <algorithm>
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
  StreamUse use = StreamUse::OwnThread;
  bool has_ended = false;
  /// Whether the only thread that it was made for has ended.
  bool is_left = false;
  /// Null until it is used; never set for streams that each thread has one of.
  std::shared_ptr<runtime::Stream> stream;
};

struct Registry {
  std::mutex mutex;
  std::deque<Entry> entries;  // guarded by mutex
  /// Those of ended threads that had work to do when they were last looked at.
  std::vector<int> busy;  // guarded by mutex
  /// How often streams were ended.
  std::atomic<std::uint64_t> ends = 0;

  static Registry& instance() {
    // Never destroyed: threads may end after main.
    static auto* const instance = new Registry;
    return *instance;
  }

  Entry& at(int number) { return entries[static_cast<std::size_t>(number)]; }

  /// Takes the streams of ended threads that have nothing to do any more: each has a queue, and
  /// those of many threads would pile up. The mutex must be held.
  std::vector<std::shared_ptr<runtime::Stream>> take_idle() {
    std::vector<std::shared_ptr<runtime::Stream>> idle;
    std::erase_if(busy, [&](int number) {
      Entry& entry = at(number);
      // Whoever else holds it is about to use it.
      if (entry.stream && (entry.stream.use_count() > 1 || !entry.stream->idle())) {
        return false;
      }
      idle.push_back(std::exchange(entry.stream, nullptr));
      return true;
    });
    return idle;
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
  ~ThreadStreams() { leave(); }

  // The numbers stay valid: graphs that this thread built may be evaluated by another, and what it
  // has begun may be waited for.
  void leave() {
    // The lock may never be free in a child.
    if (runtime::in_bad_fork()) {
      return;
    }
    std::vector<std::shared_ptr<runtime::Stream>> left;
    Registry& registry = Registry::instance();
    std::unique_lock lock(registry.mutex);
    for (const int number : made) {
      Entry& entry = registry.at(number);
      if (entry.use == StreamUse::OwnThread && !entry.has_ended) {
        entry.is_left = true;
        registry.busy.push_back(number);
        left.push_back(entry.stream);
      }
    }
    lock.unlock();
    std::erase(left, nullptr);
    for (const auto& stream : left) {
      stream->commit();
    }
    left.clear();
    lock.lock();
    left = registry.take_idle();
    lock.unlock();
  }

  /// Ends what the thread made.
  void end() {
    std::vector<std::shared_ptr<runtime::Stream>> released;
    Registry& registry = Registry::instance();
    {
      const std::scoped_lock lock(registry.mutex);
      for (const int number : made) {
        Entry& entry = registry.at(number);
        entry.has_ended = true;
        released.push_back(std::exchange(entry.stream, nullptr));
      }
    }
    for (const auto& [number, stream] : own) {
      released.push_back(stream);
    }
    own.clear();
    made.clear();
    defaults = {-1, -1};
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
      if (number >= 0 && registry.at(number).has_ended) {
        number = -1;
      }
    }
  }
};

// Trivial, so that it is there for destructors of static objects, which may compute arrays after
// the objects of their thread are gone. What those make stays.
thread_local ThreadStreams* streams_of_thread = nullptr;

/// Ends with its thread.
struct ThreadEnd {
  ~ThreadEnd() { delete std::exchange(streams_of_thread, nullptr); }
};

ThreadStreams& thread_streams() {
  if (streams_of_thread == nullptr) {
    streams_of_thread = new ThreadStreams;
    const thread_local ThreadEnd end;
  }
  return *streams_of_thread;
}

}  // namespace

std::shared_ptr<runtime::Stream> stream_with(std::uint32_t number) {
  Registry& registry = Registry::instance();
  std::unique_lock lock(registry.mutex);
  if (number < registry.entries.size() &&
      (registry.entries[number].has_ended ||
       (registry.entries[number].is_left && !registry.entries[number].stream))) {
    // Graphs outlive the streams and the threads that they were built for.
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
  // Destroyed when the mutex is free again.
  std::vector<std::shared_ptr<runtime::Stream>> idle;
  const std::scoped_lock lock(registry.mutex);
  idle = registry.take_idle();
  const auto number = static_cast<int>(registry.entries.size());
  registry.entries.push_back({.device = device, .use = use, .stream = nullptr});
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
    number = make_stream(device, StreamUse::OwnThread).index;
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
  thread_streams().end();
}

void synchronize_thread_streams() {
  std::vector<std::shared_ptr<runtime::Stream>> streams;
  {
    const ThreadStreams& mine = thread_streams();
    Registry& registry = Registry::instance();
    const std::scoped_lock lock(registry.mutex);
    const auto add = [&](const std::shared_ptr<runtime::Stream>& stream) {
      if (stream && std::find(streams.begin(), streams.end(), stream) == streams.end()) {
        streams.push_back(stream);
      }
    };
    for (const auto& [number, stream] : mine.own) {
      add(stream);
    }
    for (const int number : mine.made) {
      add(registry.at(number).stream);
    }
    for (const int number : mine.defaults) {
      add(number >= 0 ? registry.at(number).stream : nullptr);
    }
  }
  for (const auto& stream : streams) {
    stream->wait_on_host(stream->open_task());
  }
  for (const auto& stream : streams) {
    stream->synchronize();
  }
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
