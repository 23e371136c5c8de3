#include "pewter/metal/driver/compute_pipeline.h"

#include <fmt/format.h>
#include <Metal/MTLDevice.hpp>

#include <algorithm>

#include "pewter/base/kernel_abi.h"
#include "pewter/metal/driver/background.h"
#include "pewter/metal/driver/binary_archive.h"
#include "pewter/metal/driver/device.h"
#include "pewter/metal/driver/ns_error.h"
#include "pewter/metal/driver/pipeline_descriptor.h"
#include "pewter/metal/driver/reflection.h"

namespace pewter::driver {
namespace {

using Outcome = PipelineOutcome;

/// Whether the function constant that switches a parameter on, if any, does so.
bool is_enabled(const compiler::Parameter& parameter, const Function& function) {
  if (parameter.enabled_by.empty()) {
    return true;
  }
  for (const compiler::FunctionConstant& constant : function.library->info().constants) {
    if (constant.name == parameter.enabled_by) {
      const auto value = function.constants.find(constant.index);
      return value != function.constants.end() &&
             std::any_of(value->second.begin(), value->second.end(),
                         [](std::byte byte) { return byte != std::byte{0}; });
    }
  }
  return true;
}

/// Parameters that are switched off count as well: code may read their places without using them.
void raise_index_limits(ComputePipelineState& pipeline, const compiler::Parameter& parameter) {
  const std::uint32_t end = parameter.index + parameter.count;
  if (parameter.kind == compiler::ParameterKind::Buffer ||
      parameter.kind == compiler::ParameterKind::FunctionTable) {
    pipeline.buffer_limit = std::min(std::max(pipeline.buffer_limit, end), abi::kMaxBuffers);
  } else if (parameter.kind == compiler::ParameterKind::Threadgroup) {
    pipeline.threadgroup_argument_limit =
        std::min(std::max(pipeline.threadgroup_argument_limit, end), abi::kMaxThreadgroupArguments);
  }
}

/// The smallest of the limits that are given; 0 means not given.
std::uint32_t thread_limit(const ComputePipelineDescriptor& descriptor, const Function& function) {
  std::uint64_t limit = abi::kMaxThreadsPerThreadgroup;
  const std::uint32_t* required = function.kernel.required_threads;
  const std::uint64_t given[] = {function.kernel.max_total_threads, function.max_total_threads,
                                 descriptor.max_total_threads,
                                 std::uint64_t{required[0]} * required[1] * required[2]};
  for (const std::uint64_t one : given) {
    limit = one != 0 ? std::min(limit, one) : limit;
  }
  return static_cast<std::uint32_t>(limit);
}

/// What a descriptor links: first what the host can put into tables.
Result<std::vector<compiler::LinkedFunction>> linked_by(const ComputePipelineDescriptor& descriptor,
                                                        std::size_t& tabled) {
  std::vector<compiler::LinkedFunction> linked;
  const LinkedFunctions* groups = descriptor.linked_functions.get();
  if (groups == nullptr) {
    return linked;
  }
  for (const auto* array :
       {&groups->functions, &groups->binary_functions, &groups->private_functions}) {
    tabled = array == &groups->private_functions ? linked.size() : tabled;
    auto functions = linked_functions(array->get());
    if (!functions) {
      return functions.error();
    }
    linked.insert(linked.end(), functions->begin(), functions->end());
  }
  return linked;
}

Result<void> take_archives(const ComputePipelineDescriptor& descriptor,
                           compiler::KernelRequest& request) {
  if (!descriptor.binary_archives) {
    return {};
  }
  for (const auto& item : descriptor.binary_archives->items) {
    auto* archive = impl<BinaryArchive>(handle(item));
    if (archive == nullptr) {
      return failure("binaryArchives holds an object that is no binary archive");
    }
    request.archives.push_back(archive->code);
  }
  return {};
}

}  // namespace

ComputePipelineState::~ComputePipelineState() {
  if (support_indirect_command_buffers) {
    device().forget_pipeline(this);
  }
}

Result<std::vector<compiler::LinkedFunction>> linked_functions(const foundation::Array* functions) {
  std::vector<compiler::LinkedFunction> linked;
  if (functions == nullptr) {
    return linked;
  }
  for (const auto& item : functions->items) {
    auto* function = impl<Function>(handle(item));
    if (function == nullptr) {
      return failure("linked functions hold an object that is no function");
    }
    if (function->kernel.kind != compiler::FunctionKind::Visible) {
      return failure(
          fmt::format("'{}' is no visible function and cannot be linked", function->kernel.name));
    }
    linked.push_back({function->library, function->kernel.name, function->constants});
  }
  return linked;
}

Outcome build_pipeline(const ComputePipelineDescriptor& descriptor,
                       MTL::PipelineOption options,
                       const std::vector<compiler::LinkedFunction>& more,
                       const std::shared_ptr<compiler::CodeArchive>& record) {
  const Function* function = descriptor.function.get();
  if (function == nullptr) {
    return {nullptr, library_error(MTL::LibraryErrorFunctionNotFound,
                                   "the pipeline descriptor has no compute function")};
  }
  auto pipeline = make_ref<ComputePipelineState>();
  auto linked = linked_by(descriptor, pipeline->tabled);
  if (!linked) {
    return {nullptr, library_error(MTL::LibraryErrorUnsupported, linked.error().message)};
  }
  if (!more.empty()) {
    linked->insert(linked->end(), more.begin(), more.end());
    pipeline->tabled = linked->size();
  }

  const std::string& name = function->kernel.name;
  compiler::KernelRequest request;
  request.kernel = name;
  request.constants = function->constants;
  request.linked = *linked;
  request.only_from_archives = (options & MTL::PipelineOptionFailOnBinaryArchiveMiss) != 0;
  request.record = record;
  request.parts = descriptor.group_size_is_multiple_of_width ? compiler::GroupParts::Unlikely
                                                             : compiler::GroupParts::Possible;
  if (auto taken = take_archives(descriptor, request); !taken) {
    return {nullptr, library_error(MTL::LibraryErrorUnsupported, taken.error().message)};
  }
  const std::uint32_t* required = function->kernel.required_threads;
  auto variants = KernelVariants::create(function->library, std::move(request),
                                         {required[0], required[1], required[2]});
  if (!variants) {
    return {nullptr, compile_error(variants.error())};
  }

  pipeline->variants = std::move(*variants);
  pipeline->linked = std::move(*linked);
  pipeline->added = more;
  if (!pipeline->linked.empty() || descriptor.support_adding_binary_functions) {
    pipeline->descriptor = Ref<ComputePipelineDescriptor>::adopt(
        static_cast<ComputePipelineDescriptor*>(descriptor.copy()));
  }
  const compiler::KernelCode& code = pipeline->variants->code();
  pipeline->kernel_name = name;
  pipeline->label = descriptor.label;
  for (const compiler::Parameter& parameter : function->kernel.parameters) {
    if (parameter.kind != compiler::ParameterKind::Builtin && is_enabled(parameter, *function)) {
      pipeline->parameters.push_back(parameter);
    }
    raise_index_limits(*pipeline, parameter);
  }
  pipeline->required_buffers = code.required_buffers;
  pipeline->streamed_buffers = code.streamed_buffers;
  pipeline->required_textures = code.required_textures;
  pipeline->required_samplers = code.required_samplers;
  pipeline->required_threadgroup_arguments = code.required_threadgroup_arguments;
  pipeline->uses_log = code.uses_log;
  pipeline->static_threadgroup_bytes = code.threadgroup_bytes;
  pipeline->max_total_threads = thread_limit(descriptor, *function);
  std::copy_n(function->kernel.required_threads, 3, pipeline->required_threads);
  pipeline->shader_validation = descriptor.shader_validation;
  if (descriptor.support_indirect_command_buffers) {
    pipeline->support_indirect_command_buffers = true;
    device().know_pipeline(pipeline.get());
  }
  return {std::move(pipeline), nullptr};
}

namespace {

Ref<ComputePipelineDescriptor> descriptor_for(const MTL::Function* function,
                                              const std::source_location& where) {
  auto descriptor = make_ref<ComputePipelineDescriptor>();
  descriptor->function = Ref<Function>(impl<Function>(function, where));
  return descriptor;
}

/// The caller's descriptor, copied because the caller may change it afterwards; an empty one for
/// null.
Ref<ComputePipelineDescriptor> own_descriptor(const MTL::ComputePipelineDescriptor* descriptor,
                                              const std::source_location& where) {
  auto* given = impl<ComputePipelineDescriptor>(descriptor, where);
  return given != nullptr ? Ref<ComputePipelineDescriptor>::adopt(
                                static_cast<ComputePipelineDescriptor*>(given->copy()))
                          : make_ref<ComputePipelineDescriptor>();
}

Ref<ComputePipelineReflection> reflect(const Outcome& outcome, MTL::PipelineOption options) {
  constexpr MTL::PipelineOption kWanted =
      MTL::PipelineOptionBindingInfo | MTL::PipelineOptionBufferTypeInfo;
  if (!outcome.pipeline || (options & kWanted) == 0) {
    return nullptr;
  }
  return make_ref<ComputePipelineReflection>(outcome.pipeline->parameters);
}

MTL::ComputePipelineState* build_now(const MTL::Device* owner,
                                     const ComputePipelineDescriptor& descriptor,
                                     MTL::PipelineOption options,
                                     const MTL::AutoreleasedComputePipelineReflection* reflection,
                                     NS::Error** error,
                                     const std::source_location& where) {
  if (impl<Device>(owner, where) == nullptr) {
    return nullptr;
  }
  auto outcome = build_pipeline(descriptor, options);
  report(error, std::move(outcome.error));
  if (reflection != nullptr) {
    // metal-cpp declares the place constant, and Metal writes to it all the same.
    *const_cast<MTL::ComputePipelineReflection**>(reflection) =
        autoreleased(reflect(outcome, options));
  }
  return handle(outcome.pipeline.leak());
}

void build_later(const MTL::Device* owner,
                 Ref<ComputePipelineDescriptor> descriptor,
                 MTL::PipelineOption options,
                 const MTL::NewComputePipelineStateWithReflectionCompletionHandlerFunction& handler,
                 const std::source_location& where) {
  if (impl<Device>(owner, where) == nullptr || !handler) {
    return;
  }
  run_in_background([descriptor = std::move(descriptor), options, handler] {
    const auto outcome = build_pipeline(*descriptor, options);
    const auto reflection = reflect(outcome, options);
    handler(handle(outcome.pipeline), handle(reflection), handle(outcome.error));
  });
}

}  // namespace
}  // namespace pewter::driver

namespace driver = pewter::driver;
using Body = driver::ComputePipelineState;
using driver::get;
using driver::impl;
using Here = std::source_location;

MTL::ComputePipelineState* MTL::Device::newComputePipelineState(const Function* computeFunction,
                                                                NS::Error** error) {
  return driver::build_now(this, *driver::descriptor_for(computeFunction, Here::current()),
                           PipelineOptionNone, nullptr, error, Here::current());
}

MTL::ComputePipelineState* MTL::Device::newComputePipelineState(
    const Function* computeFunction,
    MTL::PipelineOption options,
    const AutoreleasedComputePipelineReflection* reflection,
    NS::Error** error) {
  return driver::build_now(this, *driver::descriptor_for(computeFunction, Here::current()), options,
                           reflection, error, Here::current());
}

MTL::ComputePipelineState* MTL::Device::newComputePipelineState(
    const ComputePipelineDescriptor* descriptor,
    MTL::PipelineOption options,
    const AutoreleasedComputePipelineReflection* reflection,
    NS::Error** error) {
  return driver::build_now(this, *driver::own_descriptor(descriptor, Here::current()), options,
                           reflection, error, Here::current());
}

void MTL::Device::newComputePipelineState(
    const Function* pFunction,
    const NewComputePipelineStateCompletionHandlerFunction& completionHandler) {
  if (completionHandler) {
    driver::build_later(
        this, driver::descriptor_for(pFunction, Here::current()), PipelineOptionNone,
        [completionHandler](ComputePipelineState* pipeline, ComputePipelineReflection*,
                            NS::Error* error) { completionHandler(pipeline, error); },
        Here::current());
  }
}

void MTL::Device::newComputePipelineState(
    const Function* pFunction,
    MTL::PipelineOption options,
    const NewComputePipelineStateWithReflectionCompletionHandlerFunction& completionHandler) {
  driver::build_later(this, driver::descriptor_for(pFunction, Here::current()), options,
                      completionHandler, Here::current());
}

void MTL::Device::newComputePipelineState(
    const ComputePipelineDescriptor* pDescriptor,
    MTL::PipelineOption options,
    const NewComputePipelineStateWithReflectionCompletionHandlerFunction& completionHandler) {
  driver::build_later(this, driver::own_descriptor(pDescriptor, Here::current()), options,
                      completionHandler, Here::current());
}

NS::String* MTL::ComputePipelineState::label() const {
  return get(this, &Body::label);
}

MTL::Device* MTL::ComputePipelineState::device() const {
  return driver::device_of(impl<Body>(this));
}

NS::UInteger MTL::ComputePipelineState::maxTotalThreadsPerThreadgroup() const {
  return get(this, &Body::max_total_threads);
}

NS::UInteger MTL::ComputePipelineState::threadExecutionWidth() const {
  return impl<Body>(this) != nullptr ? pewter::abi::kSimdWidth : 0;
}

NS::UInteger MTL::ComputePipelineState::staticThreadgroupMemoryLength() const {
  return get(this, &Body::static_threadgroup_bytes);
}

NS::UInteger MTL::ComputePipelineState::imageblockMemoryLength(MTL::Size) {
  return 0;
}

bool MTL::ComputePipelineState::supportIndirectCommandBuffers() const {
  return get(this, &Body::support_indirect_command_buffers);
}

MTL::ResourceID MTL::ComputePipelineState::gpuResourceID() const {
  return {reinterpret_cast<std::uintptr_t>(impl<Body>(this))};
}

MTL::ShaderValidation MTL::ComputePipelineState::shaderValidation() const {
  return get(this, &Body::shader_validation);
}
