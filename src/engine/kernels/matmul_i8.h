// An integer matrix product on the GPU: C[rows][n] = A[rows][k] * B[k][n], int8 operands, int32
// result, exact on every device as long as k <= 131071 (the manifest's bound).
//
//   WEFT_CO_ASSIGN(const MatmulI8 matmul, co_await MatmulI8::create(device));
//   const Buffer a = ... of a_bytes(shape), filled with pack_a(shape, operand)
//   matmul.run(pass, shape, group)     one dispatch
#pragma once

#include <cstdint>

#include "common/base/async.h"
#include "common/base/bytes.h"
#include "engine/gpu/device.h"
#include "engine/kernels/reference/matmul_i8.h"

namespace weft::kernels {

class MatmulI8 {
 public:
  // `plain` does without dot4I8Packed even if the device has it (for tests).
  enum class Dot : std::uint8_t { best, plain };
  [[nodiscard]] static Async<Result<MatmulI8>> create(gpu::Device& device, Dot dot = Dot::best);

  // The rows of C that one workgroup computes. A dispatch of fewer rows takes as long as one of 64
  // rows.
  static constexpr std::uint32_t rows_at_once = 64;

  // The bytes of the operands on the device. Rows are padded with zeros to whole words, and B also
  // to a multiple of four rows.
  [[nodiscard]] static std::uint64_t a_bytes(const MatmulShape& shape);
  [[nodiscard]] static std::uint64_t b_bytes(const MatmulShape& shape);
  [[nodiscard]] static std::uint64_t c_bytes(const MatmulShape& shape);
  [[nodiscard]] static ByteVector pack_a(const MatmulShape& shape, ByteSpan a);
  [[nodiscard]] static ByteVector pack_b(const MatmulShape& shape, ByteSpan b);
  // The content of the uniform at binding 0.
  [[nodiscard]] static ByteVector pack_shape(const MatmulShape& shape);
  [[nodiscard]] static gpu::Workgroups workgroups(const MatmulShape& shape);

  struct Buffers {
    const gpu::Buffer& shape;  // The uniform buffer with pack_shape()'s bytes.
    const gpu::Buffer& a;
    const gpu::Buffer& b;
    const gpu::Buffer& c;
  };
  [[nodiscard]] gpu::BindGroup bind(gpu::Device& device, const Buffers& buffers) const;
  void run(gpu::Pass& pass, const gpu::BindGroup& group, const MatmulShape& shape) const;

 private:
  explicit MatmulI8(gpu::Pipeline pipeline) : pipeline_(std::move(pipeline)) {}
  gpu::Pipeline pipeline_;
};

}  // namespace weft::kernels
