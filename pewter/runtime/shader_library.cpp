#include "pewter/runtime/shader_library.h"

#include <fmt/core.h>
#include <pewter/errors.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "pewter/base/environment.h"
#include "pewter/runtime/autorelease_scope.h"
#include "pewter/runtime/device.h"
#include "pewter/runtime/shader_source.h"

namespace pewter::runtime {
namespace {

NS::String* string(const std::string& text) {
  return NS::String::string(text.c_str(), NS::UTF8StringEncoding);
}

std::string text(const NS::Error* error) {
  const NS::String* description = error != nullptr ? error->localizedDescription() : nullptr;
  return description != nullptr ? description->utf8String() : "no reason was given";
}

bool wants_fast_math() {
  static const bool wanted = environment::text("PYTORCH_MPS_FAST_MATH").value_or("0") != "0";
  return wanted;
}

/// Headers of Metal before macOS 15 know fast math and nothing between.
template <typename Options>
void set_math_mode(Options& options, MathMode mode) {
  if constexpr (requires { options.mathMode(); }) {
    options.setMathMode(static_cast<decltype(options.mathMode())>(mode));
    using Functions = decltype(options.mathFloatingPointFunctions());
    constexpr int kPrecise = 1;
    options.setMathFloatingPointFunctions(
        static_cast<Functions>(mode == MathMode::Safe ? kPrecise : 0));
  } else {
    options.setFastMathEnabled(mode == MathMode::Fast);
  }
}

bool is_compile_failure(const NS::Error* error) {
  return error != nullptr && error->code() == NS::Integer(MTL::LibraryErrorCompileFailure) &&
         error->domain()->isEqualToString(string("MTLLibraryErrorDomain"));
}

std::shared_ptr<ShaderLibrary> loaded(NS::SharedPtr<MTL::Library> library,
                                      const std::string& origin,
                                      const NS::Error* error) {
  if (!library) {
    throw std::runtime_error(
        fmt::format("[mps::load_metallib] cannot load {}: {}", origin, text(error)));
  }
  return std::make_shared<ShaderLibrary>(std::move(library));
}

std::vector<std::size_t> used_buffers(const MTL::ComputePipelineReflection* reflection) {
  std::vector<std::size_t> indices;
  const NS::Array* bindings = reflection != nullptr ? reflection->bindings() : nullptr;
  const NS::UInteger count = bindings != nullptr ? bindings->count() : 0;
  for (NS::UInteger i = 0; i < count; ++i) {
    const auto* binding = bindings->object<MTL::Binding>(i);
    if (binding->type() == MTL::BindingTypeBuffer && binding->used()) {
      indices.push_back(binding->index());
    }
  }
  return indices;
}

/// A file of its own with the given content, deleted at the end of the scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const std::byte> content)
      : path_((std::filesystem::temp_directory_path() / "pewter-XXXXXX").string()) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) {
      throw std::runtime_error("[mps::load_metallib] cannot create the file " + path_);
    }
    std::FILE* file = fdopen(descriptor, "wb");
    const std::size_t written = std::fwrite(content.data(), 1, content.size(), file);
    if (std::fclose(file) != 0 || written != content.size()) {
      std::remove(path_.c_str());
      throw std::runtime_error("[mps::load_metallib] cannot write the file " + path_);
    }
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::shared_ptr<ShaderLibrary> ShaderLibrary::compile(std::string_view source) {
  return compile(source, wants_fast_math() ? MathMode::Fast : MathMode::Safe);
}

std::shared_ptr<ShaderLibrary> ShaderLibrary::compile(std::string_view source, MathMode mode) {
  const AutoreleaseScope scope;
  MTL::Device* metal = device();
  const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
  set_math_mode(*options.get(), mode);

  if (source.find('\0') != std::string_view::npos) {
    throw std::runtime_error("[mps::compile_shader] the text holds a zero character");
  }
  NS::String* expanded = string(expand_shader_source(source));
  if (expanded == nullptr) {
    throw std::runtime_error("[mps::compile_shader] the text is not valid UTF-8");
  }
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(metal->newLibrary(expanded, options.get(), &error));
  if (library) {
    return std::make_shared<ShaderLibrary>(std::move(library));
  }
  if (is_compile_failure(error)) {
    throw ShaderSyntaxError(text(error));
  }
  throw std::runtime_error("[mps::compile_shader] " + text(error));
}

std::shared_ptr<ShaderLibrary> ShaderLibrary::load_file(const std::string& path) {
  const AutoreleaseScope scope;
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(device()->newLibrary(string(path), &error));
  return loaded(std::move(library), "'" + path + "'", error);
}

std::shared_ptr<ShaderLibrary> ShaderLibrary::load_image(std::span<const std::byte> image) {
  MTL::Device* metal = device();
  // Through a file: the only way that does not need libdispatch.
  const TemporaryFile file(image);
  const AutoreleaseScope scope;
  NS::Error* error = nullptr;
  auto library = NS::TransferPtr(metal->newLibrary(string(file.path()), &error));
  return loaded(std::move(library), fmt::format("an image of {} bytes", image.size()), error);
}

std::vector<std::string> ShaderLibrary::kernel_names() const {
  const AutoreleaseScope scope;
  std::vector<std::string> names;
  const NS::Array* functions = library_->functionNames();
  const NS::UInteger count = functions != nullptr ? functions->count() : 0;
  for (NS::UInteger i = 0; i < count; ++i) {
    auto* name = functions->object<NS::String>(i);
    const auto function = NS::TransferPtr(library_->newFunction(name));
    if (function && function->functionType() == MTL::FunctionTypeKernel) {
      names.emplace_back(name->utf8String());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::shared_ptr<const ShaderKernel> ShaderLibrary::kernel(const std::string& name,
                                                          GroupSizes sizes) {
  refuse_bad_fork("[mps::compile_shader]");
  const std::scoped_lock lock(mutex_);
  if (const auto known = kernels_.find(name); known != kernels_.end()) {
    if (auto kernel = known->second.lock()) {
      return kernel;
    }
  }
  auto kernel = make_kernel(name, sizes);
  kernels_[name] = kernel;
  return kernel;
}

std::shared_ptr<const ShaderKernel> ShaderLibrary::make_kernel(const std::string& name,
                                                               GroupSizes sizes) const {
  static std::atomic<std::uint64_t> last_number = 0;

  const AutoreleaseScope scope;
  const auto function = NS::TransferPtr(library_->newFunction(string(name)));
  if (!function || function->functionType() != MTL::FunctionTypeKernel) {
    throw std::runtime_error(
        fmt::format("[mps::compile_shader] the library has no kernel named '{}'", name));
  }
  NS::Error* error = nullptr;
  MTL::ComputePipelineReflection* reflection = nullptr;
  auto kernel = std::make_shared<ShaderKernel>();
  const auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
  descriptor->setComputeFunction(function.get());
  descriptor->setThreadGroupSizeIsMultipleOfThreadExecutionWidth(sizes ==
                                                                 GroupSizes::WholeSimdgroups);
  kernel->pipeline = NS::TransferPtr(device()->newComputePipelineState(
      descriptor.get(), MTL::PipelineOptionArgumentInfo, &reflection, &error));
  if (!kernel->pipeline) {
    throw std::runtime_error(
        fmt::format("[mps::compile_shader] kernel '{}': {}", name, text(error)));
  }
  kernel->name = name;
  kernel->number = ++last_number;
  kernel->used_buffers = used_buffers(reflection);
  kernel->library = shared_from_this();
  return kernel;
}

}  // namespace pewter::runtime
