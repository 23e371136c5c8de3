#pragma once

#include <CLI/CLI.hpp>

/// Each sub-command adds itself to the command line: its flags, its help, and what to do when it is
/// chosen.
///
/// The work throws UsageError or CommandError (tools/failure.h); main() turns them into messages
/// and exit codes.
namespace pewter::tools {

void add_info_command(CLI::App& app);
void add_run_command(CLI::App& app);
void add_cache_command(CLI::App& app);
void add_mem_command(CLI::App& app);
/// `metal`, `metallib` and their companions.
void add_toolchain_commands(CLI::App& app);

}  // namespace pewter::tools
