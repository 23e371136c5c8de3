#include "pewter/metal/foundation/error.h"

#include <fmt/format.h>

namespace pewter::foundation {
namespace {

/// An entry of the user information when it is of that class; null otherwise.
template <class T>
T* entry(const Error* error, NS::ErrorUserInfoKey key) {
  if (error == nullptr || !error->user_info) {
    return nullptr;
  }
  Object* value = error->user_info->find(*impl<String>(key));
  return value != nullptr && value->is(T::kClass) ? static_cast<T*>(value) : nullptr;
}

void fill(Error& error, NS::ErrorDomain domain, NS::Integer code, Ref<Dictionary> user_info) {
  error.domain = Ref<String>(impl<String>(domain));
  error.code = code;
  error.user_info = user_info ? std::move(user_info) : make_ref<Dictionary>();
  if (auto* text = entry<String>(&error, NS::LocalizedDescriptionKey)) {
    error.localized_description = Ref<String>(text);
  } else {
    error.localized_description =
        make_string(fmt::format("the operation couldn't be completed ({} error {})",
                                error.domain ? error.domain->text : "unknown", code));
  }
}

}  // namespace

bool Error::equals(const Object& other) const {
  if (!other.is(kClass)) {
    return false;
  }
  const auto& error = static_cast<const Error&>(other);
  return error.code == code &&
         (domain ? error.domain && domain->equals(*error.domain) : !error.domain);
}

std::string Error::description() const {
  return fmt::format("Error Domain={} Code={} \"{}\"", domain ? domain->text : "", code,
                     localized_description ? localized_description->text : "");
}

Object* Error::copy() const {
  auto* self = const_cast<Error*>(this);
  self->retain();
  return self;
}

Ref<Error> make_error(NS::ErrorDomain domain, NS::Integer code, std::string_view text) {
  auto user_info = make_ref<Dictionary>();
  user_info->insert(impl<String>(NS::LocalizedDescriptionKey), make_string(text).get());
  auto error = make_ref<Error>();
  fill(*error, domain, code, std::move(user_info));
  return error;
}

}  // namespace pewter::foundation

namespace foundation = pewter::foundation;
using Body = foundation::Error;
using foundation::get;
using foundation::handle;
using foundation::impl;

namespace NS {

ErrorDomain const CocoaErrorDomain = MTLSTR("NSCocoaErrorDomain");
ErrorDomain const POSIXErrorDomain = MTLSTR("NSPOSIXErrorDomain");
ErrorDomain const OSStatusErrorDomain = MTLSTR("NSOSStatusErrorDomain");
ErrorDomain const MachErrorDomain = MTLSTR("NSMachErrorDomain");
ErrorUserInfoKey const UnderlyingErrorKey = MTLSTR("NSUnderlyingError");
ErrorUserInfoKey const LocalizedDescriptionKey = MTLSTR("NSLocalizedDescription");
ErrorUserInfoKey const LocalizedFailureReasonErrorKey = MTLSTR("NSLocalizedFailureReason");
ErrorUserInfoKey const LocalizedRecoverySuggestionErrorKey =
    MTLSTR("NSLocalizedRecoverySuggestion");
ErrorUserInfoKey const LocalizedRecoveryOptionsErrorKey = MTLSTR("NSLocalizedRecoveryOptions");
ErrorUserInfoKey const RecoveryAttempterErrorKey = MTLSTR("NSRecoveryAttempter");
ErrorUserInfoKey const HelpAnchorErrorKey = MTLSTR("NSHelpAnchor");
ErrorUserInfoKey const DebugDescriptionErrorKey = MTLSTR("NSDebugDescription");
ErrorUserInfoKey const LocalizedFailureErrorKey = MTLSTR("NSLocalizedFailure");
ErrorUserInfoKey const StringEncodingErrorKey = MTLSTR("NSStringEncoding");
ErrorUserInfoKey const URLErrorKey = MTLSTR("NSURL");
ErrorUserInfoKey const FilePathErrorKey = MTLSTR("NSFilePath");

}  // namespace NS

NS::Error* NS::Error::error(ErrorDomain domain, Integer code, Dictionary* pDictionary) {
  return alloc()->init(domain, code, pDictionary)->autorelease();
}

NS::Error* NS::Error::alloc() {
  return handle(foundation::make<Body>());
}

NS::Error* NS::Error::init() {
  return init(CocoaErrorDomain, 0, nullptr);
}

NS::Error* NS::Error::init(ErrorDomain domain, Integer code, Dictionary* pDictionary) {
  if (auto* self = impl<Body>(this)) {
    foundation::fill(
        *self, domain, code,
        foundation::Ref<foundation::Dictionary>(impl<foundation::Dictionary>(pDictionary)));
  }
  return this;
}

NS::Integer NS::Error::code() const {
  return get(this, &Body::code);
}

NS::ErrorDomain NS::Error::domain() const {
  return get(this, &Body::domain);
}

NS::Dictionary* NS::Error::userInfo() const {
  return get(this, &Body::user_info);
}

NS::String* NS::Error::localizedDescription() const {
  return get(this, &Body::localized_description);
}

NS::Array* NS::Error::localizedRecoveryOptions() const {
  return handle(
      foundation::entry<foundation::Array>(impl<Body>(this), LocalizedRecoveryOptionsErrorKey));
}

NS::String* NS::Error::localizedRecoverySuggestion() const {
  return handle(
      foundation::entry<foundation::String>(impl<Body>(this), LocalizedRecoverySuggestionErrorKey));
}

NS::String* NS::Error::localizedFailureReason() const {
  return handle(
      foundation::entry<foundation::String>(impl<Body>(this), LocalizedFailureReasonErrorKey));
}
