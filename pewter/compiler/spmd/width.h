#pragma once

#include <string>

#include "llvm/IR/Function.h"
#include "llvm/Target/TargetMachine.h"

namespace pewter::compiler::spmd {

/// Whether a processor has vectors of 16 words, and masks for whatever it does with them.
bool has_avx512(const llvm::TargetMachine& machine);

/// Lanes of single precision that one vector instruction of a processor works on; 8 where those are
/// fewer, two vectors to a chunk then, and for matrices, whose rows have 8 elements.
unsigned lanes_per_chunk(const llvm::TargetMachine& machine, llvm::Function& thread);

/// What speaks for wide or narrow programs besides the function itself.
struct WidthHints {
  unsigned per_chunk = 8;
  /// Vector registers of the processor.
  unsigned registers = 16;
  bool uses_simdgroup = false;
  bool uses_barriers = false;
  /// Whether threads wait for what others of their group write, without a barrier.
  bool waits_for_group = false;
  /// Threads of a group; 0 when it is not known.
  unsigned group_threads = 0;
};

/// How many lanes a program has, and why, for people.
struct Width {
  unsigned lanes = 0;
  std::string reason;
};

/// Lanes of a program that suit a thread function whose thread values are still calls.
///
/// More lanes give a loop more independent work, until its values do not fit into registers. A
/// small kernel with barriers runs its whole group as one program, which then has nobody to wait
/// for.
Width choose_width(llvm::Function& thread, const WidthHints& hints);

/// Whether a group of this function could run as one program, if it is not too large.
bool can_run_whole_groups(llvm::Function& thread, const WidthHints& hints);

}  // namespace pewter::compiler::spmd
