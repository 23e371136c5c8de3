#include "pewter/compiler/msl/prelude.h"

#include <memory>
#include <system_error>

#include "llvm/Support/MemoryBuffer.h"

#include "pewter/compiler/msl/diagnostics.h"

namespace pewter::compiler::msl {
namespace {

/// The files of the machine without its pipes and devices, which never end or never begin.
class PlainFiles : public llvm::vfs::ProxyFileSystem {
 public:
  PlainFiles() : ProxyFileSystem(llvm::vfs::getRealFileSystem()) {}

  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(
      const llvm::Twine& path) override {
    const auto found = status(path);
    if (!found) {
      return found.getError();
    }
    if (!found->isRegularFile()) {
      return std::make_error_code(std::errc::no_such_file_or_directory);
    }
    return ProxyFileSystem::openFileForRead(path);
  }
};

}  // namespace

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> file_system_with_stdlib() {
  auto embedded = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const EmbeddedFile* file = kStdlibFiles; file->name != nullptr; ++file) {
    embedded->addFile(std::string(kStdlibFolder) + "/" + file->name, 0,
                      llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(file->begin, file->size),
                                                       file->name, false));
  }
  auto layered = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::makeIntrusiveRefCnt<PlainFiles>());
  layered->pushOverlay(embedded);
  return layered;
}

}  // namespace pewter::compiler::msl
