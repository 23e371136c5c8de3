#include "pewter/compiler/codegen/clang_output.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include "pewter/compiler/codegen/function_pointers.h"
#include "pewter/compiler/codegen/integer_rounding.h"
#include "pewter/compiler/codegen/saturation.h"

namespace pewter::compiler::codegen {
namespace {

// Clang emits fptrunc or fpext between types of one width, which LLVM refuses; float holds both
// exactly.
void repair_same_width_casts(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction);
    if (cast == nullptr || (cast->getOpcode() != llvm::Instruction::FPTrunc &&
                            cast->getOpcode() != llvm::Instruction::FPExt)) {
      continue;
    }
    llvm::Type* from = cast->getSrcTy();
    llvm::Type* to = cast->getDestTy();
    if (from->getScalarSizeInBits() != to->getScalarSizeInBits()) {
      continue;
    }
    llvm::IRBuilder<> builder(cast);
    llvm::Value* wide =
        builder.CreateFPExt(cast->getOperand(0), from->getWithNewType(builder.getFloatTy()));
    cast->replaceAllUsesWith(builder.CreateFPTrunc(wide, to));
    cast->eraseFromParent();
  }
}

// A bool in memory is true unless it is 0: kernels read the bytes of other types as bools. Clang
// takes it for 0 or 1, of which one bit is enough.
void test_all_bits_of_bools(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* bit = llvm::dyn_cast<llvm::TruncInst>(&instruction);
    auto* load = bit != nullptr ? llvm::dyn_cast<llvm::LoadInst>(bit->getOperand(0)) : nullptr;
    if (load == nullptr || !bit->getType()->isIntOrIntVectorTy(1)) {
      continue;
    }
    load->setMetadata(llvm::LLVMContext::MD_range, nullptr);
    llvm::IRBuilder<> builder(bit);
    bit->replaceAllUsesWith(builder.CreateIsNotNull(load));
    bit->eraseFromParent();
  }
}

// Vectors in memory have to be aligned as their elements only: a kernel may take a float4 out of
// rows of 33 floats.
void align_as_elements(llvm::Function& function) {
  const llvm::Align word(4);
  const llvm::DataLayout& layout = function.getDataLayout();
  const auto of_element = [&](llvm::Type* type, llvm::Align stated) {
    return std::min(stated, llvm::Align(llvm::bit_floor(
                                layout.getTypeAllocSize(type->getScalarType()).getFixedValue())));
  };
  for (llvm::Argument& argument : function.args()) {
    argument.removeAttr(llvm::Attribute::Alignment);
  }
  function.removeRetAttr(llvm::Attribute::Alignment);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (load->getType()->isVectorTy()) {
        load->setAlignment(of_element(load->getType(), load->getAlign()));
      }
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      llvm::Type* type = store->getValueOperand()->getType();
      if (type->isVectorTy()) {
        store->setAlignment(of_element(type, store->getAlign()));
      }
    } else if (auto* bytes = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      bytes->setDestAlignment(std::min(bytes->getDestAlign().valueOrOne(), word));
      if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(bytes)) {
        copy->setSourceAlignment(std::min(copy->getSourceAlign().valueOrOne(), word));
      }
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      for (unsigned i = 0; i < call->arg_size(); ++i) {
        call->removeParamAttr(i, llvm::Attribute::Alignment);
      }
    }
  }
}

// Clang stores a vector of three elements as four, of which the last is poison, and hands it over
// to functions as one number, all of which is poison then. The last becomes the third once more.
void fill_fourth_elements(llvm::Function& function) {
  constexpr unsigned kStored = 4;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    llvm::Value* value = store != nullptr ? store->getValueOperand() : nullptr;
    const auto* type =
        value != nullptr ? llvm::dyn_cast<llvm::FixedVectorType>(value->getType()) : nullptr;
    if (type == nullptr || type->getNumElements() != kStored) {
      continue;
    }
    if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(value)) {
      if (shuffle->getMaskValue(3) == llvm::PoisonMaskElem) {
        shuffle->setShuffleMask({shuffle->getMaskValue(0), shuffle->getMaskValue(1),
                                 shuffle->getMaskValue(2), shuffle->getMaskValue(2)});
      }
    } else if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
      llvm::SmallVector<llvm::Constant*, kStored> elements;
      for (unsigned i = 0; i < kStored; ++i) {
        elements.push_back(constant->getAggregateElement(i));
      }
      if (elements[3] != nullptr && llvm::isa<llvm::UndefValue>(elements[3])) {
        elements[3] = elements[2];
        store->setOperand(0, llvm::ConstantVector::get(elements));
      }
    }
  }
}

void strip_annotations(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (intrinsic == nullptr) {
      continue;
    }
    if (intrinsic->getIntrinsicID() == llvm::Intrinsic::var_annotation) {
      intrinsic->eraseFromParent();
    } else if (intrinsic->getIntrinsicID() == llvm::Intrinsic::ptr_annotation) {
      intrinsic->replaceAllUsesWith(intrinsic->getArgOperand(0));
      intrinsic->eraseFromParent();
    }
  }
}

// Clang lets every product and sum fuse; safe math rounds each.
void forbid_contraction(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::FPMathOperator>(instruction)) {
      instruction.setHasAllowContract(false);
    }
  }
}

void set_c_convention(llvm::Function& function) {
  constexpr llvm::StringRef kPrefix = "__regcall3__";
  if (function.getName().starts_with(kPrefix)) {
    function.setName(function.getName().drop_front(kPrefix.size()).str());
  }
  function.setCallingConv(llvm::CallingConv::C);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      call->setCallingConv(llvm::CallingConv::C);
    }
  }
}

// Clang hands pairs of floats over in a double, as x86 wants it of C functions. Calls of the
// device's own functions get them as what they are.
void unpack_float_pairs(llvm::Module& module) {
  constexpr llvm::StringRef kPrefix = "air.simdgroup_matrix_8x8_multiply_accumulate";
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    llvm::Type* pair = llvm::FixedVectorType::get(llvm::Type::getFloatTy(module.getContext()), 2);
    if (!function.getName().starts_with(kPrefix) || function.getReturnType() == pair) {
      continue;
    }
    const std::string name = function.getName().str();
    function.setName("");
    llvm::FunctionCallee unpacked = module.getOrInsertFunction(name, pair, pair, pair, pair);
    llvm::cast<llvm::Function>(unpacked.getCallee())->copyAttributesFrom(&function);
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      llvm::IRBuilder<> builder(call);
      llvm::SmallVector<llvm::Value*, 3> arguments;
      for (llvm::Value* argument : call->args()) {
        arguments.push_back(builder.CreateBitCast(argument, pair));
      }
      call->replaceAllUsesWith(
          builder.CreateBitCast(builder.CreateCall(unpacked, arguments), call->getType()));
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
}

void set_attributes(llvm::Function& function, const KernelPlan& plan) {
  function.removeFnAttr("target-features");
  function.removeFnAttr("tune-cpu");
  // Each operation says itself what may be done with it, because the standard library allows less
  // than the program; and an estimate of 1 / infinity would be no number.
  for (const char* freedom : {"unsafe-fp-math", "no-signed-zeros-fp-math", "approx-func-fp-math"}) {
    function.removeFnAttr(freedom);
  }
  function.addFnAttr("reciprocal-estimates", "none");
  // An endless loop stays one and meets the watchdog, instead of being deleted as undefined.
  function.removeFnAttr(llvm::Attribute::MustProgress);
  function.addFnAttr("target-cpu", plan.cpu);
  if (function.isDeclaration()) {
    return;
  }
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.removeFnAttr(llvm::Attribute::UWTable);
  // Large private arrays must touch the guard page, not jump over it.
  function.addFnAttr("probe-stack", "inline-asm");
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setVisibility(llvm::GlobalValue::DefaultVisibility);
  function.setComdat(nullptr);
}

// Answers a question that the library asks of its options; what depends on it folds away.
void answer(llvm::Module& module, llvm::StringRef question, bool is_one) {
  llvm::Function* asked = module.getFunction(question);
  if (asked == nullptr) {
    return;
  }
  for (llvm::User* user : llvm::make_early_inc_range(asked->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    call->replaceAllUsesWith(is_one ? llvm::ConstantInt::get(call->getType(), 1)
                                    : llvm::Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  }
}

void inline_all_but_recursive(llvm::Module& module) {
  llvm::CallGraph graph(module);
  for (auto component = llvm::scc_begin(&graph); !component.isAtEnd(); ++component) {
    const bool recursive = component.hasCycle();
    for (llvm::CallGraphNode* node : *component) {
      llvm::Function* function = node->getFunction();
      if (function == nullptr || function->isDeclaration()) {
        continue;
      }
      if (recursive) {
        function->removeFnAttr(llvm::Attribute::AlwaysInline);
      } else {
        function->removeFnAttr(llvm::Attribute::NoInline);
        function->removeFnAttr(llvm::Attribute::OptimizeNone);
        function->addFnAttr(llvm::Attribute::AlwaysInline);
      }
    }
  }
}

}  // namespace

void normalise(llvm::Module& module, const KernelPlan& plan) {
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) {
      continue;
    }
    repair_same_width_casts(function);
    test_all_bits_of_bools(function);
    saturate_conversions(function);
    round_integers_once(function);
    align_as_elements(function);
    fill_fourth_elements(function);
    strip_annotations(function);
    set_c_convention(function);
    set_attributes(function, plan);
    if (plan.math_mode == MathMode::Safe) {
      forbid_contraction(function);
    }
  }
  unpack_float_pairs(module);
  answer(module, "pewter.has_fast_functions", plan.math_functions == MathFunctions::Fast);
  if (!plan.enable_logging) {
    // Messages without a place to go are left out.
    answer(module, "pewter.log_buffer", false);
  }
  for (const char* name : {"llvm.global.annotations", "llvm.used", "llvm.compiler.used"}) {
    if (llvm::GlobalVariable* variable = module.getNamedGlobal(name)) {
      variable->eraseFromParent();
    }
  }
  for (llvm::GlobalVariable& variable : module.globals()) {
    if (!variable.isDeclaration() && !variable.getName().starts_with("llvm.")) {
      variable.setLinkage(llvm::GlobalValue::InternalLinkage);
      variable.setComdat(nullptr);
    }
  }
  lower_function_pointers(module);
  // The graph of calls begins at what others can call.
  llvm::Function* kernel = module.getFunction(plan.function);
  if (kernel != nullptr && !kernel->isDeclaration()) {
    kernel->setLinkage(llvm::GlobalValue::ExternalLinkage);
    inline_all_but_recursive(module);
    kernel->setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

}  // namespace pewter::compiler::codegen
