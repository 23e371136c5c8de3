#pragma once

// Present because programs include it by name; it holds metal-cpp's selector tables there and
// nothing here.
#include "MTLDefines.hpp"
