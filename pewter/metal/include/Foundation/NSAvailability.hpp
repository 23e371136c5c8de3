#pragma once

namespace NS::Private {

/// The macOS release whose Metal is offered here.
inline constexpr int kSystemMajorVersion = 15;
inline constexpr int kSystemMinorVersion = 0;

/// Whether a list such as "macOS 15.2, iOS 18, *" admits that release.
///
/// A list that does not name macOS admits every release, as the trailing star says.
constexpr bool available(const char* list) {
  constexpr char kPlatform[] = "macOS ";
  for (const char* text = list; *text != 0; ++text) {
    int matched = 0;
    while (kPlatform[matched] != 0 && text[matched] == kPlatform[matched]) {
      ++matched;
    }
    if (kPlatform[matched] != 0) {
      continue;
    }
    text += matched;
    int version[2] = {0, 0};
    for (int part = 0; part < 2; ++part) {
      for (; *text >= '0' && *text <= '9'; ++text) {
        version[part] = version[part] * 10 + (*text - '0');
      }
      if (*text != '.') {
        break;
      }
      ++text;
    }
    return version[0] < kSystemMajorVersion ||
           (version[0] == kSystemMajorVersion && version[1] <= kSystemMinorVersion);
  }
  return true;
}

}  // namespace NS::Private

// Programs written for Apple's platforms ask for a release in this form. GCC does not know it, and
// Clang answers yes to everything outside Apple's platforms.
#if !defined(__APPLE__) && !defined(__builtin_available)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wkeyword-macro"
#endif
#define __builtin_available(...) (::NS::Private::available(#__VA_ARGS__))
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#endif
