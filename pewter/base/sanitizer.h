#pragma once

/// Whether the program is built with a sanitizer, which some things must make room for.
/// PEWTER_ADDRESS_SANITIZER and PEWTER_THREAD_SANITIZER are 1 or 0.

#if defined(__has_feature)
#define PEWTER_HAS_FEATURE(name) __has_feature(name)
#else
#define PEWTER_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || PEWTER_HAS_FEATURE(address_sanitizer)
#define PEWTER_ADDRESS_SANITIZER 1
#else
#define PEWTER_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__) || PEWTER_HAS_FEATURE(thread_sanitizer)
#define PEWTER_THREAD_SANITIZER 1
#else
#define PEWTER_THREAD_SANITIZER 0
#endif
