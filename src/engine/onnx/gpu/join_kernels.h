// Joins several kernels into one dispatch: the first workgroups run the first kernel, the next
// workgroups run the next kernel. The results of the kernels do not change.
#pragma once

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

// Requires that no kernel of `kernels` reads a value that another one writes, and that they write
// to different buffers. Returns nullopt if their texts cannot be joined, because they share
// workgroup memory in different ways or declare different functions under one name.
[[nodiscard]] std::optional<Kernel> join_kernels(std::span<const Kernel* const> kernels);

}  // namespace weft::onnx
