#pragma once

// NOLINTBEGIN(readability-identifier-naming): the names are the system's.
struct objc_class;
struct objc_object {
  objc_class* isa;
};
struct objc_selector;

using Class = objc_class*;
using id = objc_object*;
using SEL = objc_selector*;
using Protocol = objc_object;

extern "C" {
Class objc_lookUpClass(const char* name);
Protocol* objc_getProtocol(const char* name);
SEL sel_registerName(const char* name);
}
// NOLINTEND(readability-identifier-naming)
