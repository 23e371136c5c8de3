#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/process.h"
#include "tests/support/temporary_directory.h"

using pewter::test::ProcessResult;
using pewter::test::run_process;

namespace {

ProcessResult run(const std::string& scenario,
                  const std::map<std::string, std::string>& environment) {
  return run_process({PEWTER_ARRAY_PROGRAM, scenario}, environment);
}

/// The facts that the program printed, by name.
std::map<std::string, std::string> facts(const ProcessResult& result) {
  CHECK_MESSAGE(result.code == 0, result.errors);
  std::map<std::string, std::string> found;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    REQUIRE(colon != std::string::npos);
    found[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return found;
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

}  // namespace

TEST_CASE("the log says what was fused, and what was not and why") {
  const std::string log = run("fuse", {{"PEWTER_LOG", "fusion"}}).errors;
  CHECK(log.find("pewter[fusion]: one kernel: linear: multiply exp add") != std::string::npos);
  CHECK(log.find("sqrt sum (1 inputs, 0 constants, 1 outputs)") != std::string::npos);
  CHECK(log.find("add is computed on its own: several kernels need it") != std::string::npos);
  CHECK(log.find("matmul has a kernel of its own") != std::string::npos);
  CHECK(run("fuse", {}).errors.empty());
}

TEST_CASE("an expression of known operations is computed before its own kernel is made") {
  const ProcessResult result = run("known_operations", {{"PEWTER_LOG", "fusion"}});

  CHECK(facts(result)["same"] == "yes");
  const std::size_t alone = result.errors.find("5 operations are computed one by one");
  const std::size_t together =
      result.errors.rfind("one kernel: linear: add multiply maximum multiply add");
  REQUIRE(alone != std::string::npos);
  REQUIRE(together != std::string::npos);
  CHECK(alone < together);
}

TEST_CASE("a program that ends while its kernels are made ends in order") {
  for (int i = 0; i < 3; ++i) {
    const ProcessResult result = run("end_while_compiling", {{"PEWTER_CACHE", "off"}});

    CHECK(result.code == 0);
    CHECK(result.errors.empty());
    CHECK(result.output == "last: 8.000000\n");
  }
}

TEST_CASE("generated kernels are found on disk by the next process, for other shapes too") {
  const pewter::test::TemporaryDirectory cache;
  const std::map<std::string, std::string> environment = {
      {"PEWTER_CACHE_DIR", cache.path().string()}, {"PEWTER_LOG", "compiler"}};
  const std::string first = run("fuse", environment).errors;
  const ProcessResult second = run("fuse_others", environment);

  CHECK(first.find("compiled 'generated'") != std::string::npos);
  CHECK(second.code == 0);
  CHECK_MESSAGE(second.errors.find("compiled") == std::string::npos, second.errors);
}

TEST_CASE("results do not depend on the number of threads") {
  const auto one = facts(run("compute", {{"PEWTER_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}}));
  const auto two = facts(run("compute", {{"PEWTER_THREADS", "2"}, {"OPENBLAS_NUM_THREADS", "2"}}));
  CHECK(one == two);
}

TEST_CASE("products of matrices agree with and without BLAS") {
  const auto values = [](const std::map<std::string, std::string>& found) {
    std::istringstream text(found.at("product"));
    std::vector<double> numbers;
    for (double number = 0; text >> number;) {
      numbers.push_back(number);
    }
    return numbers;
  };
  const std::vector<double> blas = values(facts(run("compute", {})));
  const std::vector<double> kernel = values(facts(run("compute", {{"PEWTER_BLAS", "0"}})));
  REQUIRE(blas.size() == 300);
  REQUIRE(kernel.size() == 300);
  for (std::size_t i = 0; i < blas.size(); ++i) {
    CHECK(blas[i] == doctest::Approx(kernel[i]).epsilon(1e-3));
  }
}

TEST_CASE("metal-memory-and-device 25: without a device a kernel is refused at the call") {
  auto found = facts(run("without_device", {{"PEWTER_DEVICE", "none"}}));
  CHECK(found["built"] == "float32[3]");
  CHECK(starts_with(found["evaluate"], "runtime_error"));
  CHECK(starts_with(found["gpu"], "invalid_argument"));
  CHECK(starts_with(found["stream"], "invalid_argument"));
  CHECK(starts_with(found["kernel"], "runtime_error [metal_kernel]"));
  CHECK(found["info"] == "0");
}

TEST_CASE("metal-memory-and-device 28: the environment disables compile until it is enabled") {
  auto found = facts(run("count_bodies", {{"MLX_DISABLE_COMPILE", "1"}}));
  CHECK(found["runs"] == "2");
  CHECK(found["enabled"] == "3");
}

TEST_CASE("graphs that live longer than main end in order") {
  const ProcessResult result = run("keep_graphs", {});

  CHECK_MESSAGE(result.code == 0, result.errors);
  CHECK(result.output == "kept: 400\n");
}
