#include "pewter/base/environment.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/support/log_capture.h"

namespace pewter {
namespace {

constexpr const char* kName = "PEWTER_TEST_VARIABLE";

/// Sets the variable for one scope.
class Setting {
 public:
  explicit Setting(const char* value) { setenv(kName, value, 1); }
  ~Setting() { unsetenv(kName); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
};

TEST_CASE("an unset variable is nothing") {
  unsetenv(kName);

  CHECK(!environment::text(kName));
  CHECK(!environment::number(kName));
  CHECK(environment::flag(kName, true));
  CHECK(!environment::flag(kName, false));
}

TEST_CASE("an empty variable counts as unset") {
  const Setting setting("");

  CHECK(!environment::text(kName));
  CHECK(environment::flag(kName, true));
}

TEST_CASE("text is passed on as it is") {
  const Setting setting(" /a b/c ");

  CHECK(environment::text(kName) == " /a b/c ");
}

TEST_CASE("whole numbers of 64 bits are read") {
  const Setting setting("18446744073709551615");

  CHECK(environment::number(kName) == 18446744073709551615U);
}

TEST_CASE("what is not a whole number is ignored with a warning that names it") {
  for (const char* value : {"four", "4x", "-1", "1.5", " 4", "18446744073709551616"}) {
    const Setting setting(value);
    const test::LogCapture log;
    CAPTURE(value);

    CHECK(!environment::number(kName));
    CHECK(log.contains(std::string("PEWTER_TEST_VARIABLE='") + value + "' is not a whole number"));
  }
}

TEST_CASE("flags are read in the usual spellings") {
  for (const char* value : {"1", "true", "YES", "On"}) {
    const Setting setting(value);
    CAPTURE(value);
    CHECK(environment::flag(kName, false));
  }
  for (const char* value : {"0", "False", "no", "OFF"}) {
    const Setting setting(value);
    CAPTURE(value);
    CHECK(!environment::flag(kName, true));
  }
}

TEST_CASE("a flag that is neither on nor off keeps the default and warns") {
  const Setting setting("maybe");
  const test::LogCapture log;

  CHECK(environment::flag(kName, true));
  CHECK(!environment::flag(kName, false));
  CHECK(log.contains("PEWTER_TEST_VARIABLE='maybe' is neither on nor off"));
}

}  // namespace
}  // namespace pewter
