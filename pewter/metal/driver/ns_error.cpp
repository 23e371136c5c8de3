#include "pewter/metal/driver/ns_error.h"

#include "pewter/metal/foundation/autorelease_pool.h"

namespace MTL {

NS::ErrorDomain const LibraryErrorDomain = MTLSTR("MTLLibraryErrorDomain");
NS::ErrorDomain const CommandBufferErrorDomain = MTLSTR("MTLCommandBufferErrorDomain");
NS::ErrorDomain const BinaryArchiveDomain = MTLSTR("MTLBinaryArchiveDomain");
NS::ErrorDomain const CaptureErrorDomain = MTLSTR("MTLCaptureErrorDomain");
NS::ErrorDomain const CounterErrorDomain = MTLSTR("MTLCounterErrorDomain");
NS::ErrorUserInfoKey const CommandBufferEncoderInfoErrorKey =
    MTLSTR("MTLCommandBufferEncoderInfoErrorKey");

}  // namespace MTL

namespace pewter::driver {

using foundation::Error;
using foundation::make_error;
using foundation::Ref;

Ref<Error> library_error(MTL::LibraryError code, std::string_view text) {
  return make_error(MTL::LibraryErrorDomain, static_cast<NS::Integer>(code), text);
}

Ref<Error> command_buffer_error(MTL::CommandBufferError code, std::string_view text) {
  return make_error(MTL::CommandBufferErrorDomain, static_cast<NS::Integer>(code), text);
}

Ref<Error> binary_archive_error(MTL::BinaryArchiveError code, std::string_view text) {
  return make_error(MTL::BinaryArchiveDomain, static_cast<NS::Integer>(code), text);
}

Ref<Error> capture_error(MTL::CaptureError code, std::string_view text) {
  return make_error(MTL::CaptureErrorDomain, code, text);
}

Ref<Error> counter_error(MTL::CounterSampleBufferError code, std::string_view text) {
  return make_error(MTL::CounterErrorDomain, code, text);
}

Ref<Error> log_state_error(MTL::LogStateError code, std::string_view text) {
  return make_error(MTL::LogStateErrorDomain, static_cast<NS::Integer>(code), text);
}

Ref<Error> compile_error(const compiler::CompileFailure& failure) {
  return library_error(MTL::LibraryErrorCompileFailure, failure.text());
}

Ref<Error> compile_warnings(const std::vector<compiler::Diagnostic>& warnings) {
  if (warnings.empty()) {
    return nullptr;
  }
  return library_error(MTL::LibraryErrorCompileWarning, compiler::CompileFailure{warnings}.text());
}

void report(NS::Error** place, Ref<Error> error) {
  if (place != nullptr) {
    *place = foundation::autoreleased(std::move(error));
  }
}

}  // namespace pewter::driver
