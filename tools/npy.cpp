#include "tools/npy.h"

#include <pewter/errors.h>

#include <cstring>
#include <utility>

#include "tools/failure.h"

namespace pewter::tools {
namespace {

/// What `action` returns; a file that it does not like is an error of the command.
template <typename Action>
auto checked(const Action& action) {
  try {
    return action();
  } catch (const FileError& error) {
    throw CommandError(error.what());
  }
}

BufferHeader plain(NpyHeader header, const std::string& path) {
  BufferHeader plain{std::move(header)};
  if (plain.fortran_order) {
    command_error("{}: column-major (fortran_order) arrays are not supported", path);
  }
  if (!element_of_numpy_name(plain.descr, plain.element)) {
    command_error(
        "{}: Metal has no type for NumPy's '{}'; convert with astype('float32') or another", path,
        plain.descr);
  }
  return plain;
}

}  // namespace

BufferHeader parse_buffer_header(std::string_view start, const std::string& path) {
  return plain(checked([&] { return parse_npy_header(start, path); }), path);
}

BufferHeader read_buffer_header(const std::string& path) {
  return plain(checked([&] { return read_npy_header(path); }), path);
}

void read_buffer_data(const std::string& path,
                      const BufferHeader& header,
                      std::span<std::byte> data) {
  checked([&] { read_npy_data(path, header, data); });
}

void write_buffer(const std::string& path,
                  const ValueType& type,
                  const std::vector<std::uint64_t>& shape,
                  std::span<const std::byte> data) {
  std::vector<std::uint64_t> full_shape = shape;
  if (type.lanes > 1) {
    full_shape.push_back(type.stored_lanes());
  }
  if (type.element != Element::BFloat) {
    checked([&] { write_npy(path, numpy_name(type.element), full_shape, data); });
    return;
  }
  std::vector<float> widened(data.size() / 2);
  for (std::size_t i = 0; i < widened.size(); ++i) {
    widened[i] = static_cast<float>(load_number(Element::BFloat, data.data() + 2 * i));
  }
  checked([&] {
    write_npy(path, numpy_name(Element::Float), full_shape, std::as_bytes(std::span(widened)));
  });
}

}  // namespace pewter::tools
