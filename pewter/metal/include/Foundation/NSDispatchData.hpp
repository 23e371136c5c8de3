#pragma once

#include "NSDefines.hpp"
#include "NSTypes.hpp"

// What MTL::Device::newLibrary takes data in, for systems without libdispatch. Not included by
// Foundation.hpp, which stays out of the way of the real one.
#if __has_include(<dispatch/dispatch.h>)
#include <dispatch/dispatch.h>
#else

#define DISPATCH_DATA_DESTRUCTOR_DEFAULT nullptr

/// A copy of `size` bytes, which the caller releases. Queue and destructor must be null.
_NS_EXPORT dispatch_data_t dispatch_data_create(const void* buffer,
                                                std::size_t size,
                                                dispatch_queue_t queue,
                                                void* destructor);
_NS_EXPORT void dispatch_release(dispatch_data_t data);

#endif
