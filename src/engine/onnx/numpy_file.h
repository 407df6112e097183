// numpy's .npy files, versions 1 to 3, row-major and little-endian.
#pragma once

#include "engine/onnx/tensor.h"

namespace weft::onnx {

// Fails with invalid_argument or unsupported (types, Fortran order, big-endian).
[[nodiscard]] Result<Tensor> read_npy(ByteSpan bytes);
[[nodiscard]] ByteVector write_npy(const Tensor& tensor);

}  // namespace weft::onnx
