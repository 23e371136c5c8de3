#include "pewter/metal/foundation/data.h"

#include "pewter/metal/foundation/autorelease_pool.h"

namespace pewter::foundation {

bool Data::equals(const Object& other) const {
  return other.is(kClass) && static_cast<const Data&>(other).bytes == bytes;
}

bool Date::equals(const Object& other) const {
  return other.is(kClass) && static_cast<const Date&>(other).time == time;
}

}  // namespace pewter::foundation

namespace foundation = pewter::foundation;
using foundation::impl;

void* NS::Data::mutableBytes() const {
  auto* self = impl<foundation::Data>(this);
  return self != nullptr ? self->bytes.data() : nullptr;
}

NS::UInteger NS::Data::length() const {
  auto* self = impl<foundation::Data>(this);
  return self != nullptr ? self->bytes.size() : 0;
}

NS::Date* NS::Date::dateWithTimeIntervalSinceNow(TimeInterval secs) {
  using Clock = std::chrono::system_clock;
  const auto offset =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(secs));
  return foundation::autoreleased(foundation::make_ref<foundation::Date>(Clock::now() + offset));
}
