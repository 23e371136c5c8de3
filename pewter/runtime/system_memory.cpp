#include "pewter/runtime/system_memory.h"

#include <unistd.h>

namespace pewter::runtime {

std::size_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(bytes)
                                : 0;
}

}  // namespace pewter::runtime
