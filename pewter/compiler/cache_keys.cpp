#include "pewter/compiler/cache_keys.h"

#include <span>

#include "pewter/base/kernel_abi.h"
#include "pewter/compiler/backend_loader.h"

namespace pewter::compiler {
namespace {

/// Of the wire formats of cached results; raised when they change.
constexpr std::uint64_t kFormatVersion = 9;

}  // namespace

Digest library_key(const std::string& source, const LibraryOptions& options) {
  Hasher hasher;
  hasher.add("library").add(kFormatVersion).add(backend_identity()).add(source);
  hasher.add(options.language_version).add(static_cast<std::uint64_t>(options.math_mode));
  hasher.add(static_cast<std::uint64_t>(options.math_functions));
  hasher.add(options.source_name).add(static_cast<std::uint64_t>(options.enable_logging));
  hasher.add(options.macros.size());
  for (const auto& [name, value] : options.macros) {
    hasher.add(name).add(value);
  }
  return hasher.digest();
}

Digest unit_key(const Digest& text, const LibraryOptions& options) {
  Hasher hasher;
  hasher.add("unit").add(text.high).add(text.low);
  const Digest rest = library_key("", options);
  return hasher.add(rest.high).add(rest.low).digest();
}

Digest kernel_key(const Digest& library, const KernelRequest& request) {
  Hasher hasher;
  hasher.add("kernel").add(kFormatVersion).add(abi::kKernelAbiVersion);
  hasher.add(library.high).add(library.low).add(request.kernel).add(target_cpu());
  for (const auto& [index, value] : request.constants) {
    hasher.add(index).add(std::span<const std::byte>(value));
  }
  hasher.add(static_cast<std::uint64_t>(request.mode)).add(request.lanes);
  hasher.add(static_cast<std::uint64_t>(request.parts));
  hasher.add(static_cast<std::uint64_t>(request.shape.kind));
  for (const LinkedFunction& function : request.linked) {
    const Digest identity = function.library->identity(function.name);
    hasher.add("linked").add(identity.high).add(identity.low).add(function.name);
    for (const auto& [index, value] : function.constants) {
      hasher.add(index).add(std::span<const std::byte>(value));
    }
  }
  for (const std::uint32_t size : request.shape.size) {
    hasher.add(size);
  }
  return hasher.digest();
}

}  // namespace pewter::compiler
