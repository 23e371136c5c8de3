#pragma once

#include <memory>

#include "bench/support/device.h"

/// The works that run kernels, by what they strain. Each function registers its own.
namespace bench {

/// The device, opened by the first work that needs it.
Device& shared_device();

void add_memory_works();
void add_compute_works();
void add_divergent_works();
void add_dispatch_works();
/// `executable` runs itself in child processes, because caches belong to a process.
void add_compile_works(const char* executable);
/// For the child: measures one compilation and prints its seconds. Returns main()'s result.
int compile_in_child(int argument_count, char** arguments);

}  // namespace bench
