#pragma once

#include <pewter/array.h>
#include <pewter/errors.h>
#include <pewter/export.h>

#include <filesystem>
#include <map>
#include <string>

/// Arrays in files.
///
/// Whatever reads throws FileError, with the file's name and the reason, for a file that is cut
/// short, damaged or made to do harm; nothing is allocated before the file has shown that it has
/// the bytes. float64 becomes float32, and types that arrays lack are refused. Whatever writes
/// evaluates the arrays first, so a failure there leaves the file as it was.
namespace pewter {

/// Arrays by name.
using NamedArrays = std::map<std::string, array>;

/// One array, in NumPy's .npy format. bfloat16, which NumPy lacks, is written as float32.
PEWTER_EXPORT array load(const std::filesystem::path& path);
PEWTER_EXPORT void save(const std::filesystem::path& path, const array& value);

/// Several arrays, in NumPy's .npz format, compressed or not.
PEWTER_EXPORT NamedArrays load_npz(const std::filesystem::path& path);
PEWTER_EXPORT void save_npz(const std::filesystem::path& path,
                            const NamedArrays& arrays,
                            bool is_compressed = false);

/// What a .safetensors file holds.
struct SafetensorsContent {
  NamedArrays arrays;
  std::map<std::string, std::string> metadata;
};

PEWTER_EXPORT SafetensorsContent load_safetensors(const std::filesystem::path& path);
PEWTER_EXPORT void save_safetensors(const std::filesystem::path& path,
                                    const NamedArrays& arrays,
                                    const std::map<std::string, std::string>& metadata = {});

}  // namespace pewter
