#pragma once

#include "NSDefines.hpp"
#include "NSNotification.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

class Array;
class String;

_NS_ENUM(Integer, ProcessInfoThermalState){
    ProcessInfoThermalStateNominal = 0,
    ProcessInfoThermalStateFair = 1,
    ProcessInfoThermalStateSerious = 2,
    ProcessInfoThermalStateCritical = 3,
};

/// Facts about this process and the machine it runs on.
class _NS_EXPORT ProcessInfo : public Referencing<ProcessInfo> {
 public:
  static ProcessInfo* processInfo();

  Array* arguments() const;
  String* hostName() const;
  String* processName() const;
  int processIdentifier() const;
  String* globallyUniqueString() const;
  String* userName() const;

  /// The macOS release whose Metal is offered, not the version of the host's kernel.
  OperatingSystemVersion operatingSystemVersion() const;
  String* operatingSystemVersionString() const;
  bool isOperatingSystemAtLeastVersion(OperatingSystemVersion version) const;

  UInteger processorCount() const;
  UInteger activeProcessorCount() const;
  unsigned long long physicalMemory() const;
  TimeInterval systemUptime() const;

  ProcessInfoThermalState thermalState() const;
  bool isLowPowerModeEnabled() const;
  bool isiOSAppOnMac() const;
  bool isMacCatalystApp() const;
};

}  // namespace NS
