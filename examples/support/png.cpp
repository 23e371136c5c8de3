#include "examples/support/png.h"

#include <zlib.h>

#include <fstream>
#include <stdexcept>

namespace examples {
namespace {

constexpr std::uint32_t kBytesPerPixel = 4;

void append_number(std::string& text, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    text += static_cast<char>(number >> shift & 0xff);
  }
}

/// Length, type, data and checksum, as section "Chunk layout" of the PNG specification has them.
void append_chunk(std::string& file, const std::string& type, const std::string& data) {
  append_number(file, static_cast<std::uint32_t>(data.size()));
  const std::string body = type + data;
  const auto checksum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  file += body;
  append_number(file, static_cast<std::uint32_t>(checksum));
}

/// Rows, each after the number of its filter. Filter 1 stores differences to the pixel on the left.
std::string filtered_rows(const std::vector<std::uint8_t>& pixels,
                          std::uint32_t width,
                          std::uint32_t height) {
  const std::size_t row_bytes = std::size_t{width} * kBytesPerPixel;
  std::string rows;
  rows.reserve((row_bytes + 1) * height);
  for (std::uint32_t y = 0; y < height; ++y) {
    const std::uint8_t* row = pixels.data() + y * row_bytes;
    rows += '\x01';
    for (std::size_t i = 0; i < row_bytes; ++i) {
      const int left = i < kBytesPerPixel ? 0 : row[i - kBytesPerPixel];
      rows += static_cast<char>(row[i] - left);
    }
  }
  return rows;
}

std::string compressed(const std::string& data) {
  uLongf length = compressBound(data.size());
  std::string result(length, '\0');
  if (compress2(reinterpret_cast<Bytef*>(result.data()), &length,
                reinterpret_cast<const Bytef*>(data.data()), data.size(),
                Z_BEST_COMPRESSION) != Z_OK) {
    throw std::runtime_error("zlib cannot compress the image");
  }
  result.resize(length);
  return result;
}

}  // namespace

void write_png(const std::string& path,
               const std::vector<std::uint8_t>& pixels,
               std::uint32_t width,
               std::uint32_t height) {
  std::string header;
  append_number(header, width);
  append_number(header, height);
  // Eight bits a sample, colour type "truecolour with alpha", the only compression and filter
  // method, no interlacing.
  header += std::string("\x08\x06\x00\x00\x00", 5);

  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", compressed(filtered_rows(pixels, width, height)));
  append_chunk(file, "IEND", "");

  std::ofstream stream(path, std::ios::binary);
  stream << file;
  stream.close();
  if (!stream) {
    throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace examples
