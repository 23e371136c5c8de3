#include "pewter/compiler/mode_choice.h"

#include <fmt/core.h>

#include <charconv>

#include "pewter/base/environment.h"
#include "pewter/base/log.h"
#include "pewter/compiler/plain_failure.h"

namespace pewter::compiler {
namespace {

constexpr std::uint32_t kMinLanes = 8;
constexpr std::uint32_t kMaxLanes = 1024;

bool is_lane_count(std::uint64_t lanes) {
  return lanes >= kMinLanes && lanes <= kMaxLanes && (lanes & (lanes - 1)) == 0;
}

/// What `PEWTER_MODE` and `PEWTER_LANES` say, read once.
struct ModeSettings {
  ExecutionMode mode = ExecutionMode::Spmd;
  std::uint32_t lanes = 0;
  bool is_mode_asked = false;
};

const ModeSettings& mode_settings() {
  static const ModeSettings settings = [] {
    ModeSettings found;
    const std::string mode = environment::text("PEWTER_MODE").value_or("");
    found.is_mode_asked = mode == "scalar" || mode == "spmd";
    if (mode == "scalar") {
      found.mode = ExecutionMode::Scalar;
    } else if (!mode.empty() && !found.is_mode_asked) {
      logging::warning("environment", "PEWTER_MODE={} is neither 'scalar' nor 'spmd'; using spmd",
                       mode);
    }
    if (const auto lanes = environment::number("PEWTER_LANES")) {
      if (is_lane_count(*lanes)) {
        found.lanes = static_cast<std::uint32_t>(*lanes);
      } else {
        logging::warning("environment",
                         "PEWTER_LANES={} is not a power of two from {} to {}; choosing by kernel",
                         *lanes, kMinLanes, kMaxLanes);
      }
    }
    return found;
  }();
  return settings;
}

/// For requests that do not say themselves.
Result<void, CompileFailure> follow_macros(const LibraryOptions& options, KernelRequest& request) {
  for (const auto& [name, value] : options.macros) {
    if (name == "PEWTER_MODE" && request.mode == ExecutionMode::Default) {
      if (value != "scalar" && value != "spmd") {
        return plain_failure(
            fmt::format("macro PEWTER_MODE is '{}'; it may be scalar or spmd", value));
      }
      request.mode = value == "scalar" ? ExecutionMode::Scalar : ExecutionMode::Spmd;
    }
    if (name == "PEWTER_LANES" && request.lanes == 0) {
      const char* end = value.data() + value.size();
      std::uint32_t lanes = 0;
      const auto [stop, error] = std::from_chars(value.data(), end, lanes);
      if (error != std::errc() || stop != end || !is_lane_count(lanes)) {
        return plain_failure(
            fmt::format("macro PEWTER_LANES is '{}'; it may be a power of two from {} to {}", value,
                        kMinLanes, kMaxLanes));
      }
      request.lanes = lanes;
    }
  }
  return {};
}

}  // namespace

Result<void, CompileFailure> settle_mode(const LibraryOptions& options, KernelRequest& request) {
  if (auto followed = follow_macros(options, request); !followed) {
    return followed;
  }
  if (request.mode == ExecutionMode::Default) {
    request.mode = mode_settings().mode;
  }
  if (request.mode == ExecutionMode::Scalar) {
    request.lanes = 0;
    request.shape = {};
    request.parts = GroupParts::Needed;
  } else if (request.lanes == 0) {
    request.lanes = mode_settings().lanes;
  }
  if (request.lanes != 0 && !is_lane_count(request.lanes)) {
    return plain_failure(fmt::format("{} lanes: a program has a power of two from {} to {}",
                                     request.lanes, kMinLanes, kMaxLanes));
  }
  return {};
}

bool leaves_mode_open(const LibraryOptions& options, const KernelRequest& request) {
  KernelRequest asked = request;
  return follow_macros(options, asked) && asked.mode == ExecutionMode::Default &&
         asked.lanes == 0 && !mode_settings().is_mode_asked && mode_settings().lanes == 0;
}

}  // namespace pewter::compiler
