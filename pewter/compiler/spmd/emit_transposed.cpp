#include <algorithm>

#include "llvm/Analysis/VectorUtils.h"

#include "pewter/compiler/spmd/emitter.h"
#include "pewter/compiler/spmd/lane_addresses.h"

namespace pewter::compiler::spmd {
namespace {

// Lanes whose rows are transposed together; chunks are one or more of these blocks.
constexpr unsigned kBlock = 8;
constexpr std::int64_t kElementBytes = 4;
constexpr const char* kWholeRows = "strided: four neighbouring words of each thread together";

// Elements and pairs of them from two vectors in turn, in each half of the vectors.
constexpr int kLowElements[] = {0, 8, 1, 9, 4, 12, 5, 13};
constexpr int kHighElements[] = {2, 10, 3, 11, 6, 14, 7, 15};
constexpr int kLowPairs[] = {0, 1, 8, 9, 4, 5, 12, 13};
constexpr int kHighPairs[] = {2, 3, 10, 11, 6, 7, 14, 15};

}  // namespace

/// The accesses after `first` in its block that are in one row with it: neighbouring words behind
/// an address that each lane has for itself, in the order of their addresses.
std::vector<llvm::Instruction*> Emitter::find_row(llvm::Instruction& first) const {
  struct Member {
    llvm::Instruction* access;
    std::int64_t offset;
  };
  const bool is_load = llvm::isa<llvm::LoadInst>(first);
  const auto address_of = [&](const llvm::Instruction& access) {
    return split_address(analyses_.evolution, llvm::getLoadStorePointerOperand(&access));
  };
  const Address first_address = address_of(first);
  std::vector<Member> members;
  for (llvm::Instruction* next = &first; next != nullptr; next = next->getNextNode()) {
    const bool is_access = next->getOpcode() == first.getOpcode() &&
                           llvm::getLoadStoreType(next) == llvm::getLoadStoreType(&first) &&
                           !next->isAtomic() && !next->isVolatile();
    if (is_access && vectors_.count(next) == 0 && matrix_half(next) == nullptr) {
      const Address address = address_of(*next);
      if (address.base == first_address.base) {
        members.push_back({next, address.offset});
        continue;
      }
    }
    if (is_load ? next->mayWriteToMemory() : next->mayReadOrWriteMemory()) {
      break;
    }
  }
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& a, const Member& b) { return a.offset < b.offset; });
  // Rows are counted from the first element of each run, so that all members agree on them.
  std::vector<llvm::Instruction*> row;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const bool follows = !row.empty() && members[i].offset == members[i - 1].offset + kElementBytes;
    if (!follows || row.size() == kRow) {
      if (row.size() == kRow && llvm::is_contained(row, &first)) {
        return row;
      }
      row.clear();
    }
    row.push_back(members[i].access);
  }
  if (row.size() != kRow || !llvm::is_contained(row, &first)) {
    row.clear();
  }
  return row;
}

/// Whether lanes reach for words of their own, apart from each other.
bool Emitter::may_be_row(llvm::Instruction& access) const {
  llvm::Type* type = llvm::getLoadStoreType(&access);
  if (lanes_.per_chunk % kBlock != 0 || access.isAtomic() || access.isVolatile() ||
      layout_.getTypeStoreSize(type) != kElementBytes || type->isIntegerTy(1)) {
    return false;
  }
  const Pattern how = pattern(llvm::getLoadStorePointerOperand(&access), 0, kElementBytes);
  return how == Pattern::Any || how == Pattern::Strided;
}

/// The address of each lane's row, in a chunk; spare memory for lanes that are not active.
std::vector<llvm::Value*> Emitter::row_addresses(llvm::Instruction& access,
                                                 llvm::Instruction& first,
                                                 unsigned chunk) {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&access);
  const std::int64_t back =
      split_address(analyses_.evolution, llvm::getLoadStorePointerOperand(&first)).offset -
      split_address(analyses_.evolution, pointer).offset;
  LaneAddresses addresses(builder_,
                          lane_pointers(pointer, chunk, pattern(pointer, chunk, kElementBytes)));
  llvm::Value* lanes = mask_.empty() ? nullptr : active(chunk);
  std::vector<llvm::Value*> result;
  for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
    llvm::Value* address = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), addresses.at(lane),
                                                       static_cast<std::uint64_t>(back));
    if (lanes != nullptr) {
      address = builder_.CreateSelect(builder_.CreateExtractElement(lanes, lane), address,
                                      spare_memory());
    }
    result.push_back(address);
  }
  return result;
}

/// Four vectors of eight by four: what was beside each other is in lanes, and the other way round.
/// Rows come as those of lane l beside those of lane l + 4.
Emitter::Row Emitter::transpose(const Row& rows) {
  Row columns{};
  for (const bool is_high : {false, true}) {
    const llvm::ArrayRef<int> elements = is_high ? kHighElements : kLowElements;
    llvm::Value* even = builder_.CreateShuffleVector(rows[0], rows[1], elements);
    llvm::Value* odd = builder_.CreateShuffleVector(rows[2], rows[3], elements);
    const std::size_t column = is_high ? 2 : 0;
    columns[column] = builder_.CreateShuffleVector(even, odd, kLowPairs);
    columns[column + 1] = builder_.CreateShuffleVector(even, odd, kHighPairs);
  }
  return columns;
}

// Each lane's row is one load; rows become columns, one for each element, in registers.
bool Emitter::emit_transposed_load(llvm::LoadInst& load) {
  if (!may_be_row(load)) {
    return false;
  }
  const std::vector<llvm::Instruction*> row = find_row(load);
  if (row.empty()) {
    return false;
  }
  auto* row_type = llvm::FixedVectorType::get(load.getType(), kRow);
  const llvm::Align align = llvm::cast<llvm::LoadInst>(row[0])->getAlign();
  std::vector<Chunks> columns(kRow);
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    count(Form::StridedAccess, row, kWholeRows);
    set_accessor(load.getPointerOperand(), chunk);
    std::vector<llvm::Value*> rows;
    for (llvm::Value* address : row_addresses(load, *row[0], chunk)) {
      rows.push_back(builder_.CreateAlignedLoad(row_type, address, align));
    }
    std::vector<llvm::SmallVector<llvm::Value*, 2>> blocks(kRow);
    for (unsigned first = 0; first < lanes_.per_chunk; first += kBlock) {
      Row pairs{};
      for (unsigned lane = 0; lane < kRow; ++lane) {
        pairs[lane] =
            llvm::concatenateVectors(builder_, {rows[first + lane], rows[first + lane + kRow]});
      }
      const auto transposed = transpose(pairs);
      for (unsigned i = 0; i < kRow; ++i) {
        blocks[i].push_back(transposed[i]);
      }
    }
    for (unsigned i = 0; i < kRow; ++i) {
      columns[i].push_back(llvm::concatenateVectors(builder_, blocks[i]));
    }
    rows_of_loads_[{row[0], chunk}] = std::move(rows);
  }
  clear_accessor();
  for (unsigned i = 0; i < kRow; ++i) {
    define_vector(row[i], std::move(columns[i]));
  }
  return true;
}

/// The rows as they were loaded, for stores that move them somewhere else as they are.
const std::vector<llvm::Value*>* Emitter::loaded_rows(llvm::ArrayRef<llvm::Instruction*> stores,
                                                      unsigned chunk) const {
  const auto value = [&](unsigned i) {
    return llvm::dyn_cast<llvm::LoadInst>(
        llvm::cast<llvm::StoreInst>(stores[i])->getValueOperand());
  };
  const llvm::LoadInst* first = value(0);
  const auto found = first != nullptr ? rows_of_loads_.find({first, chunk}) : rows_of_loads_.end();
  if (found == rows_of_loads_.end()) {
    return nullptr;
  }
  const Address start = split_address(analyses_.evolution, first->getPointerOperand());
  for (unsigned i = 1; i < kRow; ++i) {
    const llvm::LoadInst* next = value(i);
    if (next == nullptr || next->getParent() != first->getParent() || vectors_.count(next) == 0) {
      return nullptr;
    }
    const Address address = split_address(analyses_.evolution, next->getPointerOperand());
    if (address.base != start.base || address.offset != start.offset + i * kElementBytes) {
      return nullptr;
    }
  }
  return &found->second;
}

// The last store of a row does the work of all, when the values of all are there.
bool Emitter::emit_transposed_store(llvm::StoreInst& store) {
  auto known = row_stores_.find(&store);
  if (known == row_stores_.end()) {
    if (!may_be_row(store)) {
      return false;
    }
    const std::vector<llvm::Instruction*> row = find_row(store);
    if (row.empty()) {
      return false;
    }
    for (llvm::Instruction* member : row) {
      row_stores_[member] = row;
    }
    known = row_stores_.find(&store);
  }
  const std::vector<llvm::Instruction*>& row = known->second;
  if (llvm::any_of(row, [&](llvm::Instruction* member) { return store.comesBefore(member); })) {
    return true;
  }
  auto* row_type = llvm::FixedVectorType::get(store.getValueOperand()->getType(), kRow);
  const llvm::Align align = llvm::cast<llvm::StoreInst>(row[0])->getAlign();
  for (unsigned chunk = 0; chunk < lanes_.chunks(); ++chunk) {
    count(Form::StridedAccess, row, kWholeRows);
    std::vector<llvm::Value*> rows;
    if (const auto* loaded = loaded_rows(row, chunk)) {
      rows = *loaded;
    } else {
      rows.resize(lanes_.per_chunk);
      for (unsigned first = 0; first < lanes_.per_chunk; first += kBlock) {
        Row columns{};
        for (unsigned i = 0; i < kRow; ++i) {
          columns[i] = builder_.CreateShuffleVector(
              vector(llvm::cast<llvm::StoreInst>(row[i])->getValueOperand())[chunk],
              llvm::createSequentialMask(first, kBlock, 0));
        }
        const auto pairs = transpose(columns);
        for (unsigned lane = 0; lane < kRow; ++lane) {
          rows[first + lane] = builder_.CreateShuffleVector(pairs[lane], {0, 1, 2, 3});
          rows[first + lane + kRow] = builder_.CreateShuffleVector(pairs[lane], {4, 5, 6, 7});
        }
      }
    }
    set_accessor(store.getPointerOperand(), chunk);
    const auto addresses = row_addresses(store, *row[0], chunk);
    for (unsigned lane = 0; lane < lanes_.per_chunk; ++lane) {
      builder_.CreateAlignedStore(builder_.CreateBitCast(rows[lane], row_type), addresses[lane],
                                  align);
    }
    clear_accessor();
  }
  return true;
}

}  // namespace pewter::compiler::spmd
