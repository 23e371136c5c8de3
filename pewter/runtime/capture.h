#pragma once

#include <string>

namespace pewter::runtime {

/// Starts to record the device's work: into a trace document at `path`, or for developer tools when
/// it is empty. Throws std::runtime_error, tagged with `origin`, with the reason.
void start_capture(const std::string& path, const std::string& origin);

/// Ends the recording once the work submitted so far is done; does nothing when there is none.
/// Throws what the work failed with, after the recording has ended.
void stop_capture();

/// Whether the device writes trace documents: the same answer for the life of the process.
bool capture_supported();

/// Whether a recording is under way, whoever started it.
bool capturing();

/// `name` with the process's next number before its last component and the ending of trace
/// documents: "0000-name.gputrace".
std::string numbered_trace_path(const std::string& name);

}  // namespace pewter::runtime
