#include <doctest/doctest.h>
#include <pewter/metal.h>
#include <pewter/mps.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "tests/api/mps_support.h"

using namespace pewter;
using namespace pewter::test;

namespace {

constexpr std::uint64_t kMiB = 1U << 20;

/// What the two views of the one allocator promise about each other.
void check_invariants() {
  CHECK(mps::current_allocated_memory() == metal::get_active_memory());
  CHECK(mps::driver_allocated_memory() >= metal::get_active_memory() + metal::get_cache_memory());
  CHECK(mps::current_allocated_memory() <= mps::driver_allocated_memory());
}

array written(std::uint64_t bytes) {
  array x = array::empty({static_cast<std::int64_t>(bytes)}, Dtype::UInt8);
  std::memset(x.data<std::uint8_t>(), 1, bytes);
  return x;
}

/// Sets the hard limit to what is allocated and `room`, and no limit again at the end.
class HardLimit {
 public:
  explicit HardLimit(std::uint64_t room) {
    const auto limit = static_cast<double>(mps::driver_allocated_memory() + room);
    mps::set_per_process_memory_fraction(limit /
                                         static_cast<double>(mps::recommended_max_memory()));
  }
  ~HardLimit() { mps::set_per_process_memory_fraction(1.7); }
  HardLimit(const HardLimit&) = delete;
  HardLimit& operator=(const HardLimit&) = delete;
};

template <typename T>
concept Fraction = requires(T value) { mps::set_per_process_memory_fraction(value); };

}  // namespace

TEST_CASE("mps 1: there is one device, and the names of the contract exist") {
  // It is enough that these compile.
  static_cast<void>(sizeof(mps::Event) + sizeof(mps::ShaderLibrary) + sizeof(mps::Stream));
  static_cast<void>(&mps::profiler::start);
  static_cast<void>(&mps::compile_shader);
  static_cast<void>(&mps::current_allocated_memory);
  static_cast<void>(&mps::driver_allocated_memory);
  static_cast<void>(&mps::empty_cache);
  static_cast<void>(&mps::get_rng_state);
  static_cast<void>(&mps::recommended_max_memory);
  static_cast<void>(&mps::seed);
  static_cast<void>(&mps::set_rng_state);
  CHECK(mps::device_count() == 1);
  CHECK(mps::is_available());
  CHECK(!mps::is_in_bad_fork());
  mps::synchronize();
}

TEST_CASE("mps 2: nothing is in use when all arrays are gone") {
  {
    const array x = written(kMiB);
  }
  mps::empty_cache();
  CHECK(mps::current_allocated_memory() == 0);
  check_invariants();
}

TEST_CASE("mps 3: an array of 32 MiB shows in both numbers") {
  mps::empty_cache();
  const std::uint64_t current = mps::current_allocated_memory();
  const std::uint64_t driver = mps::driver_allocated_memory();
  const array x = written(32 * kMiB);
  CHECK(mps::current_allocated_memory() >= current + 32 * kMiB);
  CHECK(mps::driver_allocated_memory() > driver);
  check_invariants();
}

TEST_CASE("mps 4: a deleted array stays with the driver until the cache is emptied") {
  mps::empty_cache();
  const std::uint64_t before = mps::current_allocated_memory();
  std::optional<array> x = written(32 * kMiB);
  const std::uint64_t driver = mps::driver_allocated_memory();
  x.reset();
  CHECK(mps::current_allocated_memory() == before);
  CHECK(mps::driver_allocated_memory() >= driver);
  check_invariants();
  mps::empty_cache();
  CHECK(mps::driver_allocated_memory() < driver);
  check_invariants();
}

TEST_CASE("mps 5: the recommended maximum is constant and that of the device") {
  const std::uint64_t recommended = mps::recommended_max_memory();
  CHECK(recommended > 0);
  const array x = written(kMiB);
  CHECK(mps::recommended_max_memory() == recommended);
  CHECK(std::get<std::size_t>(metal::device_info().at("max_recommended_working_set_size")) ==
        recommended);
}

TEST_CASE("mps 6: a fraction is a double from 0 to 2") {
  static_assert(Fraction<double>);
  static_assert(!Fraction<int> && !Fraction<bool> && !Fraction<float>);
  static_assert(!Fraction<const char*> && !Fraction<std::nullptr_t>);
  for (const double wrong : {-0.1, 2.1, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    CHECK_THROWS_AS(mps::set_per_process_memory_fraction(wrong), std::invalid_argument);
  }
  CHECK(thrown_text<std::invalid_argument>([] {
          mps::set_per_process_memory_fraction(2.5);
        }).find("2.5 is not from 0 to 2") != std::string::npos);
  mps::set_per_process_memory_fraction(0.0);
  mps::set_per_process_memory_fraction(2.0);
  mps::set_per_process_memory_fraction(1.7);
}

TEST_CASE("mps 7: an allocation beyond the hard limit is refused, and then possible without it") {
  mps::empty_cache();
  const std::uint64_t current = mps::current_allocated_memory();
  {
    const HardLimit limit(16 * kMiB);
    const std::string error = thrown_text<OutOfMemoryError>([] { written(64 * kMiB); });
    CHECK(error.find("out of memory") != std::string::npos);
    CHECK(error.find("PYTORCH_MPS_HIGH_WATERMARK_RATIO") != std::string::npos);
    CHECK(error.find("64.00 MiB") != std::string::npos);
    CHECK(mps::current_allocated_memory() == current);
    mps::set_per_process_memory_fraction(0.0);
    CHECK(written(64 * kMiB).size() == 64 * kMiB);
  }
  static_assert(std::is_base_of_v<std::runtime_error, OutOfMemoryError>);
}

TEST_CASE("mps 8: what lies in the cache is used or released before an allocation is refused") {
  mps::empty_cache();
  {
    const array x = written(64 * kMiB);
  }
  const HardLimit limit(16 * kMiB);
  CHECK_NOTHROW(written(64 * kMiB));
  CHECK_NOTHROW(written(70 * kMiB));
}

TEST_CASE("emptying the cache waits for the work that still uses a block") {
  const mps::Kernel full = mps::compile_shader(kFull).kernel("full");
  mps::empty_cache();
  const std::uint64_t before = mps::driver_allocated_memory();
  {
    const array x = array::empty({8 * kMiB / 4}, Dtype::Float32);
    full({x, 1.0});
  }
  mps::empty_cache();
  CHECK(mps::current_allocated_memory() == 0);
  CHECK(mps::driver_allocated_memory() <= before);
}
