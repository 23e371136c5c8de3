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
  CHECK(log.find("pewter[fusion]: one kernel: general divided: multiply exp add") !=
        std::string::npos);
  CHECK(log.find("sqrt sum (1 inputs, 0 constants, 1 outputs)") != std::string::npos);
  CHECK(log.find("add ends its kernel: 2 kernels need it") != std::string::npos);
  CHECK(log.find("matmul has a kernel of its own") != std::string::npos);
  CHECK(run("fuse", {}).errors.empty());
}

TEST_CASE("the log says why an operation that others need is the last of its kernel") {
  const std::string log = run("end_kernels", {{"PEWTER_LOG", "fusion"}}).errors;
  for (const char* const line :
       {"sum ends its kernel: it is a reduction",
        "exp ends its kernel: matmul, which needs it, has a kernel of its own",
        "where ends its kernel: bitwise_xor needs its elements as another type",
        "abs ends its kernel: add needs its elements in another order",
        "log ends its kernel: multiply needs only some of its elements",
        "sqrt ends its kernel: add needs its elements more than once",
        "square ends its kernel: max needs its elements in another order"}) {
    CAPTURE(line);
    CHECK(log.find(line) != std::string::npos);
  }
  CHECK(log.find("on its own") == std::string::npos);
}

TEST_CASE("an expression of known operations is computed before its own kernel is made") {
  const ProcessResult result = run("known_operations", {{"PEWTER_LOG", "fusion"}});

  CHECK(facts(result)["same"] == "yes");
  const std::size_t alone = result.errors.find("5 operations are computed one by one");
  const std::size_t together =
      result.errors.rfind("one kernel: general divided: add multiply maximum multiply add");
  REQUIRE(alone != std::string::npos);
  REQUIRE(together != std::string::npos);
  CHECK(alone < together);
}

TEST_CASE("a process that can start no thread computes all the same, and is told") {
  const ProcessResult result = run("compute_without_threads", {{"PEWTER_LOG", "fusion"}});

  CHECK(facts(result)["sum"] == "360000.000000");
  CHECK(facts(result)["memory"] == "released");
  CHECK(result.errors.find("kernels have no limit of time") != std::string::npos);
  // Nobody makes the kernel in the background.
  CHECK(result.errors.find("one kernel: linear: exp subtract") != std::string::npos);
}

TEST_CASE("a program that ends while matrices are multiplied ends in order") {
  // Libraries have shut down under a product's hands in one of ten runs.
  for (int run_number = 0; run_number < 20; ++run_number) {
    const ProcessResult result = run("end_while_multiplying", {});
    REQUIRE(result.code == 0);
    REQUIRE(result.errors == "");
  }
}

TEST_CASE("what the host computes is finished before the libraries of the program end") {
  const ProcessResult result = run("end_while_host_computes", {});

  CHECK(result.code == 0);
  CHECK(result.output == "work: done\n");
}

TEST_CASE("the end of adopted memory is finished before the program's static objects end") {
  const ProcessResult result = run("end_while_releasing", {});

  CHECK_MESSAGE(result.code == 0, result.errors);
  CHECK(result.output == "release: done\n");
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
  for (const std::string scenario : {"fuse", "broadcast"}) {
    const std::string first = run(scenario, environment).errors;
    const ProcessResult second = run(scenario + "_others", environment);

    CHECK(first.find("compiled 'generated'") != std::string::npos);
    CHECK(second.code == 0);
    CHECK_MESSAGE(second.errors.find("compiled") == std::string::npos, second.errors);
  }
}

TEST_CASE("results have the same bits with any number of threads") {
  const auto with_threads = [](const char* count) {
    return facts(run("compute", {{"PEWTER_THREADS", count}, {"OPENBLAS_NUM_THREADS", count}}));
  };
  const auto one = with_threads("1");
  CHECK(one.size() == 10);
  for (const char* const count : {"2", "3"}) {
    for (const auto& [name, bits] : with_threads(count)) {
      CAPTURE(count);
      CAPTURE(name);
      CHECK(bits == one.at(name));
    }
  }
}

TEST_CASE("products of matrices in every layout are right with BLAS and without") {
  for (const char* const blas : {"1", "0"}) {
    CAPTURE(blas);
    const auto found = facts(run("multiply_matrices", {{"PEWTER_BLAS", blas}}));
    CHECK(found.size() == 3 * 11 * 6);
    for (const auto& [name, distance] : found) {
      CAPTURE(name);
      const double bound = name.starts_with("float32")   ? 1e-6
                           : name.starts_with("float16") ? 1e-3
                                                         : 8e-3;
      CHECK(std::stod(distance) <= bound);
    }
  }
}

TEST_CASE("metal-memory-and-device 21: verbose prints name and text at each call") {
  const std::string text = run("print_kernels", {}).output;
  const std::string head =
      "Generated source code for custom_kernel_spaces_float_floatc_floats_float:";
  CHECK(starts_with(text, head));
  CHECK(text.find("const device float* a [[buffer(0)]]") != std::string::npos);
  CHECK(text.find("const constant float* b [[buffer(1)]]") != std::string::npos);
  CHECK(text.find("const constant float& c [[buffer(2)]]") != std::string::npos);
  const std::size_t second = text.find(head, 1);
  REQUIRE(second != std::string::npos);
  CHECK(text.find(head, second + 1) == std::string::npos);
  CHECK(text.substr(0, second) == text.substr(second));
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

TEST_CASE("without a device there is nothing to wait for") {
  auto found = facts(run("without_device", {{"PEWTER_DEVICE", "none"}}));
  CHECK(found["synchronize"] == "ok");
  CHECK(found["clear"] == "ok");
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

TEST_CASE("destructors of static objects may compute arrays") {
  const ProcessResult result = run("compute_at_end", {});

  CHECK_MESSAGE(result.code == 0, result.errors);
  CHECK(result.output == "computed: 4.000000\n");
}

TEST_CASE("what must be compiled when the compiler has ended is refused") {
  const ProcessResult result = run("compile_at_end", {{"PEWTER_CACHE", "0"}});

  CHECK_MESSAGE(result.code == 0, result.errors);
  const char* const refused = "refused: error: the program is ending, and its compiler has ended\n";
  CHECK(starts_with(result.output, refused));
}
