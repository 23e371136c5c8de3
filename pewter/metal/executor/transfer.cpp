#include <algorithm>
#include <cstring>
#include <limits>

#include "pewter/metal/executor/executor.h"

namespace pewter::executor {
namespace {

// Enough to make up for handing a piece to another thread, and to end soon after a time-out.
constexpr std::uint64_t kPieceBytes = std::uint64_t(1) << 20;

/// What every group of a transfer reads: which bytes, and how many there are in each piece.
struct Transfer {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  std::uint64_t byte_count = 0;
  std::uint64_t piece_bytes = 0;
  std::uint8_t value = 0;
};

const Transfer& transfer_of(const abi::Launch* launch) {
  return *static_cast<const Transfer*>(launch->buffers[0]);
}

/// Offset and length of a group's piece.
struct Piece {
  Piece(const Transfer& transfer, const abi::Group* group)
      : offset(group->position[0] * transfer.piece_bytes),
        length(std::min(transfer.piece_bytes, transfer.byte_count - offset)) {}

  std::uint64_t offset;
  std::uint64_t length;
};

void copy_piece(const abi::Launch* launch, const abi::Group* group, std::uint32_t, std::uint32_t) {
  const Transfer& transfer = transfer_of(launch);
  const Piece piece(transfer, group);
  std::memmove(transfer.to + piece.offset, transfer.from + piece.offset, piece.length);
}

void fill_piece(const abi::Launch* launch, const abi::Group* group, std::uint32_t, std::uint32_t) {
  const Transfer& transfer = transfer_of(launch);
  const Piece piece(transfer, group);
  std::memset(transfer.to + piece.offset, transfer.value, piece.length);
}

Fault run_pieces(const LoadedKernel& kernel, const Transfer& transfer) {
  Dispatch dispatch = {};
  dispatch.kernel = &kernel;
  dispatch.launch.buffers[0] = &transfer;
  const auto pieces = static_cast<std::uint32_t>((transfer.byte_count + transfer.piece_bytes - 1) /
                                                 transfer.piece_bytes);
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t count = axis == 0 ? pieces : 1;
    dispatch.launch.threads_per_grid[axis] = count;
    dispatch.launch.threadgroups_per_grid[axis] = count;
    dispatch.launch.threads_per_threadgroup[axis] = 1;
  }
  return run(dispatch);
}

/// At least kPieceBytes, and more when there would be too many pieces to count.
std::uint64_t piece_bytes(std::uint64_t byte_count) {
  constexpr std::uint64_t kMaxPieces = std::numeric_limits<std::uint32_t>::max();
  return std::max(kPieceBytes, byte_count / kMaxPieces + 1);
}

}  // namespace

Fault copy(void* to, const void* from, std::uint64_t byte_count) {
  static const auto* kernel =
      new std::shared_ptr<const LoadedKernel>(LoadedKernel::wrap(&copy_piece));
  if (byte_count == 0 || to == from) {
    return {};
  }
  Transfer transfer;
  transfer.to = static_cast<std::byte*>(to);
  transfer.from = static_cast<const std::byte*>(from);
  transfer.byte_count = byte_count;
  const auto to_address = reinterpret_cast<std::uintptr_t>(to);
  const auto from_address = reinterpret_cast<std::uintptr_t>(from);
  const std::uint64_t distance =
      std::max(to_address, from_address) - std::min(to_address, from_address);
  // Ranges that overlap are moved in one piece, in whichever direction is right.
  transfer.piece_bytes = distance < byte_count ? byte_count : piece_bytes(byte_count);
  return run_pieces(**kernel, transfer);
}

Fault fill(void* to, std::uint8_t value, std::uint64_t byte_count) {
  static const auto* kernel =
      new std::shared_ptr<const LoadedKernel>(LoadedKernel::wrap(&fill_piece));
  if (byte_count == 0) {
    return {};
  }
  Transfer transfer;
  transfer.to = static_cast<std::byte*>(to);
  transfer.byte_count = byte_count;
  transfer.piece_bytes = piece_bytes(byte_count);
  transfer.value = value;
  return run_pieces(**kernel, transfer);
}

}  // namespace pewter::executor
