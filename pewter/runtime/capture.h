#pragma once

#include <string>

namespace pewter::runtime {

/// Starts to record the device's work: into a trace document at `path`, or for developer tools when
/// it is empty. Throws std::runtime_error, tagged [metal::start_capture], with the reason.
void start_capture(const std::string& path);

/// Ends the recording once the work submitted so far is done; does nothing when there is none.
void stop_capture();

}  // namespace pewter::runtime
