#pragma once

// NOLINTBEGIN(readability-identifier-naming): the names are the system's.
struct CGSize {
  double width;
  double height;
};
using CGColorSpaceRef = struct CGColorSpace*;
// NOLINTEND(readability-identifier-naming)
