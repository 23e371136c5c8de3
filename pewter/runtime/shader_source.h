#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pewter::runtime {

/// The text of a header that ships with the runtime for shaders to include, by the name in the
/// include; nothing when there is none.
std::optional<std::string_view> shipped_header(std::string_view name);

/// `source` as the compiler gets it: each include of a shipped header is replaced by its text, each
/// header once, and `#pragma once` is dropped. Line directives keep the positions of the user's
/// own lines.
std::string expand_shader_source(std::string_view source);

}  // namespace pewter::runtime
