#include "pewter/compiler/codegen/kernel_compiler.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/base/log.h"
#include "pewter/compiler/codegen/atomic_use.h"
#include "pewter/compiler/codegen/clang_output.h"
#include "pewter/compiler/codegen/convergence.h"
#include "pewter/compiler/codegen/entry_point.h"
#include "pewter/compiler/codegen/function_constants.h"
#include "pewter/compiler/codegen/function_pointers.h"
#include "pewter/compiler/codegen/object_code.h"
#include "pewter/compiler/codegen/optimiser.h"
#include "pewter/compiler/codegen/private_arrays.h"
#include "pewter/compiler/codegen/streaming.h"
#include "pewter/compiler/codegen/thread_values.h"
#include "pewter/compiler/codegen/threadgroup_memory.h"
#include "pewter/compiler/spmd/fused_products.h"
#include "pewter/compiler/spmd/gather_lowering.h"
#include "pewter/compiler/spmd/group_entry.h"
#include "pewter/compiler/spmd/group_memory.h"
#include "pewter/compiler/spmd/half_vectors.h"
#include "pewter/compiler/spmd/index_extraction.h"
#include "pewter/compiler/spmd/instruction_order.h"
#include "pewter/compiler/spmd/program.h"
#include "pewter/compiler/spmd/row_prefetch.h"
#include "pewter/compiler/spmd/unrolling.h"
#include "pewter/compiler/spmd/waiting.h"
#include "pewter/compiler/spmd/width.h"

namespace pewter::compiler::codegen {
namespace {

// Thread functions below this size are cheap enough to be compiled for parts of programs as well,
// in case those come up.
constexpr unsigned kSmallInstructions = 150;
// Beyond this, compiling takes longer than running ever will.
constexpr unsigned kMaxInstructions = 20'000;

// The same for what all chunks of a program have together, whatever width was asked for.
constexpr unsigned kMaxProgramInstructions = 2 * kMaxInstructions;

// Before anything is optimised. The largest kernels of MLX and llama.cpp have 125,000.
constexpr std::uint64_t kMaxExpandedInstructions = 2'000'000;

// Of one variable. Programs have as many of them as lanes, on the stack.
constexpr std::uint64_t kMaxPrivateBytes = 1 << 20;

Result<void> verify(llvm::Module& module, const char* step) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream)) {
    return failure(fmt::format("internal error after {}: {}", step, stream.str()));
  }
  return {};
}

bool has_pending_initialisers(const llvm::Module& module) {
  const llvm::GlobalVariable* constructors = module.getNamedGlobal("llvm.global_ctors");
  if (constructors == nullptr || !constructors->hasInitializer()) {
    return false;
  }
  const auto* list = llvm::dyn_cast<llvm::ConstantArray>(constructors->getInitializer());
  return list != nullptr && list->getNumOperands() > 0;
}

bool has_loops(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  return !llvm::LoopInfo(dominators).empty();
}

void show(const llvm::Module& module, const char* step) {
  if (logging::wanted("ir")) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    logging::write(logging::Level::Detail, "ir", fmt::format("after {}\n{}", step, stream.str()));
  }
}

/// The instructions of a function once every call in it is in place, or about the limit when there
/// are more of them.
std::uint64_t expanded_size(const llvm::Function& function,
                            llvm::DenseMap<const llvm::Function*, std::uint64_t>& sizes) {
  // A function that calls itself is refused elsewhere; here it counts once.
  const auto [known, is_new] = sizes.try_emplace(&function, 0);
  if (!is_new) {
    return known->second;
  }
  std::uint64_t size = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    const llvm::Function* callee = call != nullptr ? call->getCalledFunction() : nullptr;
    size += 1 + (callee != nullptr ? expanded_size(*callee, sizes) : 0);
    size = std::min(size, kMaxExpandedInstructions + 1);
  }
  sizes[&function] = size;
  return size;
}

/// Calls that double at each of forty levels would take all memory.
Result<void> check_expanded_size(const llvm::Module& module, const KernelPlan& plan) {
  llvm::DenseMap<const llvm::Function*, std::uint64_t> sizes;
  if (expanded_size(*module.getFunction(kThreadFunction), sizes) <= kMaxExpandedInstructions) {
    return {};
  }
  return failure(fmt::format(
      "kernel '{}' has more than {} instructions once its calls are inlined; call less in it",
      plan.name, kMaxExpandedInstructions));
}

Result<void> check_private_memory(const llvm::Module& module, const KernelPlan& plan) {
  for (const llvm::Function& function : module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      const auto bytes =
          variable != nullptr ? variable->getAllocationSize(module.getDataLayout()) : std::nullopt;
      if (bytes && bytes->getFixedValue() > kMaxPrivateBytes) {
        return failure(fmt::format(
            "kernel '{}' has a variable of {} bytes{} in each thread, the limit is {}", plan.name,
            bytes->getFixedValue(),
            variable->hasName() ? fmt::format(", '{}',", variable->getName().split('.').first.str())
                                : "",
            kMaxPrivateBytes));
      }
    }
  }
  return {};
}

Result<void> check_constants(llvm::Module& module,
                             const KernelPlan& plan,
                             const char* kind = "kernel") {
  if (const auto missing = undefined_constants(module, plan); !missing.empty()) {
    return failure(fmt::format("{} '{}' needs a value for function constant{} {}", kind, plan.name,
                               missing.size() > 1 ? "s" : "", fmt::join(missing, ", ")));
  }
  return {};
}

Result<KernelCode> to_object(llvm::Module& module, llvm::TargetMachine& machine, KernelCode code) {
  if (auto sound = verify(module, "code generation"); !sound) {
    return sound.error();
  }
  show(module, "code generation");
  auto object = emit_object(module, machine);
  if (!object) {
    return std::move(object).error();
  }
  code.object = std::move(object->bytes);
  code.stack_bytes = object->stack_bytes;
  code.entry = kEntryFunction;
  return code;
}

void describe_convergence(const llvm::Module& module, KernelCode& code) {
  const Convergence convergence = find_convergence(module);
  code.uses_barriers = convergence.barriers;
  code.uses_simdgroup = convergence.simdgroup;
}

/// Leaves nothing of how numbers are computed to LLVM, but for a function that does so itself.
void drop_freedoms(llvm::Module& module, const llvm::Function* except = nullptr) {
  for (llvm::Function& function : module) {
    if (&function != except) {
      spmd::drop_freedoms(function);
    }
  }
}

/// One thread at a time.
Result<KernelCode> compile_scalar(llvm::Module& module,
                                  const KernelPlan& plan,
                                  llvm::TargetMachine& machine,
                                  Optimiser& optimiser,
                                  KernelCode code) {
  drop_freedoms(module);
  bound_private_arrays(*module.getFunction(kThreadFunction));
  drop_streaming(module);
  optimiser.optimise(module);
  show(module, "optimisation");
  if (auto checked = check_constants(module, plan); !checked) {
    return checked.error();
  }
  bind_arguments(module, code);
  resolve_for_thread(*module.getFunction(kThreadFunction));
  describe_convergence(module, code);
  code.uses_atomics = find_atomic_use(module).any;
  code.needs_fibers = code.uses_barriers || code.uses_simdgroup;
  build_entry_point(module, plan, code.needs_fibers);
  if (code.needs_fibers) {
    for (llvm::Function& function : module) {
      if (!function.isDeclaration()) {
        number_convergence_sites(function);
      }
    }
  } else {
    optimiser.finish(module);
  }
  return to_object(module, machine, std::move(code));
}

unsigned vector_registers(const llvm::TargetMachine& machine, const llvm::Function& function) {
  const llvm::TargetTransformInfo target = machine.getTargetTransformInfo(function);
  return target.getNumberOfRegisters(target.getRegisterClassForType(true));
}

/// Whether lanes may go separate ways, or to places far apart, for long enough that single threads
/// are faster, and nothing but time would tell: neither the last bits of sums nor the order of
/// atomic operations.
bool may_lose_to_scalar(const KernelCode& code,
                        const spmd::Programs& programs,
                        bool has_loops,
                        const AtomicUse& atomics) {
  const spmd::Tally& tally = programs.tally;
  const unsigned scattered =
      tally.count(spmd::Form::StridedAccess) + tally.count(spmd::Form::Gather);
  const bool parts = has_loops && tally.count(spmd::Form::DivergentBranch) > 0;
  return (scattered > 0 || parts || atomics.any) && !atomics.shows_order &&
         !programs.has_row_sums && !code.uses_barriers && !code.uses_simdgroup && !code.uses_log;
}

void explain(const spmd::Programs& programs, const spmd::Width& width, KernelExplanation& result) {
  const spmd::Tally& tally = programs.tally;
  result.mode = ExecutionMode::Spmd;
  result.lanes = width.lanes;
  result.width_reason = width.reason;
  result.uniform_branches = tally.count(spmd::Form::UniformBranch);
  result.divergent_branches = tally.count(spmd::Form::DivergentBranch);
  result.uniform_accesses = tally.count(spmd::Form::UniformAccess);
  result.consecutive_accesses = tally.count(spmd::Form::ConsecutiveAccess);
  result.strided_accesses = tally.count(spmd::Form::StridedAccess);
  result.gathers = tally.count(spmd::Form::Gather);
  result.released_loops = programs.released_loops;
  result.released_switches = programs.released_switches;
  for (const auto& [place, manners] : tally.places) {
    const auto& [position, kind] = place;
    result.places.push_back({position.file, position.line, position.column, kind,
                             fmt::format("{}", fmt::join(manners, "; "))});
  }
}

/// What was asked for or suits the kernel, where it does not become too large.
spmd::Width program_width(llvm::Function& thread,
                          const KernelPlan& plan,
                          const spmd::WidthHints& hints) {
  spmd::Width width = plan.lanes != 0 ? spmd::Width{plan.lanes, "as PEWTER_LANES asks"}
                                      : spmd::choose_width(thread, hints);
  if (hints.uses_simdgroup && width.lanes < abi::kSimdWidth) {
    width = {abi::kSimdWidth, "the least for threads that use values of their simdgroup"};
  }
  if (hints.waits_for_group && width.lanes > abi::kSimdWidth) {
    width = {abi::kSimdWidth, "a simdgroup, as threads wait for others of their group in a loop"};
  }
  const unsigned per_chunk = std::min(hints.per_chunk, width.lanes);
  const unsigned size = thread.getInstructionCount();
  const unsigned wanted = width.lanes;
  while (width.lanes > abi::kSimdWidth &&
         size * width.lanes > kMaxProgramInstructions * per_chunk) {
    width.lanes /= 2;
    width.reason = fmt::format("{} instructions are too many for {}", size, wanted);
  }
  return width;
}

/// The lanes of a program together.
Result<KernelCode> compile_programs(llvm::Module& module,
                                    const KernelPlan& plan,
                                    llvm::TargetMachine& machine,
                                    Optimiser& optimiser,
                                    KernelCode code) {
  drop_freedoms(module, module.getFunction(kThreadFunction));
  spmd::mark_private_walks(*module.getFunction(kThreadFunction), optimiser.functions());
  bound_private_arrays(*module.getFunction(kThreadFunction));
  optimiser.simplify(module);
  if (auto checked = check_constants(module, plan); !checked) {
    return checked.error();
  }
  llvm::Function& thread = *module.getFunction(kThreadFunction);
  bind_arguments(module, code);
  code.streamed_buffers = find_streamed_buffers(thread);
  describe_convergence(module, code);
  const AtomicUse atomics = find_atomic_use(module);
  code.uses_atomics = atomics.any;
  const bool is_exact = plan.shape.kind == GroupShape::Kind::Exact;
  const auto [size_x, size_y, size_z] = plan.shape.size;
  spmd::WidthHints hints;
  hints.uses_simdgroup = code.uses_simdgroup;
  hints.uses_barriers = code.uses_barriers;
  hints.waits_for_group = spmd::waits_for_group(thread);
  hints.group_threads = is_exact ? size_x * size_y * size_z : 0;
  hints.registers = vector_registers(machine, thread);
  hints.per_chunk = spmd::lanes_per_chunk(machine, thread);
  const spmd::Width width = program_width(thread, plan, hints);
  spmd::Lanes lanes;
  lanes.width = width.lanes;
  lanes.per_chunk = std::min(hints.per_chunk, lanes.width);
  lanes.has_masked_stores = spmd::has_avx512(machine);
  lanes.has_wide_vectors = spmd::has_avx512(machine);
  lanes.others_wait = !is_exact || hints.group_threads > lanes.width;
  code.depends_on_shape = uses_position(module);
  code.gains_from_size = !is_exact && plan.lanes == 0 && spmd::can_run_whole_groups(thread, hints);
  resolve_for_lanes(thread, lanes.width, plan.shape);
  show(module, "simplification");
  const unsigned size = thread.getInstructionCount();
  if (size > kMaxInstructions) {
    return failure(fmt::format("it has {} instructions, more than {}", size, kMaxInstructions));
  }
  const bool has_parts = plan.parts == GroupParts::Possible || lanes.width > abi::kSimdWidth;
  code.handles_parts = plan.parts == GroupParts::Needed || (has_parts && size < kSmallInstructions);
  const bool loops = has_loops(thread);
  const bool is_brief = size < kSmallInstructions && !loops;
  auto programs = spmd::vectorise(thread, optimiser.functions(), lanes, code.handles_parts);
  if (!programs) {
    return std::move(programs).error();
  }
  show(module, "vectorisation");
  explain(*programs, width, code.explanation);
  code.may_lose_to_scalar = may_lose_to_scalar(code, *programs, loops, atomics);
  if (plan.programs_only) {
    return code;
  }
  // What one call costs is much beside a brief kernel.
  code.takes_rows = is_brief && !programs->has_barriers;
  spmd::build_group_entry(*declare_entry_point(module, plan), *programs, lanes.width,
                          code.takes_rows);
  if (auto sound = verify(module, "vectorisation"); !sound) {
    return sound.error();
  }
  optimiser.fold_programs(module);
  if (!lanes.others_wait && code.threadgroup_bytes > 0) {
    spmd::keep_group_memory(*module.getFunction(kEntryFunction), code.threadgroup_bytes,
                            optimiser.functions());
  }
  optimiser.optimise_programs(module);
  code.program_bytes = spmd::resolve_program_bytes(module);
  for (llvm::Function& function : module) {
    spmd::order_instructions(function, hints.registers);
    // Vectors that are spilled would otherwise lie across cache lines or not, as the caller's frame
    // has it.
    function.addFnAttr("stackrealign");
  }
  if (code.takes_rows) {
    spmd::prefetch_rows(*module.getFunction(kEntryFunction));
  }
  spmd::lower_gathers(module);
  for (llvm::Function& function : module) {
    spmd::replace_half_vectors(function);
    spmd::extract_indices_by_words(function);
  }
  code.runs_whole_groups = true;
  return to_object(module, machine, std::move(code));
}

}  // namespace

Result<std::vector<std::byte>> write_function(llvm::Module& module, const KernelPlan& plan) {
  auto machine = make_target_machine(plan);
  if (!machine) {
    return std::move(machine).error();
  }
  // Nothing in the module calls it, and it has to stay.
  module.getFunction(plan.function)->setLinkage(llvm::GlobalValue::ExternalLinkage);
  bind_constants(module, plan);
  Optimiser(**machine).inline_marked(module);
  answer_definedness(module, plan);
  if (auto checked = check_constants(module, plan, "function"); !checked) {
    return checked.error();
  }
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::WriteBitcodeToFile(module, stream);
  stream.flush();
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(bytes, bytes + text.size());
}

Result<KernelCode> compile_kernel(llvm::Module& module, const KernelPlan& plan) {
  auto machine = make_target_machine(plan);
  if (!machine) {
    return std::move(machine).error();
  }
  module.setTargetTriple((*machine)->getTargetTriple().str());
  module.setDataLayout((*machine)->createDataLayout());
  Optimiser optimiser(**machine);

  show(module, "clang");
  bind_constants(module, plan);
  if (auto linked = link_functions(module, plan.linked); !linked) {
    return linked.error();
  }
  optimiser.end_tail_recursion(module);
  normalise(module, plan);
  if (auto built = build_thread_function(module, plan); !built) {
    return built.error();
  }
  if (auto sound = verify(module, "the front end"); !sound) {
    return sound.error();
  }
  if (auto checked = check_expanded_size(module, plan); !checked) {
    return checked.error();
  }
  optimiser.expand(module);
  if (const auto missing = undefined_functions(module); !missing.empty()) {
    return failure(
        fmt::format("kernel '{}' calls {}, which is declared but neither defined nor among "
                    "the pipeline's linked functions",
                    plan.name, fmt::join(missing, ", ")));
  }
  if (auto checked = check_private_memory(module, plan); !checked) {
    return checked.error();
  }
  answer_definedness(module, plan);
  optimiser.evaluate_initialisers(module);
  if (has_pending_initialisers(module)) {
    return failure(
        "a 'constant' variable at file scope is initialised by something that is not "
        "known when the pipeline is made");
  }
  KernelCode code;
  code.threadgroup_bytes = lower_threadgroup_variables(module, ".pewter.threadgroup");
  if (code.threadgroup_bytes > abi::kMaxThreadgroupMemory) {
    return failure(
        fmt::format("kernel '{}' declares {} bytes of threadgroup memory, the limit is {}",
                    plan.name, code.threadgroup_bytes, abi::kMaxThreadgroupMemory));
  }
  optimiser.settle_arithmetic(module);
  show(module, "settling arithmetic");
  if (plan.mode != ExecutionMode::Spmd) {
    return compile_scalar(module, plan, **machine, optimiser, std::move(code));
  }
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  auto vectorised = compile_programs(*copy, plan, **machine, optimiser, code);
  if (vectorised || plan.programs_only) {
    return vectorised;
  }
  auto scalar = compile_scalar(module, plan, **machine, optimiser, std::move(code));
  if (scalar) {
    scalar->explanation.fallback = vectorised.error().message;
  }
  return scalar;
}

}  // namespace pewter::compiler::codegen
