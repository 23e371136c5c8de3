#include "bench/support/data.h"
#include "bench/support/measure.h"
#include "bench/works/works.h"

// Works whose threads go different ways or meet at the same address.
namespace bench {
namespace {

Prepared mandelbrot() {
  constexpr std::size_t kPixels = std::size_t{kMandelbrotSize} * kMandelbrotSize;
  struct State {
    std::unique_ptr<Memory> steps = shared_device().memory(kPixels * sizeof(std::uint32_t));
    std::unique_ptr<Kernel> kernel = shared_device().kernel("mandelbrot", "mandelbrot");
  };
  auto state = std::make_shared<State>();
  return {
      .run =
          [state] {
            shared_device().dispatch(*state->kernel, {kMandelbrotSize, kMandelbrotSize}, {64, 4},
                                     {state->steps, kMandelbrotLimit});
            shared_device().finish();
          },
      .check =
          [state] { return check_mandelbrot(contents<std::uint32_t>(*state->steps, kPixels)); }};
}

Prepared bitonic() {
  struct State {
    std::vector<std::uint32_t> input = random_words(kSortElements);
    std::unique_ptr<Memory> values = memory_of(shared_device(), input);
    std::unique_ptr<Kernel> kernel = shared_device().kernel("sort", "bitonic");
  };
  auto state = std::make_shared<State>();
  return {.run =
              [state] {
                for (std::uint32_t block = 2; block <= kSortElements; block *= 2) {
                  for (std::uint32_t distance = block / 2; distance > 0; distance /= 2) {
                    shared_device().dispatch(*state->kernel, {kSortElements}, {256},
                                             {state->values, distance, block});
                  }
                }
                shared_device().finish();
              },
          .check =
              [state] {
                return check_sort(state->input,
                                  contents<std::uint32_t>(*state->values, kSortElements));
              },
          .restore =
              [state] {
                state->values->write(state->input.data(), kSortElements * sizeof(std::uint32_t));
              }};
}

Prepared histogram() {
  constexpr std::uint32_t kBytesPerThread = 64;
  struct State {
    std::vector<std::uint8_t> input = random_bytes(kElements);
    std::unique_ptr<Memory> bytes = memory_of(shared_device(), input);
    std::vector<std::uint32_t> zeros = std::vector<std::uint32_t>(256);
    std::unique_ptr<Memory> counts = memory_of(shared_device(), zeros);
    std::unique_ptr<Kernel> kernel = shared_device().kernel("histogram", "histogram");
  };
  auto state = std::make_shared<State>();
  return {.run =
              [state] {
                const std::uint32_t bytes_per_thread = kBytesPerThread;
                shared_device().dispatch(*state->kernel, {kElements / kBytesPerThread}, {256},
                                         {state->bytes, state->counts, bytes_per_thread});
                shared_device().finish();
              },
          .check =
              [state] {
                return check_histogram(state->input, contents<std::uint32_t>(*state->counts, 256));
              },
          .restore =
              [state] {
                state->counts->write(state->zeros.data(),
                                     state->zeros.size() * sizeof(std::uint32_t));
              }};
}

using Check = std::string(std::span<const std::uint32_t>, std::span<const std::uint32_t>);

Prepared parting(const char* name,
                 Check* check,
                 std::size_t threads = kPartingThreads,
                 std::size_t group = 256) {
  struct State {
    std::vector<std::uint32_t> input = random_words(kPartingThreads);
    std::unique_ptr<Memory> in = memory_of(shared_device(), input);
    std::unique_ptr<Memory> out = shared_device().memory(kPartingThreads * sizeof(std::uint32_t));
    std::unique_ptr<Kernel> kernel;
  };
  auto state = std::make_shared<State>();
  state->kernel = shared_device().kernel("divergent", name);
  return {.run =
              [state, threads, group] {
                shared_device().dispatch(*state->kernel, {threads}, {group},
                                         {state->in, state->out});
                shared_device().finish();
              },
          .check =
              [state, check] {
                return check(state->input, contents<std::uint32_t>(*state->out, kPartingThreads));
              }};
}

}  // namespace

void add_divergent_works() {
  add("mandelbrot_1024", Unit::MegapixelsPerSecond, double{kMandelbrotSize} * kMandelbrotSize,
      &mandelbrot);
  add("bitonic_1M", Unit::MegaelementsPerSecond, kSortElements, &bitonic);
  add("histogram_16MB", Unit::GigabytesPerSecond, kElements, &histogram);
  add("divergent_cases_1M", Unit::MegaelementsPerSecond, kPartingThreads,
      [] { return parting("cases", &check_cases); });
  add("divergent_chase_1M", Unit::MegaelementsPerSecond, kPartingThreads,
      [] { return parting("chase", &check_chase); });
  add("divergent_insertion_1M", Unit::MegaelementsPerSecond, kPartingThreads,
      [] { return parting("insertion", &check_insertion); });
  add("divergent_queens_1M", Unit::MegaelementsPerSecond, kPartingThreads,
      [] { return parting("queens", &check_queens); });
  add("divergent_knapsack_1M", Unit::MegaelementsPerSecond, kPartingThreads,
      [] { return parting("knapsack", &check_knapsack); });
  add("divergent_interpreter_1M", Unit::MegaelementsPerSecond, kPartingThreads,
      [] { return parting("interpreter", &check_interpreter); });
  add("divergent_rows_1M", Unit::MegaelementsPerSecond, kPartingThreads,
      [] { return parting("rows", &check_rows, kPartingThreads / kRowWords, 64); });
}

}  // namespace bench
