#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

/// A point in time.
class _NS_EXPORT Date : public Copying<Date> {
 public:
  static Date* dateWithTimeIntervalSinceNow(TimeInterval secs);
};

}  // namespace NS
