#pragma once

#include "NSDefines.hpp"
#include "NSObjCRuntime.hpp"
#include "NSObject.hpp"
#include "NSRange.hpp"
#include "NSTypes.hpp"

namespace NS {

_NS_ENUM(UInteger, StringEncoding){
    ASCIIStringEncoding = 1,
    NEXTSTEPStringEncoding = 2,
    JapaneseEUCStringEncoding = 3,
    UTF8StringEncoding = 4,
    ISOLatin1StringEncoding = 5,
    SymbolStringEncoding = 6,
    NonLossyASCIIStringEncoding = 7,
    ShiftJISStringEncoding = 8,
    ISOLatin2StringEncoding = 9,
    UnicodeStringEncoding = 10,
    WindowsCP1251StringEncoding = 11,
    WindowsCP1252StringEncoding = 12,
    WindowsCP1253StringEncoding = 13,
    WindowsCP1254StringEncoding = 14,
    WindowsCP1250StringEncoding = 15,
    ISO2022JPStringEncoding = 21,
    MacOSRomanStringEncoding = 30,

    UTF16StringEncoding = UnicodeStringEncoding,

    UTF16BigEndianStringEncoding = 0x90000100,
    UTF16LittleEndianStringEncoding = 0x94000100,

    UTF32StringEncoding = 0x8c000100,
    UTF32BigEndianStringEncoding = 0x98000100,
    UTF32LittleEndianStringEncoding = 0x9c000100,
};

_NS_OPTIONS(UInteger, StringCompareOptions){
    CaseInsensitiveSearch = 1,    LiteralSearch = 2,          BackwardsSearch = 4,
    AnchoredSearch = 8,           NumericSearch = 64,         DiacriticInsensitiveSearch = 128,
    WidthInsensitiveSearch = 256, ForcedOrderingSearch = 512, RegularExpressionSearch = 1024,
};

using unichar = unsigned short;

/// Immutable text. Lengths and positions count UTF-16 units, as in Foundation.
///
/// Input may be ASCII, UTF-8, ISO Latin 1 or UTF-16; another encoding, or bytes that are not valid
/// in the given one, give null.
class _NS_EXPORT String : public Copying<String> {
 public:
  static String* string();
  static String* string(const String* pString);
  static String* string(const char* pString, StringEncoding encoding);

  static String* alloc();
  String* init();
  String* init(const String* pString);
  String* init(const char* pString, StringEncoding encoding);
  String* init(void* pBytes, UInteger len, StringEncoding encoding, bool freeBuffer);

  unichar character(UInteger index) const;
  UInteger length() const;

  /// The text with a terminating zero; valid as long as the string. Null for encodings of more than
  /// one byte.
  const char* cString(StringEncoding encoding) const;
  const char* utf8String() const;
  UInteger maximumLengthOfBytes(StringEncoding encoding) const;
  UInteger lengthOfBytes(StringEncoding encoding) const;

  bool isEqualToString(const String* pString) const;
  /// Location `NotFound` when the text does not occur.
  Range rangeOfString(const String* pString, StringCompareOptions options) const;

  const char* fileSystemRepresentation() const;

  String* stringByAppendingString(const String* pString) const;
  ComparisonResult caseInsensitiveCompare(const String* pString) const;
};

namespace Private {

/// The one immortal string with that text.
_NS_EXPORT String* constantString(const char* text, UInteger length);

}  // namespace Private

/// A string that lives as long as the process.
template <std::size_t _Length>
String* MakeConstantString(const char (&text)[_Length]) {
  return Private::constantString(text, _Length - 1);
}

}  // namespace NS

/// A string constant; lives as long as the process.
#define MTLSTR(literal) (::NS::MakeConstantString("" literal ""))
