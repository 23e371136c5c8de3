#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace pewter::compiler::spmd {

/// Marker call: the number of the lane in its program, from 0.
inline constexpr const char* kLaneCall = "pewter.lane";
/// Marker call: whether the condition holds in every active lane of the program.
inline constexpr const char* kAllCall = "pewter.all";
/// Marker call: whether no more lanes of the program are active than the operand says.
inline constexpr const char* kFewCall = "pewter.few";
/// Marker calls that begin with this give a value, the same in all active lanes, as one.
inline constexpr const char* kSamePrefix = "pewter.same.";
/// Marker calls that begin with this say whether less than a quarter of the active lanes have the
/// value of the first of them.
inline constexpr const char* kApartPrefix = "pewter.apart.";
/// Marker call: an iteration of a watched loop begins. Operands: the number of the loop, and how
/// many iterations have been before.
inline constexpr const char* kWatchCall = "pewter.watch";
/// Marker call: the active lanes do a part of a watched loop. Operands: the number of the loop,
/// what the part costs each of them alone, and together.
inline constexpr const char* kWorkCall = "pewter.work";
/// Marker call: whether lanes of a watched loop would have done alone for less what they have been
/// seen doing. Operand: the number of the loop.
inline constexpr const char* kIdleCall = "pewter.idle";
/// Functions that are called for one active lane after the other begin with this.
inline constexpr const char* kAlonePrefix = "pewter.alone";

/// Marker calls for thread values begin with this.
inline constexpr const char* kThreadValuePrefix = "pewter.own_";

/// Metadata on the load of the address of a group's threadgroup memory.
inline constexpr const char* kThreadgroupMemory = "pewter.threadgroup_memory";

/// Whether an address is in the group's threadgroup memory, as far as can be seen.
bool is_threadgroup_memory(const llvm::Value* pointer);

/// Whether an address is in a variable of the thread itself, as far as can be seen.
bool is_private_memory(const llvm::Value* pointer);

/// What a call of one of the device's own functions does with the lanes of a program.
struct DeviceCall {
  enum class Kind {
    None,
    /// Something that tells threads apart, not yet computed from the lane.
    ThreadValue,
    Lane,
    AllLanes,
    FewLanes,
    Watch,
    Work,
    Idle,
    LanesApart,
    Same,
    Alone,
    GroupBarrier,
    SimdgroupBarrier,
    /// sum, product, min, max, and, or, xor: the same result in each lane of a simdgroup.
    Reduce,
    /// prefix_inclusive_sum and its kind.
    Scan,
    /// shuffle, shuffle_up, ..., broadcast: a value of another lane.
    Shuffle,
    ShuffleAndFill,
    BroadcastFirst,
    Ballot,
    ActiveMask,
    All,
    Any,
    IsFirst,
    MatrixMultiply,
  };

  Kind kind = Kind::None;
  /// Lanes that take part together: 32, or 4 for the quad functions.
  unsigned group = 32;
  /// What remains of the name, for instance "sum", "prefix_exclusive_product" or "shuffle_xor".
  llvm::StringRef operation;
  bool is_signed = false;

  bool is_cross_lane() const { return kind >= Kind::SimdgroupBarrier; }
};

/// Whether a function has products of simdgroup matrices.
bool multiplies_matrices(llvm::Function& function);

/// Recognises calls by the name of what they call.
DeviceCall device_call(const llvm::Value& value);

/// Calls a function that only says something to the vectoriser.
llvm::CallInst* create_marker(llvm::IRBuilder<>& builder,
                              llvm::StringRef name,
                              llvm::Type* type,
                              llvm::ArrayRef<llvm::Value*> operands);
/// The same for functions that remember something from call to call.
llvm::CallInst* create_noting_marker(llvm::IRBuilder<>& builder,
                                     llvm::StringRef name,
                                     llvm::Type* type,
                                     llvm::ArrayRef<llvm::Value*> operands);
llvm::CallInst* create_few(llvm::IRBuilder<>& builder, unsigned few);

}  // namespace pewter::compiler::spmd
