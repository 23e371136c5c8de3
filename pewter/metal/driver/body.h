#pragma once

#include "pewter/metal/foundation/autorelease_pool.h"
#include "pewter/metal/foundation/object.h"
#include "pewter/metal/foundation/string.h"

/// Names that every body of the driver uses.
namespace pewter::driver {

using foundation::autoreleased;
using foundation::ClassInfo;
using foundation::get;
using foundation::handle;
using foundation::impl;
using foundation::make;
using foundation::make_ref;
using foundation::make_string;
using foundation::Object;
using foundation::Ref;
using foundation::set;
using foundation::set_copy;
using foundation::String;
using foundation::text_of;

}  // namespace pewter::driver
