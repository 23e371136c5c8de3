#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueMap.h"

#include "pewter/base/result.h"
#include "pewter/compiler/spmd/address.h"
#include "pewter/compiler/spmd/device_call.h"
#include "pewter/compiler/spmd/mask_plan.h"
#include "pewter/compiler/spmd/matrix_pairs.h"
#include "pewter/compiler/spmd/shape_analysis.h"
#include "pewter/compiler/spmd/tally.h"

namespace pewter::compiler::spmd {

/// Lanes of a program, and of the vectors that its values are made of.
struct Lanes {
  unsigned width = 32;
  unsigned per_chunk = 8;
  /// Whether a group has several programs, which wait for each other at barriers.
  bool others_wait = true;
  /// Whether a store to some lanes of a vector costs the processor about what one to all does.
  bool has_masked_stores = false;
  /// Whether the processor has vectors of 16 words, for whatever does not go by chunks.
  bool has_wide_vectors = false;

  unsigned chunks() const { return width / per_chunk; }
};

/// A value of all lanes: one vector for each chunk. As a mask, empty means every lane.
using Chunks = llvm::SmallVector<llvm::Value*, 8>;

/// What the emitter needs to know of the function that it turns into a program.
struct Analyses {
  Analyses(llvm::Function& function, Lanes program_lanes, llvm::ScalarEvolution& scalar_evolution)
      : lanes(program_lanes),
        evolution(scalar_evolution),
        uniformity(function, program_lanes.width),
        control_flow(function, uniformity),
        shapes(function, uniformity, control_flow, program_lanes.width),
        masks(control_flow, uniformity),
        matrices(function, shapes, masks, scalar_evolution) {}

  const Lanes lanes;
  llvm::ScalarEvolution& evolution;
  const Uniformity uniformity;
  const ControlFlow control_flow;
  const ShapeAnalysis shapes;
  const MaskPlan masks;
  const MatrixPairs matrices;
};

/// Writes the program of a thread function: its instructions for all lanes at once.
///
/// Nodes are emitted along the dominator tree of each region, every one nested in the blocks that
/// must run for it to run and skipped when none of its lanes is active. So whatever is defined in a
/// block dominates its uses in the program too; only masks and phis need memory, which LLVM
/// promotes to registers afterwards.
class Emitter {
 public:
  /// `target` takes the parameters of `source`. With `lane_count` the program runs that many of its
  /// first lanes, otherwise all of them.
  Emitter(llvm::Function& source,
          llvm::Function& target,
          const Analyses& analyses,
          llvm::Value* lane_count);

  /// Fails, with what stood in the way, for a construct that has no vector form.
  Result<Tally> run();

 private:
  using Builder = llvm::IRBuilder<llvm::ConstantFolder, llvm::IRBuilderCallbackInserter>;
  using Slots = llvm::SmallVector<llvm::AllocaInst*, 8>;

  // Regions, blocks and edges: emitter.cpp.
  void emit_region(const llvm::Loop* region);
  void emit_node(const llvm::Loop* region, llvm::BasicBlock* node);
  void forget_since(std::size_t scope);
  void emit_loop(llvm::Loop* loop);
  void emit_block(llvm::BasicBlock* block);
  void emit_branch(llvm::BasicBlock* block);
  llvm::BasicBlock* end_of_loop(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const;
  void take_edge(llvm::BasicBlock* from, llvm::BasicBlock* to, const Chunks& lanes, bool diverges);
  void store_phis(llvm::BasicBlock* from, llvm::BasicBlock* to, const Chunks* blend);
  bool is_cheap_to_run(const llvm::BasicBlock* block) const;
  bool needs_check(const llvm::Loop* region, llvm::BasicBlock* node) const;
  llvm::Value* runs(llvm::BasicBlock* node);
  llvm::AllocaInst* new_slot(llvm::Type* type, const llvm::Twine& name);
  Slots& vector_slots(const llvm::PHINode* phi);
  llvm::AllocaInst*& scalar_slot(const llvm::PHINode* phi);
  Slots& mask_slots(unsigned number);
  llvm::AllocaInst*& guard_slot(const llvm::BasicBlock* block);

  // Values: emit_values.cpp.
  llvm::Value* scalar(const llvm::Value* value);
  llvm::Value* scalar_at(const llvm::Value* value, unsigned lane);
  llvm::Value* widened_at(const llvm::Instruction& widening, unsigned lane);
  const Chunks& vector(const llvm::Value* value);
  Chunks affine_vector(const llvm::Value* value);
  llvm::Value* term_at(const Term& term, unsigned lane, llvm::Type* type);
  void define_scalar(const llvm::Value* value, llvm::Value* result);
  void define_vector(const llvm::Value* value, Chunks result);
  void emit_instruction(llvm::Instruction& instruction);
  void emit_scalar(llvm::Instruction& instruction);
  void emit_lanewise(llvm::Instruction& instruction);
  llvm::Value* emit_masked_division(llvm::Instruction::BinaryOps opcode,
                                    llvm::Value* left,
                                    llvm::Value* right,
                                    unsigned chunk);
  llvm::Value* emit_chunk(llvm::Instruction& instruction,
                          llvm::ArrayRef<llvm::Value*> operands,
                          unsigned chunk);
  void emit_intrinsic(llvm::IntrinsicInst& intrinsic);
  void emit_call(llvm::CallInst& call);
  void emit_component(llvm::Instruction& instruction);
  llvm::SmallVector<Chunks, 2> components(const llvm::Value* value);

  // Masks: emit_values.cpp.
  const Chunks& mask() const { return mask_; }
  llvm::Value* lane_bits(llvm::Value* mask);
  llvm::Value* any_of(const Chunks& mask);
  llvm::Value* all_of(const Chunks& mask);
  llvm::Value* active(unsigned chunk);
  Chunks masked_condition(const Chunks& lanes, const llvm::Value* condition, bool negate);

  // Memory: emit_memory.cpp.
  enum class Pattern { Same, Consecutive, Reverse, Strided, Any };
  Pattern pattern(const llvm::Value* pointer, unsigned chunk, std::uint64_t size) const;
  llvm::Value* offset_address(llvm::Value* base, const Shape& shape, unsigned from, unsigned to);
  llvm::Value* lane_pointers(const llvm::Value* pointer, unsigned chunk, Pattern pattern);
  void emit_load(llvm::LoadInst& load);
  llvm::Value* load_chunk(llvm::LoadInst& load, unsigned chunk);
  llvm::Value* load_consecutive(llvm::Type* element,
                                llvm::Value* address,
                                llvm::Align align,
                                llvm::Value* active_lanes);
  llvm::Value* gather(llvm::LoadInst& load, llvm::Value* pointers, unsigned chunk);
  void emit_store(llvm::StoreInst& store);
  void store_chunk(llvm::StoreInst& store, unsigned chunk, llvm::Value* value);
  llvm::Value* streams();
  void store_whole(llvm::StoreInst& store, llvm::Value* address, llvm::Value* value);
  void store_masked(llvm::StoreInst& store,
                    unsigned chunk,
                    llvm::Value* address,
                    llvm::Value* value,
                    llvm::Value* active_lanes);
  void store_some(llvm::StoreInst& store,
                  llvm::Value* address,
                  llvm::Value* value,
                  llvm::Value* active_lanes);
  void store_to_one_place(llvm::StoreInst& store);
  void scatter(llvm::StoreInst& store, llvm::Value* pointers, llvm::Value* value, unsigned chunk);
  bool has_masked_access(llvm::Type* element) const;
  llvm::Value* spare_memory();
  /// Says of the accesses that are made from here on which chunk they belong to.
  void set_accessor(const llvm::Value* pointer, unsigned chunk);
  void clear_accessor() { accessor_ = nullptr; }
  llvm::Value* reverse(llvm::Value* value);

  // Lanes that write back what they have read: emit_blended.cpp.
  struct Readers;
  bool has_plain_owners(const llvm::Value* object) const;
  std::optional<Readers> readers(const llvm::StoreInst& store);
  llvm::Value* all_read(const Readers& readers, unsigned chunk);
  void store_blended(llvm::StoreInst& store,
                     llvm::Value* address,
                     llvm::Value* value,
                     llvm::Value* active_lanes);

  // Neighbouring parts of strided structures: emit_interleaved.cpp.
  struct Interleaved {
    /// Accesses of one stride, in the order of the block.
    std::vector<llvm::Instruction*> members;
    /// Element of the structure that each accesses, counted from the first one used.
    std::vector<unsigned> elements;
    /// Elements from one lane's structure to the next.
    unsigned stride = 0;
    unsigned last_element = 0;
  };
  std::optional<unsigned> element_stride(const llvm::Value* pointer, std::uint64_t size) const;
  std::optional<Interleaved> find_interleaved(llvm::Instruction& first) const;
  bool pays_under_mask(const Interleaved& group) const;
  llvm::Value* elements_wanted(const Interleaved& group, unsigned start, unsigned chunk);
  bool emit_interleaved_load(llvm::LoadInst& load);
  llvm::Value* pick_elements(llvm::ArrayRef<llvm::Value*> parts,
                             llvm::ArrayRef<unsigned> starts,
                             unsigned element,
                             unsigned stride);
  bool emit_interleaved_store(llvm::StoreInst& store);

  // Lanes and their partners: emit_exchanged.cpp.
  struct Exchange {
    const llvm::GetElementPtrInst* address = nullptr;
    /// Of the lane itself: lanes of a chunk follow each other.
    const llvm::Value* index = nullptr;
    const llvm::Value* distance = nullptr;
    bool is_signed = true;
    /// Whether the processor can change the order of the lanes of a chunk.
    bool reorders = false;
  };
  struct PartnerChunk {
    llvm::Value* address = nullptr;
    /// By place in memory; null means all.
    llvm::Value* active_lanes = nullptr;
    /// Null when places follow the order of the lanes.
    llvm::Value* order = nullptr;
  };
  struct PartnerOrder {
    /// Of the lanes of a chunk.
    llvm::Value* order = nullptr;
    /// From one chunk to the other.
    llvm::Value* distance = nullptr;
  };
  struct Readers {
    Chunks lanes;
    /// Set where they have read what is at their partners' places, too.
    std::optional<Exchange> exchange;
  };
  static bool is_partner(const llvm::Value& pointer, const Exchange& exchange);
  PartnerOrder partner_order(const Exchange& exchange);
  std::optional<Exchange> find_exchange(const llvm::Value* pointer, std::uint64_t size) const;
  llvm::Value* exchanges_chunks(const Exchange& exchange);
  PartnerChunk partner_chunk(const Exchange& exchange, unsigned chunk);
  llvm::Value* partner_pointers(const Exchange& exchange, unsigned chunk);
  llvm::Value* reorder(llvm::Value* words, llvm::Value* order);
  Chunks on_both_sides(const Exchange& exchange,
                       const llvm::Value* pointer,
                       llvm::function_ref<llvm::Value*(unsigned)> whole,
                       llvm::function_ref<llvm::Value*(unsigned)> by_lanes);
  bool emit_exchanged_load(llvm::LoadInst& load);
  bool emit_exchanged_store(llvm::StoreInst& store);

  // Neighbouring words of each lane's own: emit_transposed.cpp.
  static constexpr unsigned kRow = 4;
  using Row = std::array<llvm::Value*, kRow>;
  std::vector<llvm::Instruction*> find_row(llvm::Instruction& first) const;
  bool may_be_row(llvm::Instruction& access) const;
  std::vector<llvm::Value*> row_addresses(llvm::Instruction& access,
                                          llvm::Instruction& first,
                                          unsigned chunk);
  Row transpose(const Row& rows);
  bool emit_transposed_load(llvm::LoadInst& load);
  const std::vector<llvm::Value*>* loaded_rows(llvm::ArrayRef<llvm::Instruction*> stores,
                                               unsigned chunk) const;
  bool emit_transposed_store(llvm::StoreInst& store);

  // Sums over neighbouring words of each lane's own: emit_row_sums.cpp.
  using ValueMap = llvm::ValueMap<const llvm::Value*, llvm::WeakTrackingVH>;
  llvm::Value* fold_rows(std::vector<llvm::Value*> rows);
  llvm::Value* emit_row(llvm::CallInst& call,
                        unsigned chunk,
                        ValueMap& values,
                        llvm::Value* is_active);
  void emit_row_sum(llvm::CallInst& call);

  // Atomic operations: emit_atomics.cpp.
  void emit_atomic(llvm::Instruction& instruction);
  bool emit_combined_atomic(llvm::AtomicRMWInst& atomic);
  bool emit_counting_atomic(llvm::AtomicRMWInst& atomic,
                            const DeviceCall& device,
                            const Chunks& values);
  llvm::SmallVector<llvm::Value*, 2> emit_lane_atomic(llvm::Instruction& instruction,
                                                      llvm::ArrayRef<llvm::Value*> operands);

  // Operations across lanes: emit_cross_lane.cpp.
  void emit_cross_lane(llvm::CallInst& call, const DeviceCall& device);
  llvm::Value* bound_holds_everywhere(const llvm::ICmpInst& comparison, bool negate);
  llvm::Value* holds_everywhere(const llvm::Value* condition);
  void define_grouped(const llvm::CallInst& call, llvm::ArrayRef<llvm::Value*> per_simdgroup);
  llvm::Value* combine(const DeviceCall& device, llvm::Value* a, llvm::Value* b);
  llvm::Constant* identity(const DeviceCall& device, llvm::Type* type);
  Chunks masked_operand(const llvm::Value* value, llvm::Constant* inactive);
  void emit_reduce(llvm::CallInst& call, const DeviceCall& device);
  llvm::Value* reduce_chunks(Chunks values, const DeviceCall& device);
  void emit_scan(llvm::CallInst& call, const DeviceCall& device);
  Chunks moved_up(const Chunks& values, unsigned step, unsigned group);
  llvm::Constant* has_lanes_below(unsigned chunk, unsigned step, unsigned group);
  Chunks scan_chunks(Chunks values, const DeviceCall& device);
  void emit_shuffle(llvm::CallInst& call, const DeviceCall& device);
  void emit_shuffle_and_fill(llvm::CallInst& call, const DeviceCall& device);
  void emit_vote(llvm::CallInst& call, const DeviceCall& device);
  void emit_quad_vote(llvm::CallInst& call, const DeviceCall& device);
  llvm::Value* simdgroup_bits(const Chunks& mask, unsigned first_chunk);
  Chunks permute(const Chunks& values, llvm::ArrayRef<int> source_lanes);
  llvm::Value* in_memory(const Chunks& values, const llvm::Twine& name);
  llvm::Value* read_lanes(llvm::Value* memory, llvm::Type* element, llvm::Value* indices);
  unsigned chunks_per_simdgroup() const;

  // Lanes one after the other: emit_alone.cpp.
  llvm::SmallVector<llvm::Value*, 8> lane_words(const Chunks* among = nullptr);
  llvm::Value* count_lanes(const Chunks* among = nullptr);
  llvm::Value* emit_few(llvm::Value* few);
  llvm::Value* emit_apart(const Chunks& values);
  void emit_watch(llvm::CallInst& call);
  void emit_work(llvm::CallInst& call);
  llvm::Value* emit_idle(llvm::CallInst& call);
  llvm::Value* any_lane_of(const Chunks& values);
  llvm::Type* memory_type(llvm::Type* type);
  llvm::Value* lane_in_memory(llvm::Value* memory, llvm::Type* type, llvm::Value* lane);
  void emit_alone(llvm::CallInst& call);

  // Matrices of a simdgroup: emit_matrix.cpp.
  const MatrixPairs::Half* matrix_half(const llvm::Value* value) const;
  llvm::SmallVector<Chunks, 2> to_rows(const llvm::SmallVector<Chunks, 2>& lanes);
  llvm::SmallVector<Chunks, 2> to_lanes(const llvm::SmallVector<Chunks, 2>& rows);
  llvm::SmallVector<Chunks, 2> rows_of(const llvm::Value* first, const llvm::Value* second);
  const Chunks& row_operand(const llvm::Value* value);
  const Chunks& lanes_of_half(const llvm::Value* value, const MatrixPairs::Half& half);
  void emit_row_loads(llvm::LoadInst& load, const MatrixPairs::Half& half);
  struct MatrixInMemory {
    llvm::Value* address = nullptr;
    llvm::Value* row_bytes = nullptr;
  };
  const std::vector<MatrixInMemory>* rows_in_memory(const llvm::CallInst& call,
                                                    const llvm::Value* first) const;
  std::vector<MatrixInMemory> store_rows(const llvm::SmallVector<Chunks, 2>& rows);
  struct MatrixProduct {
    std::vector<MatrixInMemory> factors[2];
    llvm::SmallVector<Chunks, 2> sums;
  };
  std::optional<MatrixProduct> matrix_product(llvm::CallInst& call);
  llvm::CallInst* matrix_partner(llvm::CallInst& call) const;
  llvm::Function* multiply_function(llvm::Type* element, unsigned count);
  void emit_matrix_multiply(llvm::CallInst& call);

  // What is told of all this: tally.cpp.
  /// Counts what several branches or accesses were made into; `manner` replaces what is known of
  /// the form in general.
  void count(Form form,
             llvm::ArrayRef<const llvm::Instruction*> made,
             const char* manner = nullptr);
  std::string describe(Form form, const llvm::Instruction& instruction) const;

  // Small things.
  llvm::FixedVectorType* chunk_type(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, lanes_.per_chunk);
  }
  llvm::FixedVectorType* mask_type() { return chunk_type(builder_.getInt32Ty()); }
  llvm::Value* splat(llvm::Value* value) {
    return builder_.CreateVectorSplat(lanes_.per_chunk, value);
  }
  llvm::Constant* lane_numbers(unsigned chunk, llvm::Type* type, unsigned modulo = 0) const;
  llvm::BasicBlock* new_block(const llvm::Twine& name) {
    return llvm::BasicBlock::Create(target_.getContext(), name, &target_);
  }
  void give_up(const std::string& reason, const llvm::Instruction& instruction);

  llvm::Function& source_;
  llvm::Function& target_;
  const Analyses& analyses_;
  const Lanes lanes_;
  llvm::Value* const lane_count_;
  const llvm::DataLayout& layout_;
  Builder builder_;
  llvm::BasicBlock* allocas_ = nullptr;

  std::unordered_map<const llvm::Value*, llvm::Value*> scalars_;
  std::unordered_map<const llvm::Value*, Chunks> vectors_;
  std::unordered_map<const llvm::Value*, llvm::SmallVector<Chunks, 2>> components_;
  /// Vectors that were made where they were needed: forgotten where that place does not dominate.
  std::vector<const llvm::Value*> made_here_;

  /// Whether matrices are kept as rows: every lane of a simdgroup runs, and rows are chunks.
  const bool keeps_rows_;
  std::unordered_map<const llvm::Value*, std::vector<MatrixInMemory>> matrices_in_memory_;
  std::unordered_map<const llvm::Value*, Chunks> taken_apart_;

  /// What was loaded for each lane of a chunk, by the first load of its row.
  std::map<std::pair<const llvm::Instruction*, unsigned>, std::vector<llvm::Value*>> rows_of_loads_;
  std::unordered_map<const llvm::Instruction*, std::vector<llvm::Instruction*>> row_stores_;

  /// Stores that are done together with a later one of their block.
  std::unordered_map<const llvm::StoreInst*, Interleaved> interleaved_stores_;

  std::unordered_map<const llvm::PHINode*, Slots> vector_slots_;
  std::unordered_map<const llvm::PHINode*, llvm::AllocaInst*> scalar_slots_;
  std::vector<Slots> mask_slots_;
  std::unordered_map<const llvm::BasicBlock*, llvm::AllocaInst*> guard_slots_;
  /// Of each loop: the lanes that go on, or one bit when all do the same.
  std::unordered_map<const llvm::Loop*, Slots> continue_slots_;
  std::unordered_map<const llvm::Loop*, llvm::BasicBlock*> loop_ends_;
  std::map<const llvm::BasicBlock*, std::vector<llvm::BasicBlock*>> children_;

  Chunks program_mask_;
  Chunks mask_;
  /// Of the blocks that were emitted.
  std::unordered_map<const llvm::BasicBlock*, Chunks> block_masks_;
  llvm::Value* spare_memory_ = nullptr;
  llvm::Value* streams_ = nullptr;
  /// Metadata for accesses to memory.
  llvm::MDNode* accessor_ = nullptr;
  Tally tally_;
  std::string reason_;
  /// Of a watched loop: whether lanes are counted, and by how much less those that were counted
  /// would have done alone what they did.
  struct Watched {
    llvm::AllocaInst* counts;
    llvm::AllocaInst* saved;
  };
  const Watched& watched(std::uint64_t number);
  std::map<std::uint64_t, Watched> watched_;
};

}  // namespace pewter::compiler::spmd
