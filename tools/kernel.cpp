#include "tools/kernel.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/failure.h"
#include "tools/nearest_name.h"

namespace pewter::tools {
namespace {

std::string read_source(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) {
    command_error("cannot read '{}': {}", path,
                  std::filesystem::exists(path, code) ? "not a file" : "no such file");
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) {
    command_error("cannot read '{}'", path);
  }
  return content.str();
}

NS::String* string(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

std::string text(const NS::Error* error) {
  return error == nullptr ? "unknown error" : error->localizedDescription()->utf8String();
}

// The device calls every source text "program_source"; here it has a name.
std::string with_file_name(std::string messages, const std::string& file) {
  static constexpr std::string_view kPlaceholder = "program_source:";
  for (std::size_t start = 0; start < messages.size();) {
    if (messages.compare(start, kPlaceholder.size(), kPlaceholder) == 0) {
      messages.replace(start, kPlaceholder.size(), file + ":");
    }
    const auto end = messages.find('\n', start);
    start = end == std::string::npos ? messages.size() : end + 1;
  }
  return messages;
}

[[noreturn]] void refuse(const NS::Error* error, const RunRequest& request) {
  constexpr std::string_view kNoPlace = "error: ";
  std::string messages = with_file_name(text(error), request.file);
  messages.erase(messages.find_last_not_of('\n') + 1);
  // What concerns the whole kernel has no place in the source.
  if (messages.starts_with(kNoPlace)) {
    command_error("{}", messages.substr(kNoPlace.size()));
  }
  throw SourceError(messages);
}

NS::SharedPtr<MTL::CompileOptions> compile_options(const RunRequest& request) {
  auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  std::vector<const NS::Object*> names;
  std::vector<const NS::Object*> values;
  for (const auto& [name, value] : request.defines) {
    names.push_back(string(name));
    values.push_back(string(value));
  }
  if (!names.empty()) {
    options->setPreprocessorMacros(
        NS::Dictionary::dictionary(values.data(), names.data(), names.size()));
  }
  return options;
}

std::string choose_kernel(const MTL::Library* library, const RunRequest& request) {
  std::vector<std::string> names;
  const NS::Array* listed = library->functionNames();
  for (NS::UInteger i = 0; i < listed->count(); ++i) {
    names.emplace_back(listed->object<NS::String>(i)->utf8String());
  }
  std::sort(names.begin(), names.end());

  if (names.empty()) {
    command_error("{}: no kernels in this file", request.file);
  }
  if (request.kernel.empty()) {
    if (names.size() > 1) {
      command_error("{}: {} kernels in this file, choose one with --kernel{}", request.file,
                    names.size(), suggestion("", names));
    }
    return names.front();
  }
  if (std::find(names.begin(), names.end(), request.kernel) == names.end()) {
    command_error("{}: no kernel named '{}'{}", request.file, request.kernel,
                  suggestion(request.kernel, names));
  }
  return request.kernel;
}

bool is_index(const std::string& name) {
  return !name.empty() && name.size() < 4 &&
         name.find_first_not_of("0123456789") == std::string::npos;
}

/// Metal ignores a value for a constant that the kernel does not mention; a misspelling should not
/// go unseen.
void warn_of_unknown_constants(MTL::Library* library,
                               const std::string& name,
                               const RunRequest& request) {
  const auto function = NS::TransferPtr(library->newFunction(string(name)));
  if (request.constants.empty() || !function) {
    return;
  }
  std::vector<std::string> names;
  std::vector<std::string> indices;
  const NS::Dictionary* constants = function->functionConstantsDictionary();
  auto* keys = constants->keyEnumerator<NS::String>();
  while (const NS::String* key = keys->nextObject()) {
    names.emplace_back(key->utf8String());
    indices.push_back(std::to_string(constants->object<MTL::FunctionConstant>(key)->index()));
  }
  for (const auto& [constant, value] : request.constants) {
    const auto& known = is_index(constant) ? indices : names;
    if (std::find(known.begin(), known.end(), constant) == known.end()) {
      fmt::print(stderr, "pewter: warning: kernel '{}' has no function constant '{}'{}\n", name,
                 constant, suggestion(constant, known));
    }
  }
}

NS::SharedPtr<MTL::Function> specialise(MTL::Library* library,
                                        const std::string& name,
                                        const RunRequest& request) {
  auto values = NS::TransferPtr(MTL::FunctionConstantValues::alloc()->init());
  for (const auto& [constant, value] : request.constants) {
    if (is_index(constant)) {
      values->setConstantValue(value.bytes.data(), value.type.data_type(),
                               static_cast<NS::UInteger>(std::stoul(constant)));
    } else {
      values->setConstantValue(value.bytes.data(), value.type.data_type(), string(constant));
    }
  }
  NS::Error* error = nullptr;
  auto function = NS::TransferPtr(library->newFunction(string(name), values.get(), &error));
  if (!function) {
    refuse(error, request);
  }
  return function;
}

std::vector<KernelParameter> read_parameters(const MTL::ComputePipelineReflection* reflection) {
  std::vector<KernelParameter> parameters;
  const NS::Array* bindings = reflection == nullptr ? nullptr : reflection->bindings();
  for (NS::UInteger i = 0; bindings != nullptr && i < bindings->count(); ++i) {
    const auto* binding = bindings->object<MTL::Binding>(i);
    KernelParameter parameter;
    parameter.name = binding->name()->utf8String();
    parameter.index = static_cast<std::uint32_t>(binding->index());
    parameter.is_buffer = binding->type() == MTL::BindingTypeBuffer;
    parameter.used = binding->used();
    if (parameter.is_buffer) {
      const auto* buffer = static_cast<const MTL::BufferBinding*>(binding);
      parameter.data_bytes = buffer->bufferDataSize();
      parameter.data_type = buffer->bufferDataType();
    }
    if (parameter.is_buffer || binding->type() == MTL::BindingTypeThreadgroupMemory) {
      parameters.push_back(parameter);
    }
  }
  return parameters;
}

}  // namespace

NS::SharedPtr<MTL::Device> open_device() {
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) {
    command_error("there is no Metal device (PEWTER_DEVICE=none?)");
  }
  return device;
}

Kernel compile_kernel(const RunRequest& request) {
  const std::string source = read_source(request.file);
  Kernel kernel;
  kernel.device = open_device();
  const auto start = std::chrono::steady_clock::now();

  NS::Error* error = nullptr;
  const auto options = compile_options(request);
  auto library = NS::TransferPtr(kernel.device->newLibrary(string(source), options.get(), &error));
  if (!library) {
    refuse(error, request);
  }
  kernel.name = choose_kernel(library.get(), request);
  warn_of_unknown_constants(library.get(), kernel.name, request);
  const auto function = specialise(library.get(), kernel.name, request);

  MTL::ComputePipelineReflection* reflection = nullptr;
  kernel.pipeline = NS::TransferPtr(kernel.device->newComputePipelineState(
      function.get(), MTL::PipelineOptionArgumentInfo | MTL::PipelineOptionBufferTypeInfo,
      &reflection, &error));
  if (!kernel.pipeline) {
    refuse(error, request);
  }
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  kernel.compile_ms = elapsed.count();
  kernel.parameters = read_parameters(reflection);
  return kernel;
}

const KernelParameter& find_parameter(const Kernel& kernel,
                                      const std::string& name,
                                      bool is_buffer,
                                      std::string_view flag) {
  std::vector<std::string> names;
  for (const KernelParameter& parameter : kernel.parameters) {
    if (parameter.is_buffer != is_buffer) {
      continue;
    }
    if (parameter.name == name || (is_index(name) && parameter.index == std::stoul(name))) {
      return parameter;
    }
    names.push_back(parameter.name);
  }
  command_error("{} {}: kernel '{}' has no {} parameter '{}'{}", flag, name, kernel.name,
                is_buffer ? "buffer" : "threadgroup", name, suggestion(name, names));
}

}  // namespace pewter::tools
