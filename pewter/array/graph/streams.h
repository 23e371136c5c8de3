#pragma once

#include <pewter/device.h>

#include <cstdint>
#include <memory>

#include "pewter/runtime/stream.h"

/// The streams that programs name by number. Safe to use from any thread.
namespace pewter::graph {

/// The runtime's stream behind a number, made at its first use; the calling thread's default stream
/// on the same device when that one has ended, or its thread has and nothing is left to do on it.
/// Throws std::runtime_error without a device.
std::shared_ptr<runtime::Stream> stream_with(std::uint32_t number);

/// Who may use a stream that is made.
enum class StreamUse : std::uint8_t { OwnThread, AnyThread, EachThread };
Stream make_stream(Device device, StreamUse use);

/// The calling thread's defaults.
Device& thread_device();
/// A default that has ended is replaced.
Stream thread_stream(DeviceType type);
void set_thread_stream(Stream stream);
/// Ends the streams that the calling thread made, after their work. Throws the first failure of
/// theirs that nobody has seen.
void end_thread_streams();

/// Waits for everything submitted to the streams that the calling thread made or has as defaults.
/// Throws the first failure of theirs that nobody has seen.
void synchronize_thread_streams();

/// Throws std::invalid_argument, tagged with `origin`, for a number that was never given out and
/// for a stream that has ended.
void expect_stream(const char* origin, Stream stream);

}  // namespace pewter::graph
