// What is wrong between a shader and its job, as one sentence with its place. A compiler's message
// about a line of the shader has one already; what Dawn (natively and in Chromium) says of entry
// points, overrides and bindings is a paragraph of its own objects' names, which the author of a
// job has never seen.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace weft::exec {

class WgslScan;

// The same error in one line: "LINE:COLUMN: sentence", the place where the binding is declared or
// the entry point stands, without one if there is none. A wording that is not known is kept in
// its first sentence. Only invalid_argument is changed.
[[nodiscard]] Error shader_error(Error error, const WgslScan& shader, std::string_view entry);

}  // namespace weft::exec
