#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/buffer_source.h"
#include "tools/value_type.h"

namespace pewter::tools {

/// The flags of `pewter run` as they were typed.
struct RunFlags {
  std::string file;
  std::string kernel;
  std::string grid;
  std::string group;
  std::vector<std::string> buffers;
  std::vector<std::string> bytes;
  std::vector<std::string> threadgroup;
  std::vector<std::string> constants;
  std::vector<std::string> defines;
  std::vector<std::string> show;
  std::vector<std::string> save;
  std::uint64_t seed = 0;
  std::uint32_t repeat = 1;
  bool time = false;
  bool explain = false;
};

/// Something that belongs to a parameter of the kernel, by its name or its index.
template <typename T>
struct Named {
  std::string name;
  T value;
};

/// The flags of `pewter run`, parsed and checked as far as that goes without a kernel.
struct RunRequest {
  std::string file;
  /// Empty: the only kernel of the file.
  std::string kernel;
  std::vector<std::uint64_t> grid;
  /// Empty: chosen to suit the grid.
  std::vector<std::uint64_t> group;
  std::vector<Named<BufferSource>> buffers;
  std::vector<Named<TypedValue>> bytes;
  std::vector<Named<std::uint64_t>> threadgroup;
  std::vector<Named<TypedValue>> constants;
  std::vector<Named<std::string>> defines;
  std::vector<std::string> show;
  std::vector<Named<std::string>> save;
  std::uint32_t repeat = 1;
  bool time = false;
};

/// Throws UsageError for malformed flags and CommandError for .npy files that cannot be read.
RunRequest parse_run_flags(const RunFlags& flags);

}  // namespace pewter::tools
