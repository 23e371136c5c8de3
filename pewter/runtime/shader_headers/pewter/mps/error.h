#pragma once

#include <metal_stdlib>

/// Lets a kernel report failures to the program that launched it with `error_buf_idx`.
///
///     kernel void f(device float* x, device pewter::mps::ErrorRecords* errors [[buffer(1)]], ...)
///     {
///       if (bad) {
///         PEWTER_REPORT_ERROR(errors, "index ", index, " is out of range");
///       }
///     }
namespace pewter {
namespace mps {

constant constexpr uint kMaxErrorRecords = 30;

struct ErrorRecord {
  char file[128];
  char function[128];
  char message[250];
  uint line;
};

struct ErrorRecords {
  /// Reports made, also those that found no room.
  metal::atomic<uint> count;
  ErrorRecord records[kMaxErrorRecords];
};

namespace detail {

/// Where the next character of a text goes; room for the terminating zero is never used up.
struct Cursor {
  device char* at;
  uint room;

  void put(char character) thread {
    if (room > 1) {
      *at++ = character;
      --room;
    }
  }
};

// Reports are rare: their loops stay loops, so that they cost little to compile.
inline void print(thread Cursor& out, constant const char* text) {
#pragma nounroll
  for (uint i = 0; text[i] != 0; ++i) {
    out.put(text[i]);
  }
}

inline void print(thread Cursor& out, ulong number) {
  uint length = 1;
#pragma nounroll
  for (ulong rest = number; rest >= 10; rest /= 10) {
    ++length;
  }
  const uint kept = metal::min(length, out.room - 1);
#pragma nounroll
  for (uint i = length; i > 0; --i) {
    if (i <= kept) {
      out.at[i - 1] = char('0' + number % 10);
    }
    number /= 10;
  }
  out.at += kept;
  out.room -= kept;
}

inline void print(thread Cursor& out, long number) {
  if (number < 0) {
    out.put('-');
  }
  print(out, number < 0 ? ulong(0) - ulong(number) : ulong(number));
}

inline void print(thread Cursor& out, uint number) {
  print(out, ulong(number));
}

inline void print(thread Cursor& out, int number) {
  print(out, long(number));
}

/// `text` is a pointer to characters in whatever address space the compiler keeps names.
template <typename Text>
inline void copy(device char* target, uint room, Text text) {
  Cursor out = {target, room};
#pragma nounroll
  for (uint i = 0; text[i] != 0; ++i) {
    out.put(text[i]);
  }
  *out.at = 0;
}

inline void print_all(thread Cursor&) {}

template <typename First, typename... Rest>
inline void print_all(thread Cursor& out, First first, Rest... rest) {
  print(out, first);
  print_all(out, rest...);
}

template <typename Text, typename... Parts>
inline void report(device ErrorRecords* errors,
                   constant const char* file,
                   int line,
                   Text function,
                   Parts... parts) {
  const uint number =
      metal::atomic_fetch_add_explicit(&errors->count, 1u, metal::memory_order_relaxed);
  if (number >= kMaxErrorRecords) {
    return;
  }
  device ErrorRecord& record = errors->records[number];
  copy(record.file, sizeof(record.file), file);
  copy(record.function, sizeof(record.function), function);
  Cursor out = {record.message, sizeof(record.message)};
  print_all(out, parts...);
  *out.at = 0;
  record.line = uint(line);
}

}  // namespace detail
}  // namespace mps
}  // namespace pewter

/// Adds a record: texts and whole numbers, printed one after the other.
#define PEWTER_REPORT_ERROR(errors, ...) \
  ::pewter::mps::detail::report(errors, __FILE__, __LINE__, __func__, __VA_ARGS__)
