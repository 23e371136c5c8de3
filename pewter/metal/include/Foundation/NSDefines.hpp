#pragma once

/// Macros shared by the public headers. Names and meaning follow metal-cpp.
///
/// NS_PRIVATE_IMPLEMENTATION, MTL_PRIVATE_IMPLEMENTATION and CA_PRIVATE_IMPLEMENTATION have no
/// effect: the classes are implemented in libpewter, so there is nothing for a translation unit to
/// generate.

#ifdef METALCPP_SYMBOL_VISIBILITY_HIDDEN
#define _NS_EXPORT __attribute__((visibility("hidden")))
#else
#define _NS_EXPORT __attribute__((visibility("default")))
#endif
#define _NS_EXTERN extern "C" _NS_EXPORT
#define _NS_INLINE inline __attribute__((always_inline))
#define _NS_PACKED __attribute__((packed))

#define _NS_CONST(type, name) extern _NS_EXPORT type const name
#define _NS_ENUM(type, name) enum name : type
#define _NS_OPTIONS(type, name) \
  using name = type;            \
  enum : name

#include "NSAvailability.hpp"
