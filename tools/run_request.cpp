#include "tools/run_request.h"

#include <algorithm>
#include <limits>

#include "tools/failure.h"
#include "tools/nearest_name.h"
#include "tools/sizes.h"
#include "tools/split.h"

namespace pewter::tools {
namespace {

constexpr std::size_t kGridDimensions = 3;

std::vector<std::uint64_t> parse_grid(const std::string& text, std::string_view flag) {
  const auto shape = parse_shape(text, flag, kGridDimensions);
  for (const std::uint64_t length : shape) {
    if (length > std::numeric_limits<std::uint32_t>::max()) {
      usage_error("{} '{}': a dimension is at most 4294967295", flag, text);
    }
  }
  return shape;
}

/// Splits each `NAME=REST` and parses the rest with `parse`; refuses a name given twice.
template <typename T, typename Parse>
std::vector<Named<T>> parse_named(const std::vector<std::string>& texts,
                                  std::string_view flag,
                                  std::string_view form,
                                  Parse&& parse) {
  std::vector<Named<T>> parsed;
  for (const std::string& text : texts) {
    auto [name, rest] = split_assignment(text, flag, form);
    const bool twice =
        std::any_of(parsed.begin(), parsed.end(),
                    [&wanted = name](const auto& other) { return other.name == wanted; });
    if (twice) {
      usage_error("{} '{}' is given twice", flag, name);
    }
    parsed.push_back({name, parse(rest)});
  }
  return parsed;
}

void check_buffer_exists(const std::string& name,
                         std::string_view flag,
                         const RunRequest& request) {
  std::vector<std::string> names;
  for (const auto& buffer : request.buffers) {
    names.push_back(buffer.name);
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    usage_error("{}: there is no --buffer '{}'{}", flag, name, suggestion(name, names));
  }
}

}  // namespace

RunRequest parse_run_flags(const RunFlags& flags) {
  RunRequest request;
  request.file = flags.file;
  request.kernel = flags.kernel;
  request.grid = parse_grid(flags.grid, "--grid");
  if (!flags.group.empty()) {
    request.group = parse_grid(flags.group, "--group");
  }

  std::uint64_t ordinal = 0;
  request.buffers = parse_named<BufferSource>(
      flags.buffers, "--buffer", "NAME=SOURCE", [&](const std::string& text) {
        // Every buffer has numbers of its own, whatever the seed.
        return parse_buffer_source(text, flags.seed * 31 + ordinal++);
      });
  request.bytes = parse_named<TypedValue>(
      flags.bytes, "--bytes", "NAME=TYPE:VALUE",
      [](const std::string& text) { return parse_typed_value(text, "--bytes"); });
  request.threadgroup = parse_named<std::uint64_t>(
      flags.threadgroup, "--threadgroup", "NAME=BYTES",
      [](const std::string& text) { return parse_count(text, "--threadgroup"); });
  request.constants = parse_named<TypedValue>(
      flags.constants, "--constant", "INDEX=TYPE:VALUE",
      [](const std::string& text) { return parse_typed_value(text, "--constant"); });
  request.save = parse_named<std::string>(flags.save, "--save", "NAME=FILE.npy",
                                          [](const std::string& text) { return text; });
  for (const std::string& text : flags.defines) {
    const bool bare = text.find('=') == std::string::npos;
    auto [name, value] = split_assignment(bare ? text + "=1" : text, "--define", "NAME[=VALUE]");
    request.defines.push_back({name, value});
  }

  request.show = flags.show;
  for (const std::string& name : request.show) {
    check_buffer_exists(name, "--show", request);
  }
  for (const auto& [name, file] : request.save) {
    check_buffer_exists(name, "--save", request);
    if (!file.ends_with(".npy")) {
      usage_error("--save '{}': the file name must end in .npy", file);
    }
  }
  request.repeat = flags.repeat;
  if (request.repeat == 0) {
    usage_error("--repeat must be at least 1");
  }
  request.time = flags.time;
  return request;
}

}  // namespace pewter::tools
