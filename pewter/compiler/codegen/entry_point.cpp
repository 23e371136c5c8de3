#include "pewter/compiler/codegen/entry_point.h"

#include <cstddef>
#include <functional>
#include <map>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/codegen/thread_values.h"
#include "pewter/compiler/codegen/threadgroup_memory.h"
#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::codegen {
namespace {

constexpr const char* kBufferCall = "pewter.buffer";
constexpr const char* kThreadgroupCall = "pewter.threadgroup_argument";
constexpr const char* kTextureCall = "pewter.texture";
constexpr const char* kSamplerCall = "pewter.sampler";
// Called by the standard library itself.
constexpr const char* kLogCall = "pewter.log_buffer";

using Builder = llvm::IRBuilder<>;
using Triple = std::array<llvm::Value*, 3>;

// Nothing writes to a launch or a group while its threads run.
void mark_invariant(llvm::LoadInst& load) {
  load.setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load.getContext(), {}));
}

/// The values that a thread's built-in inputs are made of; whatever is not used folds away.
class ThreadValues {
 public:
  ThreadValues(Builder& builder, llvm::Function& thread)
      : builder_(builder),
        launch_(thread.getArg(0)),
        group_(thread.getArg(1)),
        row_group_(thread.getArg(3)) {}

  /// The built-in input `name` as three i32 values; only the first counts for scalars.
  Triple input(const std::string& name) {
    const auto found = inputs().find(name);
    return found == inputs().end() ? Triple{} : found->second(*this);
  }

 private:
  using Input = std::function<Triple(ThreadValues&)>;

  static const std::map<std::string, Input>& inputs() {
    static const std::map<std::string, Input> table = {
        {"thread_position_in_threadgroup", [](ThreadValues& v) { return v.position_in_group(); }},
        {"thread_position_in_grid", [](ThreadValues& v) { return v.position_in_grid(); }},
        {"thread_index_in_threadgroup", [](ThreadValues& v) { return v.own(ThreadValue::Index); }},
        {"threadgroup_position_in_grid", [](ThreadValues& v) { return v.group_position(); }},
        {"threads_per_threadgroup",
         [](ThreadValues& v) { return v.group_triple(offsetof(abi::Group, size)); }},
        {"dispatch_threads_per_threadgroup",
         [](ThreadValues& v) {
           return v.launch_triple(offsetof(abi::Launch, threads_per_threadgroup));
         }},
        {"threads_per_grid",
         [](ThreadValues& v) { return v.launch_triple(offsetof(abi::Launch, threads_per_grid)); }},
        {"grid_size",
         [](ThreadValues& v) { return v.launch_triple(offsetof(abi::Launch, threads_per_grid)); }},
        {"grid_origin",
         [](ThreadValues& v) { return v.launch_triple(offsetof(abi::Launch, grid_origin)); }},
        {"threadgroups_per_grid",
         [](ThreadValues& v) {
           return v.launch_triple(offsetof(abi::Launch, threadgroups_per_grid));
         }},
        {"thread_index_in_simdgroup", [](ThreadValues& v) { return v.own(ThreadValue::SimdLane); }},
        {"simdgroup_index_in_threadgroup",
         [](ThreadValues& v) { return v.own(ThreadValue::Simdgroup); }},
        {"thread_index_in_quadgroup", [](ThreadValues& v) { return v.own(ThreadValue::QuadLane); }},
        {"quadgroup_index_in_threadgroup",
         [](ThreadValues& v) { return v.own(ThreadValue::Quadgroup); }},
        {"simdgroups_per_threadgroup",
         [](ThreadValues& v) { return v.groups_of(v.group_size(), 5); }},
        {"quadgroups_per_threadgroup",
         [](ThreadValues& v) { return v.groups_of(v.group_size(), 2); }},
        {"dispatch_simdgroups_per_threadgroup",
         [](ThreadValues& v) { return v.groups_of(v.dispatch_size(), 5); }},
        {"dispatch_quadgroups_per_threadgroup",
         [](ThreadValues& v) { return v.groups_of(v.dispatch_size(), 2); }},
        {"threads_per_simdgroup",
         [](ThreadValues& v) { return v.scalar(v.number(abi::kSimdWidth)); }},
        {"thread_execution_width",
         [](ThreadValues& v) { return v.scalar(v.number(abi::kSimdWidth)); }},
    };
    return table;
  }

  llvm::Value* number(std::uint32_t value) { return builder_.getInt32(value); }
  Triple scalar(llvm::Value* value) { return {value, number(0), number(0)}; }
  Triple own(ThreadValue value) { return scalar(thread_value(builder_, value)); }

  Triple load_triple(llvm::Value* base, std::size_t offset) {
    Triple result;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      llvm::Value* address = builder_.CreateConstInBoundsGEP1_64(
          builder_.getInt8Ty(), base, offset + axis * sizeof(std::uint32_t));
      auto* load = builder_.CreateAlignedLoad(builder_.getInt32Ty(), address, llvm::Align(4));
      mark_invariant(*load);
      result[axis] = load;
    }
    return result;
  }

  Triple launch_triple(std::size_t offset) { return load_triple(launch_, offset); }
  Triple group_triple(std::size_t offset) { return load_triple(group_, offset); }

  Triple group_position() {
    Triple result = group_triple(offsetof(abi::Group, position));
    result[0] = builder_.CreateAdd(result[0], row_group_, "", true);
    return result;
  }

  Triple position_in_group() {
    return {thread_value(builder_, ThreadValue::X), thread_value(builder_, ThreadValue::Y),
            thread_value(builder_, ThreadValue::Z)};
  }

  Triple position_in_grid() {
    const Triple local = position_in_group();
    const Triple group = group_position();
    const Triple size = launch_triple(offsetof(abi::Launch, threads_per_threadgroup));
    const Triple origin = launch_triple(offsetof(abi::Launch, grid_origin));
    Triple result;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      // A grid has fewer than 2^32 threads along each axis.
      llvm::Value* first = builder_.CreateMul(group[axis], size[axis], "", true);
      result[axis] = builder_.CreateAdd(builder_.CreateAdd(origin[axis], first, "", true),
                                        local[axis], "", true);
    }
    return result;
  }

  llvm::Value* product(const Triple& size) {
    return builder_.CreateMul(builder_.CreateMul(size[0], size[1]), size[2]);
  }
  llvm::Value* group_size() { return product(group_triple(offsetof(abi::Group, size))); }
  llvm::Value* dispatch_size() {
    return product(launch_triple(offsetof(abi::Launch, threads_per_threadgroup)));
  }
  Triple groups_of(llvm::Value* threads, std::uint32_t shift) {
    llvm::Value* rounded = builder_.CreateAdd(threads, number((1U << shift) - 1));
    return scalar(builder_.CreateLShr(rounded, number(shift)));
  }

  Builder& builder_;
  llvm::Value* launch_;
  llvm::Value* group_;
  llvm::Value* row_group_;
};

/// A built-in input in the shape that the kernel's IR argument wants, through memory: Clang chooses
/// that shape.
llvm::Value* shape_input(Builder& builder,
                         const Triple& input,
                         const ValueType& type,
                         llvm::Argument& argument) {
  llvm::Type* element =
      type.scalar == ScalarType::UShort ? builder.getInt16Ty() : builder.getInt32Ty();
  if (type.rows == 1 && argument.getType()->isIntegerTy()) {
    return builder.CreateZExtOrTrunc(input[0], argument.getType());
  }
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  Builder top(&function->getEntryBlock(), function->getEntryBlock().begin());
  llvm::AllocaInst* slot = top.CreateAlloca(llvm::ArrayType::get(element, 4));
  slot->setAlignment(llvm::Align(16));
  for (unsigned axis = 0; axis < type.rows; ++axis) {
    builder.CreateStore(builder.CreateTrunc(input[axis], element),
                        builder.CreateConstInBoundsGEP1_64(element, slot, axis));
  }
  if (argument.getType()->isPointerTy()) {
    return slot;
  }
  return builder.CreateAlignedLoad(argument.getType(), slot, llvm::Align(16));
}

llvm::FunctionCallee marker(llvm::Module& module, const char* name, llvm::Type* result) {
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(name, result, llvm::Type::getInt32Ty(module.getContext()));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->addFnAttr(llvm::Attribute::Speculatable);
  return callee;
}

/// The call that stands for one binding, a pointer or the 64 bits of a sampler.
llvm::Value* single_binding(Builder& builder,
                            llvm::Module& module,
                            ParameterKind kind,
                            std::uint32_t index) {
  const bool is_buffer = kind == ParameterKind::Buffer || kind == ParameterKind::FunctionTable;
  const char* name = is_buffer                        ? kBufferCall
                     : kind == ParameterKind::Texture ? kTextureCall
                     : kind == ParameterKind::Sampler ? kSamplerCall
                                                      : kThreadgroupCall;
  llvm::Type* type = kind == ParameterKind::Sampler ? static_cast<llvm::Type*>(builder.getInt64Ty())
                                                    : builder.getPtrTy();
  return builder.CreateCall(marker(module, name, type), {builder.getInt32(index)});
}

/// Textures and samplers are objects of eight bytes, or arrays of them; Clang chooses the shape.
llvm::Value* resource_binding(Builder& builder,
                              llvm::Module& module,
                              const Parameter& parameter,
                              llvm::Argument& argument) {
  if (parameter.count == 1 && !argument.hasByValAttr()) {
    llvm::Value* bound = single_binding(builder, module, parameter.kind, parameter.index);
    if (bound->getType() == argument.getType()) {
      return bound;
    }
  }
  llvm::Function* function = builder.GetInsertBlock()->getParent();
  Builder top(&function->getEntryBlock(), function->getEntryBlock().begin());
  llvm::AllocaInst* slot =
      top.CreateAlloca(llvm::ArrayType::get(builder.getInt64Ty(), parameter.count));
  slot->setAlignment(llvm::Align(8));
  for (std::uint32_t element = 0; element < parameter.count; ++element) {
    builder.CreateStore(single_binding(builder, module, parameter.kind, parameter.index + element),
                        builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), slot, element));
  }
  if (argument.getType()->isPointerTy() && (argument.hasByValAttr() || parameter.count > 1)) {
    return slot;
  }
  return builder.CreateAlignedLoad(argument.getType(), slot, llvm::Align(8));
}

llvm::Value* binding(Builder& builder,
                     llvm::Module& module,
                     const PlannedParameter& planned,
                     llvm::Argument& argument) {
  const ParameterKind kind = planned.parameter.kind;
  if (kind == ParameterKind::Texture || kind == ParameterKind::Sampler ||
      kind == ParameterKind::FunctionTable) {
    return resource_binding(builder, module, planned.parameter, argument);
  }
  llvm::Value* bound = single_binding(builder, module, kind, planned.parameter.index);
  if (planned.enabled_by.empty()) {
    return bound;
  }
  llvm::GlobalVariable* constant = module.getNamedGlobal(planned.enabled_by);
  if (constant == nullptr) {
    return bound;
  }
  llvm::Value* enabled = builder.CreateLoad(builder.getInt8Ty(), constant);
  return builder.CreateSelect(builder.CreateTrunc(enabled, builder.getInt1Ty()), bound,
                              llvm::ConstantPointerNull::get(builder.getPtrTy()));
}

llvm::Function* make_function(llvm::Module& module,
                              const char* name,
                              llvm::ArrayRef<llvm::Type*> parameters,
                              const KernelPlan& plan) {
  auto* function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters, false),
      llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("target-cpu", plan.cpu);
  function->addFnAttr("probe-stack", "inline-asm");
  for (llvm::Argument& argument : function->args()) {
    if (argument.getType()->isPointerTy()) {
      argument.addAttr(llvm::Attribute::NonNull);
      argument.addAttr(llvm::Attribute::ReadOnly);
    }
  }
  // So that what is read of them can be read before it is known to be needed.
  function->addDereferenceableParamAttr(0, sizeof(abi::Launch));
  function->addDereferenceableParamAttr(1, sizeof(abi::Group));
  const auto align = [&](unsigned argument, std::size_t bytes) {
    function->addParamAttr(
        argument, llvm::Attribute::getWithAlignment(module.getContext(), llvm::Align(bytes)));
  };
  align(0, alignof(abi::Launch));
  align(1, alignof(abi::Group));
  return function;
}

}  // namespace

Result<void> build_thread_function(llvm::Module& module, const KernelPlan& plan) {
  llvm::Function* kernel = module.getFunction(plan.function);
  if (kernel == nullptr || kernel->isDeclaration()) {
    return failure("kernel '" + plan.name + "' has no body");
  }
  if (kernel->arg_size() != plan.parameters.size()) {
    return failure("kernel '" + plan.name + "' has a parameter of a type that is not supported");
  }
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* integer = llvm::Type::getInt32Ty(context);
  llvm::Function* thread =
      make_function(module, kThreadFunction, {pointer, pointer, integer, integer}, plan);
  Builder builder(llvm::BasicBlock::Create(context, "entry", thread));
  ThreadValues values(builder, *thread);

  llvm::SmallVector<llvm::Value*, 16> arguments;
  for (std::size_t position = 0; position < plan.parameters.size(); ++position) {
    const PlannedParameter& planned = plan.parameters[position];
    llvm::Argument& argument = *kernel->getArg(static_cast<unsigned>(position));
    if (planned.parameter.kind == ParameterKind::Builtin) {
      arguments.push_back(shape_input(builder, values.input(planned.parameter.builtin),
                                      planned.parameter.type, argument));
    } else {
      arguments.push_back(binding(builder, module, planned, argument));
    }
  }
  builder.CreateCall(kernel, arguments);
  builder.CreateRetVoid();
  return {};
}

namespace {

/// Reads what a dispatch has bound, each binding once, at the top of the thread function.
class BindingReader {
 public:
  BindingReader(llvm::Function& thread, KernelCode& code)
      : builder_(&thread.getEntryBlock(), thread.getEntryBlock().getFirstNonPHIOrDbgOrAlloca()),
        launch_(thread.getArg(0)),
        group_(thread.getArg(1)),
        code_(code) {}

  /// The value that a call stands for; null when it is no call of a binding.
  llvm::Value* replacement(const llvm::CallInst& call) {
    const llvm::StringRef name = call.getCalledFunction()->getName();
    if (name == kThreadgroupBase) {
      return group_base();
    }
    if (name == kLogCall) {
      code_.uses_log = true;
      return once(name, 0,
                  [&] { return load(builder_.getPtrTy(), launch_, offsetof(abi::Launch, log)); });
    }
    const bool is_binding = name == kBufferCall || name == kThreadgroupCall ||
                            name == kTextureCall || name == kSamplerCall;
    if (!is_binding) {
      return nullptr;
    }
    const std::uint64_t index =
        llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue();
    return once(name, index, [&] { return read(name, index); });
  }

 private:
  llvm::Value* read(llvm::StringRef name, std::uint64_t index) {
    llvm::Type* pointer = builder_.getPtrTy();
    if (name == kBufferCall) {
      code_.required_buffers |= 1U << index;
      return load(pointer, launch_, offsetof(abi::Launch, buffers) + index * sizeof(void*));
    }
    if (name == kTextureCall) {
      code_.required_textures[index / 64] |= std::uint64_t{1} << index % 64;
      llvm::Value* textures = once(
          "textures", 0, [&] { return load(pointer, launch_, offsetof(abi::Launch, textures)); });
      return load(pointer, textures, index * sizeof(void*));
    }
    if (name == kSamplerCall) {
      code_.required_samplers |= 1U << index;
      llvm::Value* samplers = once(
          "samplers", 0, [&] { return load(pointer, launch_, offsetof(abi::Launch, samplers)); });
      return load(builder_.getInt64Ty(), samplers, index * sizeof(std::uint64_t));
    }
    code_.required_threadgroup_arguments |= 1U << index;
    llvm::Value* offset =
        load(builder_.getInt32Ty(), launch_,
             offsetof(abi::Launch, threadgroup_offsets) + index * sizeof(std::uint32_t));
    return builder_.CreateGEP(builder_.getInt8Ty(), group_base(),
                              builder_.CreateZExt(offset, builder_.getInt64Ty()));
  }

  llvm::Value* group_base() {
    return once("threadgroup memory", 0, [&] {
      llvm::LoadInst* base =
          load(builder_.getPtrTy(), group_, offsetof(abi::Group, threadgroup_memory));
      base->setMetadata(spmd::kThreadgroupMemory, llvm::MDNode::get(base->getContext(), {}));
      return base;
    });
  }

  llvm::LoadInst* load(llvm::Type* type, llvm::Value* base, std::uint64_t offset) {
    auto* result = builder_.CreateLoad(
        type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, offset));
    mark_invariant(*result);
    return result;
  }

  template <typename Make>
  llvm::Value* once(llvm::StringRef name, std::uint64_t index, const Make& make) {
    const auto key = std::make_pair(name.str(), index);
    const auto known = values_.find(key);
    if (known != values_.end()) {
      return known->second;
    }
    llvm::Value* value = make();
    values_.emplace(key, value);
    return value;
  }

  Builder builder_;
  llvm::Value* launch_;
  llvm::Value* group_;
  KernelCode& code_;
  std::map<std::pair<std::string, std::uint64_t>, llvm::Value*> values_;
};

}  // namespace

void bind_arguments(llvm::Module& module, KernelCode& code) {
  llvm::Function* thread = module.getFunction(kThreadFunction);
  BindingReader reader(*thread, code);
  // Erased at the end: the reader may insert before one of them.
  std::vector<llvm::CallInst*> replaced;
  for (llvm::Instruction& instruction : llvm::instructions(*thread)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr || call->getCalledFunction() == nullptr) {
      continue;
    }
    if (llvm::Value* value = reader.replacement(*call)) {
      call->replaceAllUsesWith(value);
      replaced.push_back(call);
    }
  }
  for (llvm::CallInst* call : replaced) {
    call->eraseFromParent();
  }
}

llvm::Function* declare_entry_point(llvm::Module& module, const KernelPlan& plan) {
  llvm::Type* pointer = llvm::PointerType::get(module.getContext(), 0);
  llvm::Type* integer = llvm::Type::getInt32Ty(module.getContext());
  return make_function(module, kEntryFunction, {pointer, pointer, integer, integer}, plan);
}

void build_entry_point(llvm::Module& module, const KernelPlan& plan, bool on_fibers) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* integer = llvm::Type::getInt32Ty(context);
  llvm::Function* thread = module.getFunction(kThreadFunction);
  thread->setLinkage(llvm::GlobalValue::InternalLinkage);
  thread->addFnAttr(llvm::Attribute::AlwaysInline);
  llvm::Function* entry = declare_entry_point(module, plan);
  llvm::Value* first = entry->getArg(2);
  Builder builder(llvm::BasicBlock::Create(context, "entry", entry));
  if (on_fibers) {
    builder.CreateCall(thread, {entry->getArg(0), entry->getArg(1), first, builder.getInt32(0)});
    builder.CreateRetVoid();
    return;
  }
  llvm::BasicBlock* start = builder.GetInsertBlock();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(context, "thread", entry);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(context, "done", entry);
  llvm::Value* end = builder.CreateAdd(first, entry->getArg(3));
  builder.CreateCondBr(builder.CreateICmpULT(first, end), loop, done);
  builder.SetInsertPoint(loop);
  llvm::PHINode* index = builder.CreatePHI(integer, 2);
  index->addIncoming(first, start);
  builder.CreateCall(thread, {entry->getArg(0), entry->getArg(1), index, builder.getInt32(0)});
  llvm::Value* next = builder.CreateAdd(index, builder.getInt32(1));
  index->addIncoming(next, loop);
  builder.CreateCondBr(builder.CreateICmpULT(next, end), loop, done);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
}

}  // namespace pewter::compiler::codegen
