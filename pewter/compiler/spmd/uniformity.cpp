#include "pewter/compiler/spmd/uniformity.h"

#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TargetTransformInfoImpl.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassInstrumentation.h"

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/spmd/device_call.h"

namespace pewter::compiler::spmd {
namespace {

using Kind = DeviceCall::Kind;

/// Answers the two questions of the analysis; everything else is LLVM's default.
class LaneDivergence : public llvm::TargetTransformInfoImplCRTPBase<LaneDivergence> {
 public:
  LaneDivergence(const llvm::DataLayout& layout, unsigned width)
      : TargetTransformInfoImplCRTPBase(layout), width_(width) {}

  // NOLINTBEGIN(readability-identifier-naming): the names are LLVM's.
  bool hasBranchDivergence(const llvm::Function* = nullptr) const { return true; }

  bool isSourceOfDivergence(const llvm::Value* value) const {
    if (llvm::isa<llvm::AtomicRMWInst>(value) || llvm::isa<llvm::AtomicCmpXchgInst>(value)) {
      return true;
    }
    const DeviceCall call = device_call(*value);
    return call.kind == Kind::Lane || call.kind == Kind::ThreadValue ||
           (call.is_cross_lane() && !is_program_wide(call));
  }

  bool isAlwaysUniform(const llvm::Value* value) const {
    const DeviceCall call = device_call(*value);
    return call.kind == Kind::AllLanes || is_program_wide(call);
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  // A result that every lane of a simdgroup shares, when the program is no wider than that.
  bool is_program_wide(const DeviceCall& call) const {
    if (call.group < abi::kSimdWidth || width_ > abi::kSimdWidth) {
      return false;
    }
    switch (call.kind) {
      case Kind::Reduce:
      case Kind::BroadcastFirst:
      case Kind::Ballot:
      case Kind::ActiveMask:
      case Kind::All:
      case Kind::Any:
        return true;
      default:
        return false;
    }
  }

  unsigned width_;
};

}  // namespace

Uniformity::Uniformity(llvm::Function& function, unsigned width) {
  analyses_.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
  analyses_.registerPass([] { return llvm::DominatorTreeAnalysis(); });
  analyses_.registerPass([] { return llvm::CycleAnalysis(); });
  analyses_.registerPass([width] {
    return llvm::TargetIRAnalysis([width](const llvm::Function& f) {
      return llvm::TargetTransformInfo(LaneDivergence(f.getDataLayout(), width));
    });
  });
  analyses_.registerPass([] { return llvm::UniformityInfoAnalysis(); });
  info_ = &analyses_.getResult<llvm::UniformityInfoAnalysis>(function);
}

}  // namespace pewter::compiler::spmd
