#include "pewter/runtime/system_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#if defined(__APPLE__)
#include <mach/mach.h>
#endif

namespace pewter::runtime {
namespace {

std::size_t page_bytes() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

#if defined(__linux__)

/// The number at the beginning of a file; the largest number for "max" or when there is none.
std::size_t number_in(const char* path) {
  std::size_t number = 0;
  std::ifstream file(path);
  return file >> number ? number : std::numeric_limits<std::size_t>::max();
}

/// What the control group of the process leaves it.
std::size_t control_group_room() {
  const std::size_t limit = number_in("/sys/fs/cgroup/memory.max");
  if (limit == std::numeric_limits<std::size_t>::max()) {
    return limit;
  }
  const std::size_t used = number_in("/sys/fs/cgroup/memory.current");
  return limit - std::min(limit, used);
}

#endif

}  // namespace

std::size_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<std::size_t>(pages) * page_bytes() : 0;
}

#if defined(__linux__)

std::size_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    if (word == "MemAvailable:") {
      std::size_t kibibytes = 0;
      file >> kibibytes;
      return std::min(kibibytes * 1024, control_group_room());
    }
  }
  return 0;
}

std::size_t resident_memory() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream file("/proc/self/statm");
  return file >> total >> resident ? resident * page_bytes() : 0;
}

#elif defined(__APPLE__)

std::size_t available_memory() {
  vm_statistics64_data_t statistics = {};
  mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
  const auto asked = host_statistics64(mach_host_self(), HOST_VM_INFO64,
                                       reinterpret_cast<host_info64_t>(&statistics), &count);
  return asked == KERN_SUCCESS ? (statistics.free_count + statistics.inactive_count) * page_bytes()
                               : 0;
}

std::size_t resident_memory() {
  task_vm_info_data_t information = {};
  mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
  const auto asked = task_info(mach_task_self(), TASK_VM_INFO,
                               reinterpret_cast<task_info_t>(&information), &count);
  return asked == KERN_SUCCESS ? information.phys_footprint : 0;
}

#else

std::size_t available_memory() {
  return 0;
}

std::size_t resident_memory() {
  return 0;
}

#endif

std::size_t resident_part(const void* address, std::size_t length) {
  const std::size_t page = page_bytes();
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t first = begin / page * page;
  const std::size_t pages = (begin + length - first + page - 1) / page;
#if defined(__APPLE__)
  std::vector<char> present(pages);
#else
  std::vector<unsigned char> present(pages);
#endif
  if (pages == 0 || mincore(reinterpret_cast<void*>(first), pages * page, present.data()) != 0) {
    return 0;
  }
  const auto count = static_cast<std::size_t>(
      std::count_if(present.begin(), present.end(), [](auto flags) { return (flags & 1) != 0; }));
  return std::min(count * page, length);
}

}  // namespace pewter::runtime
