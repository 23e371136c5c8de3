#include "pewter/array/ops/custom_kernel_text.h"

#include <fmt/core.h>

#include <array>
#include <cctype>
#include <string_view>
#include <unordered_set>

#include "pewter/array/ops/kernel_source.h"

namespace pewter::ops {
namespace {

// Inputs with fewer elements lie in constant space.
constexpr std::size_t kMinDeviceElements = 8;

constexpr std::array<std::string_view, 11> kNumbers = {
    "dispatch_quadgroups_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup",
    "quadgroup_index_in_threadgroup",
    "quadgroups_per_threadgroup",
    "simdgroup_index_in_threadgroup",
    "simdgroups_per_threadgroup",
    "thread_execution_width",
    "thread_index_in_quadgroup",
    "thread_index_in_simdgroup",
    "thread_index_in_threadgroup",
    "threads_per_simdgroup",
};
constexpr std::array<std::string_view, 9> kTriples = {
    "dispatch_threads_per_threadgroup",
    "grid_origin",
    "grid_size",
    "thread_position_in_grid",
    "thread_position_in_threadgroup",
    "threadgroup_position_in_grid",
    "threadgroups_per_grid",
    "threads_per_grid",
    "threads_per_threadgroup",
};

std::string_view type_name(Dtype dtype) {
  static constexpr std::array<std::string_view, 13> kNames = {
      "bool",    "uint8_t", "uint16_t",  "uint32_t",   "uint64_t", "int8_t",     "int16_t",
      "int32_t", "int64_t", "float16_t", "bfloat16_t", "float",    "complex64_t"};
  return kNames[static_cast<std::size_t>(dtype)];
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The identifiers of a text, without those in comments and literals.
std::unordered_set<std::string> identifiers(const std::string& text) {
  std::unordered_set<std::string> found;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string::npos ? text.size() : end + 2;
    } else if (text[i] == '"' || text[i] == '\'') {
      const char quote = text[i++];
      while (i < text.size() && text[i] != quote) {
        i += text[i] == '\\' ? 2 : 1;
      }
      ++i;
    } else if (is_word(text[i])) {
      const std::size_t begin = i;
      // Digits of numbers may be set apart with quotes.
      const bool is_number = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
      while (i < text.size() &&
             (is_word(text[i]) ||
              (is_number && text[i] == '\'' && i + 1 < text.size() && is_word(text[i + 1])))) {
        ++i;
      }
      found.insert(text.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return found;
}

struct TemplateTexts {
  std::string declaration;
  std::string values;
  std::string name;
};

TemplateTexts template_texts(const fast::TemplateArguments& arguments) {
  TemplateTexts texts;
  for (const auto& [name, value] : arguments) {
    const char* const comma = texts.values.empty() ? "" : ", ";
    if (const auto* dtype = std::get_if<Dtype>(&value)) {
      texts.declaration += fmt::format("{}typename {}", comma, name);
      texts.values += fmt::format("{}{}", comma, type_name(*dtype));
      texts.name += fmt::format("_{}", type_name(*dtype));
    } else if (const auto* flag = std::get_if<bool>(&value)) {
      texts.declaration += fmt::format("{}bool {}", comma, name);
      texts.values += fmt::format("{}{}", comma, *flag);
      texts.name += fmt::format("_{}", *flag ? "t" : "f");
    } else {
      const int number = std::get<int>(value);
      texts.declaration += fmt::format("{}int {}", comma, name);
      texts.values += fmt::format("{}{}", comma, number);
      texts.name += fmt::format("_{}{}", number < 0 ? "n" : "", std::abs(std::int64_t{number}));
    }
  }
  return texts;
}

}  // namespace

bool mentions(const std::string& text, const std::string& identifier) {
  return identifiers(text).contains(identifier);
}

CustomKernelText custom_kernel_text(const CustomKernel& kernel,
                                    const std::vector<array>& inputs,
                                    const std::vector<Dtype>& output_dtypes,
                                    const fast::TemplateArguments& arguments) {
  const std::unordered_set<std::string> words = identifiers(kernel.source);
  const TemplateTexts templates = template_texts(arguments);
  CustomKernelText result;
  std::string name = "custom_kernel_" + kernel.name + templates.name;
  std::string parameters;
  std::size_t index = 0;
  const auto add = [&](const std::string& parameter) {
    parameters += fmt::format("{}    {} [[buffer({})]]", index > 0 ? ",\n" : "", parameter, index);
    ++index;
  };

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string& input = kernel.input_names[i];
    CustomInput passed;
    passed.dtype = inputs[i].dtype();
    passed.is_scalar = inputs[i].ndim() == 0;
    passed.is_constant_space = passed.is_scalar || inputs[i].size() < kMinDeviceElements;
    const std::string_view type = type_name(passed.dtype);
    name += fmt::format("_{}{}", type,
                        passed.is_scalar           ? "s"
                        : passed.is_constant_space ? "c"
                                                   : "");
    add(fmt::format("const {} {}{} {}", passed.is_constant_space ? "constant" : "device", type,
                    passed.is_scalar ? "&" : "*", input));
    if (!passed.is_scalar) {
      passed.has_shape = words.contains(input + "_shape");
      passed.has_strides = words.contains(input + "_strides");
      passed.has_rank = words.contains(input + "_ndim");
    }
    if (passed.has_shape) {
      add(fmt::format("const constant int* {}_shape", input));
    }
    if (passed.has_strides) {
      add(fmt::format("const constant int64_t* {}_strides", input));
    }
    if (passed.has_rank) {
      add(fmt::format("const constant int& {}_ndim", input));
    }
    result.inputs.push_back(passed);
  }
  for (std::size_t i = 0; i < output_dtypes.size(); ++i) {
    const std::string_view type = type_name(output_dtypes[i]);
    name += fmt::format("_{}", type);
    add(kernel.atomic_outputs ? fmt::format("device atomic<{}>* {}", type, kernel.output_names[i])
                              : fmt::format("device {}* {}", type, kernel.output_names[i]));
  }
  for (const std::string_view attribute : kNumbers) {
    if (words.contains(std::string(attribute))) {
      parameters += fmt::format(",\n    uint {} [[{}]]", attribute, attribute);
    }
  }
  for (const std::string_view attribute : kTriples) {
    if (words.contains(std::string(attribute))) {
      parameters += fmt::format(",\n    uint3 {} [[{}]]", attribute, attribute);
    }
  }

  const bool is_template = !arguments.empty();
  result.text = std::string(kernel_source("custom_kernel.metal")) + "\n" + kernel.header + "\n";
  if (is_template) {
    result.text += fmt::format("template <{}>\n", templates.declaration);
  }
  const std::string function = is_template ? "custom_kernel_" + kernel.name : name;
  // In a block of its own, where a variable may have the name of a parameter.
  result.text += fmt::format("[[kernel]] void {}(\n{}) {{ {{\n{}\n}} }}\n", function, parameters,
                             kernel.source);
  if (is_template) {
    result.text +=
        fmt::format("template [[host_name(\"{}\")]] [[kernel]] decltype({}<{}>) {}<{}>;\n", name,
                    function, templates.values, function, templates.values);
  }
  result.host_name = name;
  return result;
}

}  // namespace pewter::ops
