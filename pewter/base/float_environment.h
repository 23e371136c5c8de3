#pragma once

#include <cfenv>

namespace pewter {

/// The default floating-point environment until the end of the scope: results must not depend on
/// what rounding mode, traps or treatment of denormals the program has set for the thread that
/// helps.
class FloatEnvironment {
 public:
#if defined(__x86_64__)
  FloatEnvironment() : saved_(__builtin_ia32_stmxcsr()) {
    if ((saved_ & ~kStatusBits) != kDefault) {
      __builtin_ia32_ldmxcsr(kDefault);
    }
  }
  ~FloatEnvironment() { __builtin_ia32_ldmxcsr(saved_); }
#else
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
#endif
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__x86_64__)
  // Exceptions masked, round to nearest, denormals kept. The lowest bits only record what has
  // happened.
  static constexpr unsigned kDefault = 0x1f80;
  static constexpr unsigned kStatusBits = 0x3f;

  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace pewter
