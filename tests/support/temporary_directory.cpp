#include "tests/support/temporary_directory.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

namespace pewter::test {

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (std::filesystem::temp_directory_path() / "pewter-test-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryDirectory::write(const std::string& name, const std::string& content) const {
  const auto file = path_ / name;
  std::ofstream stream(file, std::ios::binary);
  stream << content;
  REQUIRE_MESSAGE(stream.good(), "cannot write ", file.string());
  return file.string();
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  REQUIRE_MESSAGE(stream.good(), "cannot read ", path.string());
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

}  // namespace pewter::test
