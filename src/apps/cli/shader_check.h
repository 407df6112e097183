// The coordinator's shader checker: compiles in a sandboxed child of this program, so that the service tower needs no GPU.
#pragma once

#include "apps/coordinator/submission.h"

namespace weft::cli {

// Empty where this machine has no device to compile for; workers then report what does not compile. The child is started
// at the first check and again when it was lost; checks take turns.
[[nodiscard]] coordinator::ShaderChecker make_shader_checker();

}  // namespace weft::cli
