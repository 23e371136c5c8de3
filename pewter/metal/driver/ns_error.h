#pragma once

#include <Metal/Metal.hpp>
#include <string_view>

#include "pewter/compiler/compiler.h"
#include "pewter/metal/foundation/error.h"

/// The one place where failures become NS::Error, with Metal's domains and codes.
namespace pewter::driver {

foundation::Ref<foundation::Error> library_error(MTL::LibraryError code, std::string_view text);
foundation::Ref<foundation::Error> command_buffer_error(MTL::CommandBufferError code,
                                                        std::string_view text);
foundation::Ref<foundation::Error> binary_archive_error(MTL::BinaryArchiveError code,
                                                        std::string_view text);
foundation::Ref<foundation::Error> capture_error(MTL::CaptureError code, std::string_view text);
foundation::Ref<foundation::Error> counter_error(MTL::CounterSampleBufferError code,
                                                 std::string_view text);
foundation::Ref<foundation::Error> log_state_error(MTL::LogStateError code, std::string_view text);

/// Every diagnostic of a failed compilation, as a terminal shows them.
foundation::Ref<foundation::Error> compile_error(const compiler::CompileFailure& failure);
/// The warnings that come with a library; null when there are none.
foundation::Ref<foundation::Error> compile_warnings(
    const std::vector<compiler::Diagnostic>& warnings);

/// Stores the error, autoreleased, where the caller asked for it; null, for success, clears the
/// place.
void report(NS::Error** place, foundation::Ref<foundation::Error> error);

}  // namespace pewter::driver
