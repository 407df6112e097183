// The coordinator's shader checker: compiles in a sandboxed child of this program, so that the
// service tower needs no GPU.
#pragma once

#include <functional>

#include "apps/coordinator/ingest/submission.h"

namespace weft::cli {

struct ShaderCheckLimits {
  std::size_t waiting_per_asker = 1;  // Checks of one client, and of one address; 0: any number.
};
// Compiles a shader somewhere safe. invalid_argument: it does not compile; unavailable: there is
// no device; other errors refuse it.
using CompileShader =
    std::function<Result<>(const manifest::Manifest& manifest, std::string_view shader)>;
// Remembers what compiles, shares checks under way, and gives turns.
[[nodiscard]] coordinator::ShaderChecker shader_checker_with(CompileShader compile,
                                                             ShaderCheckLimits limits = {});

// unavailable if this machine has no device to compile for; software ones (lavapipe,
// SwiftShader) are devices. Several children, each started at its first check and again when it was
// lost; a check has two seconds.
[[nodiscard]] coordinator::ShaderChecker make_shader_checker();

}  // namespace weft::cli
