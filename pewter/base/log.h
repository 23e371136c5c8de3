#pragma once

#include <fmt/core.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

/// The process's one logger: `pewter[area]: warning: text` on standard error.
///
/// `PEWTER_LOG` is a comma-separated list of areas whose details are wanted ("compiler,cache"), or
/// "all". Warnings are always shown. Safe to use from any thread.
namespace pewter::logging {

enum class Level { Detail, Warning, Error };

/// Whether details of `area` are wanted; ask before building an expensive message.
bool wanted(std::string_view area);

/// Writes one line.
void write(Level level, std::string_view area, const std::string& text);

/// Sends lines to `sink` instead of standard error; an empty function restores it.
void set_sink(std::function<void(Level, std::string_view, const std::string&)> sink);

template <typename... Arguments>
void detail(std::string_view area,
            fmt::format_string<Arguments...> format,
            Arguments&&... arguments) {
  if (wanted(area)) {
    write(Level::Detail, area, fmt::format(format, std::forward<Arguments>(arguments)...));
  }
}

template <typename... Arguments>
void warning(std::string_view area,
             fmt::format_string<Arguments...> format,
             Arguments&&... arguments) {
  write(Level::Warning, area, fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <typename... Arguments>
void error(std::string_view area,
           fmt::format_string<Arguments...> format,
           Arguments&&... arguments) {
  write(Level::Error, area, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace pewter::logging
