// Checks shaders for the coordinator by compiling them in a sandboxed child of this program, so
// that the coordinator itself needs no GPU.
#pragma once

#include <functional>

#include "apps/coordinator/ingest/submission.h"

namespace weft::cli {

struct ShaderCheckLimits {
  std::size_t waiting_per_asker = 1;  // Waiting checks of one client or address; 0: no bound.
};
// Compiles a shader in a safe place. Fails with invalid_argument if it does not compile, and with
// unavailable if there is no device; any other error refuses the shader.
using CompileShader =
    std::function<Result<>(const manifest::Manifest& manifest, std::string_view shader)>;
// Remembers shaders that compile, shares running checks, and bounds the waiting ones (CheckTurns).
[[nodiscard]] coordinator::ShaderChecker shader_checker_with(CompileShader compile,
                                                             ShaderCheckLimits limits = {});

// Makes a checker with several children, each started at its first check and again after it was
// lost. A check fails with unavailable if this machine has no device to compile for; software
// devices (lavapipe, SwiftShader) count. A check may take two seconds.
[[nodiscard]] coordinator::ShaderChecker make_shader_checker();

}  // namespace weft::cli
