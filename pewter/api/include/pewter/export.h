#pragma once

/// Marks what programs outside the library may call.
#define PEWTER_EXPORT __attribute__((visibility("default")))
