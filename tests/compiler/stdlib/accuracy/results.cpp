#include "tests/compiler/stdlib/accuracy/results.h"

#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace pewter::test {
namespace {

constexpr const char* kIntroduction = R"(# Accuracy

Largest errors of the floating-point functions of the MSL standard library, beside the bounds of the Metal Shading Language Specification (version 4.0, "ULPs and Relative Error", tables 8.1 to 8.4). This page is written by the program that measures:

```sh
cmake --build build/dev --target accuracy
build/dev/bin/accuracy --results build/accuracy.json --document docs/accuracy.md
```

`make accuracy` does both, `ctest --test-dir build/dev -C Exhaustive -L exhaustive` measures without writing. Every float of a function takes a minute or more of a core; `--results` keeps what is done, function by function, and a second run goes on from there. A row that says "1 in N" was measured with `--stride N`, for the numbers of both signs whose bits are multiples of N, and waits for a run over all of them. The tables of half and bfloat, always of all numbers, are also checked with every run of the tests, in both modes.

An error is the distance from the result in double (long double where correct rounding is asked for), in units of the last place: the distance of the two numbers of the type around the exact result. An infinite result counts as the first number beyond the largest. "Exact" and "nearest" results are compared for equality, NaN and infinities for their kind, zeros for their sign. Subnormal numbers are not flushed: they are arguments and results as all others.

The exponentials and `rsqrt` of `metal::fast`, which the default options choose for float, have rows of their own; results of the exponentials go to zero where they are no normal numbers, and what they are there is not measured. All other functions are the same in `metal::fast` and `metal::precise` and have to keep both bounds. The modes of arithmetic (safe, relaxed, fast) change no function: the bits of a result are compared between scalar and SPMD mode, the three modes of arithmetic, the two namespaces and the two values of `mathFloatingPointFunctions`, for as many numbers as the last column says (`--mode-stride`). Where the specification describes a fast function by a formula, the text of the formula stands in place of a bound, and there is nothing to check.
)";

constexpr const char* kBfloatText =
    R"(The specification bounds only the operators of bfloat. A function takes a bfloat as a float, and its result is rounded to bfloat here: half a unit, and what the float function adds to it. Functions with a second result have no form for bfloat.
)";

std::string bound_text(double ulps) {
  if (ulps == kExact) {
    return "exact";
  }
  if (std::isinf(ulps)) {
    return "";
  }
  return ulps == kCorrectlyRounded ? "nearest" : fmt::format("{:.4g}", ulps);
}

std::string error_text(const Measurement& measured) {
  return measured.worst == 0 ? "0" : fmt::format("{:.3f}", measured.worst);
}

std::string coverage_text(std::uint32_t stride) {
  return stride == 1 ? "all" : fmt::format("1 in {}", stride);
}

std::string verdict_text(const Measurement& measured, std::uint64_t mode_differences) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) {
      text += (text.empty() ? "" : "; ") + fmt::format("{} {}", count, what);
    }
  };
  add(measured.beyond_bound, "beyond the bound");
  add(measured.beyond_fast_bound, "beyond the fast bound");
  add(measured.wrong_zeros, "zeros of the wrong sign");
  add(mode_differences, "differ between modes");
  return text.empty() ? "kept" : text;
}

}  // namespace

Results::Results(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_);
  if (path_.empty() || !file) {
    return;
  }
  try {
    for (const auto& row : nlohmann::json::parse(file)) {
      Entry& entry = entries_[row.at("function")];
      entry.stride = row.at("stride");
      entry.mode_stride = row.at("mode_stride");
      entry.mode_differences = row.at("mode_differences");
      entry.measured.inputs = row.at("inputs");
      entry.measured.worst = row.at("worst");
      entry.measured.worst_input = std::stod(row.at("worst_input").get<std::string>());
      entry.measured.beyond_bound = row.at("beyond_bound");
      entry.measured.beyond_fast_bound = row.at("beyond_fast_bound");
      entry.measured.wrong_zeros = row.at("wrong_zeros");
      entry.measured.wrong_input = std::stod(row.at("wrong_input").get<std::string>());
    }
  } catch (const std::exception& error) {
    throw std::runtime_error(path_ + " is not a file of results: " + error.what());
  }
}

std::string Results::key(const MathFunction& function, const FloatFormat& format) {
  return fmt::format("{} {}", format.name, function.name);
}

bool Results::has(const MathFunction& function,
                  const FloatFormat& format,
                  std::uint32_t stride) const {
  const auto found = entries_.find(key(function, format));
  return found != entries_.end() && found->second.stride <= stride;
}

void Results::put(const MathFunction& function,
                  const FloatFormat& format,
                  std::uint32_t stride,
                  std::uint32_t mode_stride,
                  const Measurement& measured,
                  std::uint64_t mode_differences) {
  entries_[key(function, format)] = {measured, stride, mode_stride, mode_differences};
  save();
}

bool Results::are_right() const {
  for (const auto& [name, entry] : entries_) {
    if (!entry.measured.is_right() || entry.mode_differences > 0) {
      return false;
    }
  }
  return true;
}

void Results::save() const {
  if (path_.empty()) {
    return;
  }
  auto rows = nlohmann::json::array();
  for (const auto& [name, entry] : entries_) {
    const Measurement& measured = entry.measured;
    // An error without a bound is infinite, which JSON has no word for.
    rows.push_back({{"function", name},
                    {"stride", entry.stride},
                    {"mode_stride", entry.mode_stride},
                    {"mode_differences", entry.mode_differences},
                    {"inputs", measured.inputs},
                    {"worst", std::min(measured.worst, 1e300)},
                    {"worst_input", fmt::format("{:a}", measured.worst_input)},
                    {"beyond_bound", measured.beyond_bound},
                    {"beyond_fast_bound", measured.beyond_fast_bound},
                    {"wrong_zeros", measured.wrong_zeros},
                    {"wrong_input", fmt::format("{:a}", measured.wrong_input)}});
  }
  std::ofstream(path_) << rows.dump(1) << '\n';
}

std::string Results::table(const FloatFormat& format) const {
  const bool is_float = format.precision == kFloat.precision;
  std::string text =
      is_float ? "| function | largest error | at | bound | bound with fast math | bounds "
                 "| numbers | between modes |\n|---|---:|---|---|---|---|---|---|\n"
               : "| function | largest error | at | bound | bounds |\n"
                 "|---|---:|---|---|---|\n";
  for (const MathFunction& function : math_functions()) {
    const auto found = entries_.find(key(function, format));
    if (found == entries_.end()) {
      continue;
    }
    const Entry& entry = found->second;
    text += fmt::format(
        "| {} | {} | {} | {} |", function.name, error_text(entry.measured),
        entry.measured.worst == 0 ? std::string() : fmt::format("{:a}", entry.measured.worst_input),
        bound_text(function.ulps(format)));
    const std::string verdict = verdict_text(entry.measured, entry.mode_differences);
    text += is_float ? fmt::format(" {} | {} | {} | {} |\n", function.fast.text, verdict,
                                   coverage_text(entry.stride), coverage_text(entry.mode_stride))
                     : fmt::format(" {} |\n", verdict);
  }
  return text;
}

void Results::write_document(const std::string& path) const {
  std::ofstream file(path);
  file << kIntroduction << "\n## float\n\n"
       << table(kFloat) << "\n## half\n\nAll 65536 numbers, in all modes.\n\n"
       << table(kHalf) << "\n## bfloat\n\n"
       << kBfloatText << "\n"
       << table(kBfloat);
  if (!file.flush()) {
    throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace pewter::test
