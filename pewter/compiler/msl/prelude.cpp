#include "pewter/compiler/msl/prelude.h"

#include "llvm/Support/MemoryBuffer.h"

#include "pewter/compiler/msl/diagnostics.h"

namespace pewter::compiler::msl {

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> file_system_with_stdlib() {
  auto embedded = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  for (const EmbeddedFile* file = kStdlibFiles; file->name != nullptr; ++file) {
    embedded->addFile(std::string(kStdlibFolder) + "/" + file->name, 0,
                      llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(file->begin, file->size),
                                                       file->name, false));
  }
  auto layered =
      llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
  layered->pushOverlay(embedded);
  return layered;
}

}  // namespace pewter::compiler::msl
