// Several kernels as one dispatch: the first workgroups run the first kernel, those after them the
// next. What each computes stays as it is.
#pragma once

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

// `kernels` read nothing that one of them writes, and write to different buffers. nullopt if their
// texts do not go together: they share memory of a workgroup in different ways, or declare
// different functions under one name.
[[nodiscard]] std::optional<Kernel> join_kernels(std::span<const Kernel* const> kernels);

}  // namespace weft::onnx
