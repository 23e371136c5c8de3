#include "pewter/runtime/stack_trace.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace pewter::runtime {
namespace {

constexpr int kMaxFrames = 48;
// This function, and the allocator's.
constexpr int kOwnFrames = 2;

std::string readable(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : symbol;
}

}  // namespace

std::vector<void*> capture_stack() {
  std::array<void*, kMaxFrames> frames = {};
  const int count = backtrace(frames.data(), kMaxFrames);
  const int skipped = std::min(count, kOwnFrames);
  // Not braces: they would make a list of the two iterators, which are pointers themselves.
  return std::vector<void*>(frames.begin() + skipped, frames.begin() + count);
}

std::vector<std::string> describe_stack(const std::vector<void*>& stack) {
  std::vector<std::string> lines;
  for (void* address : stack) {
    Dl_info info = {};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
      lines.push_back(fmt::format("{}", address));
    } else if (info.dli_sname == nullptr) {
      lines.push_back(fmt::format("{} in {}", address, info.dli_fname));
    } else {
      const auto offset = reinterpret_cast<std::uintptr_t>(address) -
                          reinterpret_cast<std::uintptr_t>(info.dli_saddr);
      lines.push_back(
          fmt::format("{} + {} in {}", readable(info.dli_sname), offset, info.dli_fname));
    }
  }
  return lines;
}

}  // namespace pewter::runtime
