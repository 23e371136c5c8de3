#include "pewter/metal/foundation/bundle.h"

#include <filesystem>

#include "pewter/metal/foundation/collections.h"
#include "pewter/metal/foundation/string.h"
#include "pewter/metal/foundation/url.h"

namespace pewter::foundation {
namespace {

namespace fs = std::filesystem;

Bundle& main_bundle() {
  static Bundle& bundle = []() -> Bundle& {
    auto* body = make<Bundle>();
    body->make_immortal();
    std::error_code failure;
    const fs::path executable = fs::read_symlink("/proc/self/exe", failure);
    body->executable = executable.string();
    body->path = failure ? "." : executable.parent_path().string();
    body->loaded = true;
    return *body;
  }();
  return bundle;
}

NS::Bundle* opened(NS::Bundle* bundle, const std::string& path) {
  auto* self = impl<Bundle>(bundle);
  std::error_code failure;
  if (self == nullptr || path.empty() || !fs::is_directory(path, failure)) {
    bundle->release();
    return nullptr;
  }
  self->path = path;
  return bundle;
}

NS::String* path_string(const std::string& path) {
  return path.empty() ? nullptr : string(path);
}

NS::URL* path_url(const std::string& path) {
  return path.empty() ? nullptr : file_url(path);
}

std::string auxiliary_path(const NS::Bundle* bundle, const NS::String* name) {
  auto* self = impl<Bundle>(bundle);
  if (self == nullptr || name == nullptr) {
    return {};
  }
  const fs::path path = fs::path(self->path) / text_of(name);
  std::error_code failure;
  return fs::exists(path, failure) ? path.string() : std::string();
}

}  // namespace
}  // namespace pewter::foundation

namespace foundation = pewter::foundation;
using Body = foundation::Bundle;
using foundation::get;
using foundation::handle;
using foundation::impl;

NS::Bundle* NS::Bundle::mainBundle() {
  return handle(&foundation::main_bundle());
}

NS::Bundle* NS::Bundle::bundle(const String* pPath) {
  return alloc()->init(pPath)->autorelease();
}

NS::Bundle* NS::Bundle::bundle(const URL* pURL) {
  return alloc()->init(pURL)->autorelease();
}

NS::Array* NS::Bundle::allBundles() {
  return Array::array(mainBundle());
}

NS::Array* NS::Bundle::allFrameworks() {
  return Array::array();
}

NS::Bundle* NS::Bundle::alloc() {
  return handle(foundation::make<Body>());
}

NS::Bundle* NS::Bundle::init(const String* pPath) {
  return foundation::opened(this, foundation::text_of(pPath));
}

NS::Bundle* NS::Bundle::init(const URL* pURL) {
  const char* path = pURL->fileSystemRepresentation();
  return foundation::opened(this, path != nullptr ? path : "");
}

bool NS::Bundle::load() {
  foundation::set(this, &Body::loaded, true);
  return isLoaded();
}

bool NS::Bundle::unload() {
  foundation::set(this, &Body::loaded, false);
  return !isLoaded();
}

bool NS::Bundle::isLoaded() const {
  return get(this, &Body::loaded);
}

bool NS::Bundle::preflightAndReturnError(Error**) const {
  return impl<Body>(this) != nullptr;
}

bool NS::Bundle::loadAndReturnError(Error**) {
  return load();
}

NS::URL* NS::Bundle::bundleURL() const {
  return foundation::path_url(get(this, &Body::path));
}

NS::URL* NS::Bundle::resourceURL() const {
  return bundleURL();
}

NS::URL* NS::Bundle::executableURL() const {
  return foundation::path_url(get(this, &Body::executable));
}

NS::URL* NS::Bundle::URLForAuxiliaryExecutable(const String* pExecutableName) const {
  return foundation::path_url(foundation::auxiliary_path(this, pExecutableName));
}

NS::String* NS::Bundle::bundlePath() const {
  return foundation::path_string(get(this, &Body::path));
}

NS::String* NS::Bundle::resourcePath() const {
  return bundlePath();
}

NS::String* NS::Bundle::executablePath() const {
  return foundation::path_string(get(this, &Body::executable));
}

NS::String* NS::Bundle::pathForAuxiliaryExecutable(const String* pExecutableName) const {
  return foundation::path_string(foundation::auxiliary_path(this, pExecutableName));
}

NS::String* NS::Bundle::bundleIdentifier() const {
  return nullptr;
}

NS::Dictionary* NS::Bundle::infoDictionary() const {
  return impl<Body>(this) != nullptr ? Dictionary::dictionary() : nullptr;
}

NS::Object* NS::Bundle::objectForInfoDictionaryKey(const String*) {
  return nullptr;
}

NS::String* NS::Bundle::localizedString(const String* pKey,
                                        const String* pValue,
                                        const String*) const {
  const String* text = pValue->length() > 0 ? pValue : pKey;
  return String::string(text);
}
