#include "pewter/compiler/codegen/object_code.h"

#include <mutex>

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/LEB128.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include "pewter/compiler/codegen/block_size.h"

namespace pewter::compiler::codegen {
namespace {

// Rows of `.stack_sizes`: the function's address, then its frame size as ULEB128. The few functions
// of a kernel call each other, so their frames add up.
std::uint32_t all_frames(llvm::StringRef object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return 0;
  }
  std::uint64_t total = 0;
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    auto name = section.getName();
    auto contents = section.getContents();
    if (!name || !contents) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(contents.takeError());
      continue;
    }
    if (*name != ".stack_sizes") {
      continue;
    }
    const auto* next = reinterpret_cast<const std::uint8_t*>(contents->begin());
    const auto* end = reinterpret_cast<const std::uint8_t*>(contents->end());
    while (end - next > 8) {
      unsigned length = 0;
      total += llvm::decodeULEB128(next + 8, &length, end);
      next += 8 + length;
    }
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(total, 1U << 30));
}

// There is no setting of these for one target machine alone.
template <typename Value>
void set_option(llvm::StringRef name, const Value& value) {
  auto& options = llvm::cl::getRegisteredOptions();
  if (const auto found = options.find(name); found != options.end()) {
    static_cast<llvm::cl::opt<Value>*>(found->second)->setValue(value);
  }
}

// LLVM 19 may go round in circles for ever when it makes one store of several neighbours: the
// constant of 256 bits that comes of it and one of 128 bits with the same elements become each
// other in turn (four stores of eight bools do). The vectoriser stores whole vectors, so nothing is
// lost without.
void forbid_store_merging() {
  set_option("combiner-store-merging", false);
}

// LLVM 19 may set up a function's stack behind its first branch. Where it probes a large stack on
// x86 it takes r11 for that, whether or not something that the function has computed before is in
// it: the end of a loop over threads, for instance.
void forbid_late_stack_frames() {
  set_option("enable-shrink-wrap", llvm::cl::BOU_FALSE);
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(const KernelPlan& plan) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    forbid_store_merging();
    forbid_late_stack_frames();
  });
  std::string triple = llvm::sys::getDefaultTargetTriple();
  if (!plan.triple.empty()) {
    static std::once_flag others;
    std::call_once(others, [] {
      llvm::InitializeAllTargetInfos();
      llvm::InitializeAllTargets();
      llvm::InitializeAllTargetMCs();
      llvm::InitializeAllAsmPrinters();
    });
    triple = plan.triple;
  }
  std::string reason;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, reason);
  if (target == nullptr) {
    return failure("no code generator for " + triple + ": " + reason);
  }
  llvm::TargetOptions options;
  options.EmitStackSizeSection = true;
  // Only where the instructions themselves allow it: a pragma forbids it for some of them.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, plan.cpu, "", options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (machine == nullptr) {
    return failure("no code generator for " + triple);
  }
  return machine;
}

Result<ObjectCode> emit_object(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return failure("the code generator cannot write objects");
  }
  divide_large_blocks(module);
  passes.run(module);
  ObjectCode code;
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  code.bytes.assign(begin, begin + bytes.size());
  code.stack_bytes = all_frames(llvm::StringRef(bytes.data(), bytes.size()));
  return code;
}

}  // namespace pewter::compiler::codegen
