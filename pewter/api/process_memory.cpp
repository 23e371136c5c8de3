#include <pewter/process_memory.h>

#include "pewter/runtime/sample_file.h"

namespace pewter {

std::string memory_sample_path(int process) {
  return runtime::default_sample_path(process);
}

std::optional<MemorySample> read_memory_sample(const std::string& path) {
  return runtime::read_sample(path);
}

}  // namespace pewter
