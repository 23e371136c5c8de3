#include <fmt/format.h>
#include <pwd.h>
#include <sys/sysinfo.h>
#include <unistd.h>
#include <Foundation/NSArray.hpp>
#include <Foundation/NSProcessInfo.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "pewter/metal/foundation/collections.h"
#include "pewter/metal/foundation/string.h"

namespace pewter::foundation {
namespace {

/// The body of NS::ProcessInfo, which has no state.
class ProcessInfo final : public Object {
 public:
  using Public = NS::ProcessInfo;
  static constexpr ClassInfo kClass{"NS::ProcessInfo", &Object::kClass};

  ProcessInfo() : Object(kClass) {}
};

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\0', at), bytes.size());
    arguments.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return arguments;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

}  // namespace
}  // namespace pewter::foundation

namespace foundation = pewter::foundation;
using Body = foundation::ProcessInfo;
using foundation::impl;

NS::ProcessInfo* NS::ProcessInfo::processInfo() {
  static Body& body = []() -> Body& {
    auto* object = foundation::make<Body>();
    object->make_immortal();
    return *object;
  }();
  return foundation::handle(&body);
}

NS::Array* NS::ProcessInfo::arguments() const {
  if (impl<Body>(this) == nullptr) {
    return nullptr;
  }
  std::vector<foundation::Ref<foundation::String>> strings;
  for (const std::string& argument : foundation::command_line()) {
    strings.push_back(foundation::make_string(argument));
  }
  return foundation::array_of(strings);
}

NS::String* NS::ProcessInfo::hostName() const {
  return impl<Body>(this) != nullptr ? foundation::string(foundation::host_name()) : nullptr;
}

NS::String* NS::ProcessInfo::processName() const {
  if (impl<Body>(this) == nullptr) {
    return nullptr;
  }
  const auto arguments = foundation::command_line();
  const std::string path = arguments.empty() ? std::string() : arguments.front();
  return foundation::string(path.substr(path.rfind('/') + 1));
}

int NS::ProcessInfo::processIdentifier() const {
  return impl<Body>(this) != nullptr ? getpid() : 0;
}

NS::String* NS::ProcessInfo::globallyUniqueString() const {
  if (impl<Body>(this) == nullptr) {
    return nullptr;
  }
  static std::atomic<unsigned> serial{0};
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return foundation::string(
      fmt::format("{}-{}-{:x}-{}", foundation::host_name(), getpid(), now, ++serial));
}

NS::String* NS::ProcessInfo::userName() const {
  if (impl<Body>(this) == nullptr) {
    return nullptr;
  }
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  getpwuid_r(getuid(), &entry, buffer, sizeof buffer, &found);
  return foundation::string(found != nullptr ? found->pw_name : "");
}

NS::OperatingSystemVersion NS::ProcessInfo::operatingSystemVersion() const {
  if (impl<Body>(this) == nullptr) {
    return {};
  }
  return {Private::kSystemMajorVersion, Private::kSystemMinorVersion, 0};
}

NS::String* NS::ProcessInfo::operatingSystemVersionString() const {
  if (impl<Body>(this) == nullptr) {
    return nullptr;
  }
  return foundation::string(fmt::format("Version {}.{} (pewter)", Private::kSystemMajorVersion,
                                        Private::kSystemMinorVersion));
}

bool NS::ProcessInfo::isOperatingSystemAtLeastVersion(OperatingSystemVersion version) const {
  const OperatingSystemVersion own = operatingSystemVersion();
  return std::tuple(own.majorVersion, own.minorVersion, own.patchVersion) >=
         std::tuple(version.majorVersion, version.minorVersion, version.patchVersion);
}

NS::UInteger NS::ProcessInfo::processorCount() const {
  return impl<Body>(this) != nullptr ? static_cast<UInteger>(get_nprocs_conf()) : 0;
}

NS::UInteger NS::ProcessInfo::activeProcessorCount() const {
  return impl<Body>(this) != nullptr ? std::thread::hardware_concurrency() : 0;
}

unsigned long long NS::ProcessInfo::physicalMemory() const {
  if (impl<Body>(this) == nullptr) {
    return 0;
  }
  return static_cast<unsigned long long>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<unsigned long long>(sysconf(_SC_PAGESIZE));
}

NS::TimeInterval NS::ProcessInfo::systemUptime() const {
  struct sysinfo facts{};
  return impl<Body>(this) != nullptr && sysinfo(&facts) == 0
             ? static_cast<TimeInterval>(facts.uptime)
             : 0;
}

NS::ProcessInfoThermalState NS::ProcessInfo::thermalState() const {
  return ProcessInfoThermalStateNominal;
}

bool NS::ProcessInfo::isLowPowerModeEnabled() const {
  return false;
}

bool NS::ProcessInfo::isiOSAppOnMac() const {
  return false;
}

bool NS::ProcessInfo::isMacCatalystApp() const {
  return false;
}
