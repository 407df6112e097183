// Converts every weight format to f32. GPU kernels are compared with it, and the CPU engine
// computes with it. The results equal those of ggml's reference bit for bit.
#pragma once

#include <span>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "engine/gguf/tensor_type.h"

namespace weft::gguf {

// True for F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K to Q6_K, IQ4_NL and MXFP4.
[[nodiscard]] bool can_dequantize(TensorType type);

// Converts whole blocks: blocks.size() * block_elements == out.size() * block_bytes. Fails with
// unsupported for other formats, and with invalid_argument for other sizes.
[[nodiscard]] Result<> dequantize(TensorType type, ByteSpan blocks, std::span<float> out);

}  // namespace weft::gguf
