// Describes a mismatch between a shader and its job in one sentence that names the place in the
// shader. A compiler's message about a line of the shader already has its place. Dawn (natively and
// in Chromium) describes errors of entry points, overrides and bindings in a paragraph that names
// its own objects, which the author of a job does not know.
#pragma once

#include <string_view>

#include "common/base/result.h"

namespace weft::exec {

class WgslScan;

// Returns the error in one line: "LINE:COLUMN: sentence". LINE:COLUMN is the declaration of the
// binding or of the entry point, and is left out if the declaration is not found. If the wording of
// the message is unknown, only its first line is kept. Only errors with the code invalid_argument
// are changed.
[[nodiscard]] Error shader_error(Error error, const WgslScan& shader, std::string_view entry);

}  // namespace weft::exec
