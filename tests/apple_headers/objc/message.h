#pragma once

#include <objc/runtime.h>

// NOLINTBEGIN(readability-identifier-naming): the names are the system's.
extern "C" {
void objc_msgSend();
void objc_msgSend_fpret();
void objc_msgSend_stret();
}
// NOLINTEND(readability-identifier-naming)
