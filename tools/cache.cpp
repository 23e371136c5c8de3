#include <fmt/core.h>
#include <pewter/cache.h>

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "tools/commands.h"
#include "tools/failure.h"
#include "tools/sizes.h"

namespace pewter::tools {
namespace {

constexpr const char* kFooter =
    R"(Compiled kernels are kept on disk, so that a program starts fast the second time.
PEWTER_CACHE=0 switches the cache off; docs/environment.md lists its other settings.

Examples:
  pewter cache            where it is and how full
  pewter cache --clear    delete everything in it
)";

void show_cache() {
  const CacheStatus status = cache_status();
  fmt::print("directory  {}\n", status.directory);
  fmt::print("state      {}\n", status.enabled ? "on" : "off");
  fmt::print("entries    {}\n", status.entries);
  fmt::print("size       {} of at most {}\n", format_bytes(status.bytes),
             format_bytes(status.limit_bytes));
}

void clear() {
  try {
    fmt::print("freed {}\n", format_bytes(clear_kernel_cache()));
  } catch (const std::runtime_error& error) {
    throw CommandError(error.what());
  }
}

}  // namespace

void add_cache_command(CLI::App& app) {
  auto clear_it = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("cache", "Show or clear the cache of compiled kernels");
  command->footer(kFooter);
  command->add_flag("--clear", *clear_it, "Delete every entry");
  command->callback([clear_it] { *clear_it ? clear() : show_cache(); });
}

}  // namespace pewter::tools
