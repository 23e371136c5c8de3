#include "pewter/array/fusion/kernel_structure.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace pewter::fusion {
namespace {

template <typename T>
void append_bytes(std::string& key, const std::vector<T>& values) {
  key.push_back(static_cast<char>(values.size()));
  key.push_back(static_cast<char>(values.size() >> 8U));
  key.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::Linear:
      return "linear";
    case Layout::Grid:
      return "grid";
    case Layout::Tiled:
      return "tiled";
    case Layout::Divided:
      return "divided";
    case Layout::DividedDeep:
      return "deeply divided";
    case Layout::Rows:
      return "rows";
    case Layout::Columns:
      return "columns";
  }
  return "";
}

}  // namespace

void KernelStructure::clear() {
  steps.clear();
  inputs.clear();
  constants.clear();
  outputs.clear();
}

KernelStructure KernelStructure::general() const {
  KernelStructure result = *this;
  if (!is_reduction()) {
    result.layout = Layout::Divided;
  }
  for (Input& input : result.inputs) {
    input.access = Access::Strided;
  }
  return result;
}

bool KernelStructure::is_general() const {
  return (is_reduction() || layout == Layout::Divided) && !inputs.empty() &&
         std::all_of(inputs.begin(), inputs.end(),
                     [](const Input& input) { return input.access == Access::Strided; });
}

void KernelStructure::append_key(std::string& key) const {
  key.push_back(static_cast<char>(layout));
  if (is_reduction()) {
    key.push_back(static_cast<char>(reduction));
    key.push_back(static_cast<char>(accumulator));
    key.push_back(static_cast<char>(reduced));
  }
  append_bytes(key, steps);
  append_bytes(key, inputs);
  append_bytes(key, constants);
  append_bytes(key, outputs);
}

std::string describe(const KernelStructure& structure) {
  std::string text = structure.is_general() ? "general " : "";
  text += layout_name(structure.layout);
  text += ":";
  for (const Step& step : structure.steps) {
    text += fmt::format(" {}", ops::elementwise_table()[step.row].name);
  }
  if (structure.is_reduction()) {
    text += fmt::format(" {}", ops::name_of(structure.reduction));
  }
  return text + fmt::format(" ({} inputs, {} constants, {} outputs)", structure.inputs.size(),
                            structure.constants.size(),
                            structure.is_reduction() ? 1 : structure.outputs.size());
}

}  // namespace pewter::fusion
