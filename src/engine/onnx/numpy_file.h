// Reads and writes numpy's .npy files: versions 1 to 3, row-major and little-endian.
#pragma once

#include "engine/onnx/tensor.h"

namespace weft::onnx {

// Fails with invalid_argument if the bytes are not an .npy file, and with unsupported for element
// types that Weft does not compute with, Fortran order and big-endian elements.
[[nodiscard]] Result<Tensor> read_npy(ByteSpan bytes);
[[nodiscard]] ByteVector write_npy(const Tensor& tensor);

}  // namespace weft::onnx
