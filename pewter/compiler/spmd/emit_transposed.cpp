#include <algorithm>

#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/lane_addresses.h"

namespace pewter::compiler::spmd {
namespace {

// Elements of a lane that are loaded together.
constexpr unsigned kRow = 4;
constexpr unsigned kLanes = 8;
constexpr std::int64_t kElementBytes = 4;

// Elements and pairs of them from two vectors in turn, in each half of the vectors.
constexpr int kLowElements[] = {0, 8, 1, 9, 4, 12, 5, 13};
constexpr int kHighElements[] = {2, 10, 3, 11, 6, 14, 7, 15};
constexpr int kLowPairs[] = {0, 1, 8, 9, 4, 5, 12, 13};
constexpr int kHighPairs[] = {2, 3, 10, 11, 6, 7, 14, 15};

}  // namespace

/// The loads after `first` in its block that are in one row with it: neighbouring words behind an
/// address that each lane has for itself.
std::vector<llvm::LoadInst*> Emitter::find_row(llvm::LoadInst& first) const {
  struct Member {
    llvm::LoadInst* load;
    std::int64_t offset;
  };
  const auto base_and_offset = [&](llvm::LoadInst& load) {
    llvm::APInt offset(64, 0);
    const llvm::Value* base =
        load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true);
    return std::pair(base, offset.getSExtValue());
  };
  const auto [base, first_offset] = base_and_offset(first);
  std::vector<Member> members;
  for (llvm::Instruction* next = &first; next != nullptr && !next->mayWriteToMemory();
       next = next->getNextNode()) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(next);
    if (load == nullptr || load->getType() != first.getType() || !load->isSimple() ||
        vectors_.count(load) != 0) {
      continue;
    }
    const auto [other, offset] = base_and_offset(*load);
    if (other == base) {
      members.push_back({load, offset});
    }
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& a, const Member& b) { return a.offset < b.offset; });
  // Rows are counted from the first element of each run, so that all members agree on them.
  std::vector<llvm::LoadInst*> row;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool follows = !row.empty() && members[i].offset == members[i - 1].offset + kElementBytes;
    if (!follows || row.size() == kRow) {
      if (row.size() == kRow && llvm::is_contained(row, &first)) {
        return row;
      }
      row.clear();
    }
    row.push_back(members[i].load);
  }
  if (row.size() != kRow || !llvm::is_contained(row, &first)) {
    row.clear();
  }
  return row;
}

// Each lane's row is one load; rows become columns, one for each element, in registers.
bool Emitter::emit_transposed_load(llvm::LoadInst& load) {
  if (lanes_.per_chunk != kLanes || !load.isSimple() ||
      layout_.getTypeStoreSize(load.getType()) != kElementBytes || load.getType()->isIntegerTy(1)) {
    return false;
  }
  const Pattern how = pattern(load.getPointerOperand(), 0, kElementBytes);
  if (how != Pattern::Any && how != Pattern::Strided) {
    return false;
  }
  const std::vector<llvm::LoadInst*> row = find_row(load);
  if (row.empty()) {
    return false;
  }
  llvm::APInt own(64, 0);
  llvm::APInt first(64, 0);
  load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, own, true);
  row[0]->getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, first, true);
  const std::int64_t back = first.getSExtValue() - own.getSExtValue();
  auto* row_type = llvm::FixedVectorType::get(load.getType(), kRow);
  const llvm::Align align = row[0]->getAlign();
  std::vector<Chunks> columns(kRow);
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    ++tally_.strided_accesses;
    set_accessor(load.getPointerOperand(), chunk);
    llvm::Value* pointers = lane_pointers(load.getPointerOperand(), chunk,
                                          pattern(load.getPointerOperand(), chunk, kElementBytes));
    LaneAddresses addresses(builder_, pointers);
    llvm::Value* lanes = mask_.empty() ? nullptr : active(chunk);
    std::vector<llvm::Value*> rows;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      llvm::Value* address = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), addresses.at(lane),
                                                         static_cast<std::uint64_t>(back));
      if (lanes != nullptr) {
        address = builder_.CreateSelect(builder_.CreateExtractElement(lanes, lane), address,
                                        spare_memory());
      }
      rows.push_back(builder_.CreateAlignedLoad(row_type, address, align));
    }
    // Lane l beside lane l + 4, then four by four.
    std::vector<llvm::Value*> pairs;
    for (unsigned lane = 0; lane < kRow; ++lane) {
      pairs.push_back(
          builder_.CreateShuffleVector(rows[lane], rows[lane + kRow], {0, 1, 2, 3, 4, 5, 6, 7}));
    }
    for (const bool is_high : {false, true}) {
      const llvm::ArrayRef<int> elements = is_high ? kHighElements : kLowElements;
      llvm::Value* even = builder_.CreateShuffleVector(pairs[0], pairs[1], elements);
      llvm::Value* odd = builder_.CreateShuffleVector(pairs[2], pairs[3], elements);
      const std::size_t column = is_high ? 2 : 0;
      columns[column].push_back(builder_.CreateShuffleVector(even, odd, kLowPairs));
      columns[column + 1].push_back(builder_.CreateShuffleVector(even, odd, kHighPairs));
    }
  }
  clear_accessor();
  for (unsigned i = 0; i < kRow; ++i) {
    define_vector(row[i], std::move(columns[i]));
  }
  return true;
}

}  // namespace pewter::compiler::spmd
