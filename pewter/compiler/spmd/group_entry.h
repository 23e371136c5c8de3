#pragma once

#include <cstdint>

#include "llvm/IR/Module.h"

#include "pewter/compiler/spmd/program.h"

namespace pewter::compiler::spmd {

/// Builds the body of an abi::EntryPoint that runs a group, program after program.
///
/// Programs that wait at barriers become coroutines, which the entry point resumes in turn until
/// all have ended. What they keep meanwhile is in `Group::program_memory`. With `takes_rows`, which
/// such programs do not have, the entry point runs `Group::row_groups` groups.
void build_group_entry(llvm::Function& entry,
                       const Programs& programs,
                       unsigned width,
                       bool takes_rows);

/// After coroutines are split: fills in how many bytes each program keeps, and returns it.
std::uint32_t resolve_program_bytes(llvm::Module& module);

}  // namespace pewter::compiler::spmd
