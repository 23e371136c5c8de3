#pragma once

// The release of metal-cpp whose declarations these headers follow.
#define METALCPP_VERSION_MAJOR 370
#define METALCPP_VERSION_MINOR 0
#define METALCPP_VERSION_PATCH 0

#define METALCPP_SUPPORTS_VERSION(major, minor, patch)                    \
  ((major < METALCPP_VERSION_MAJOR) ||                                    \
   (major == METALCPP_VERSION_MAJOR && minor < METALCPP_VERSION_MINOR) || \
   (major == METALCPP_VERSION_MAJOR && minor == METALCPP_VERSION_MINOR && \
    patch <= METALCPP_VERSION_PATCH))
