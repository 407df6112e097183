#include "engine/kernels/matmul_i8.h"

#include <cstring>
#include <string>

#include "common/base/check.h"
#include "engine/kernels/dot4_packed.wgsl.h"
#include "engine/kernels/dot4_plain.wgsl.h"
#include "engine/kernels/matmul_i8.wgsl.h"

namespace weft::kernels {

namespace {

constexpr std::uint32_t tile = MatmulI8::rows_at_once;  // The size of a tile in the shader.

std::uint64_t words(std::uint64_t bytes) { return (bytes + 3) / 4; }

// Packs rows of `columns` bytes: pads each to whole words, and their number to `rows_padded`.
ByteVector pack(ByteSpan bytes, std::uint64_t rows, std::uint64_t columns,
                std::uint64_t rows_padded) {
  check(bytes.size() == rows * columns, "an operand has rows * columns bytes");
  const std::uint64_t pitch = 4 * words(columns);
  ByteVector out(pitch * rows_padded);
  for (std::uint64_t row = 0; row < rows; ++row)
    std::memcpy(out.data() + row * pitch, bytes.data() + row * columns, columns);
  return out;
}

}  // namespace

Async<Result<MatmulI8>> MatmulI8::create(gpu::Device& device, Dot dot) {
  const bool packed = dot == Dot::best && device.has("packed_4x8_integer_dot_product");
  gpu::PipelineOptions options;
  options.wgsl = std::string(packed ? wgsl::dot4_packed_wgsl : wgsl::dot4_plain_wgsl) +
                 std::string(wgsl::matmul_i8_wgsl);
  options.label = "matmul_i8";
  options.groups = {{{0, gpu::BindingKind::uniform},
                     {1, gpu::BindingKind::storage_read},
                     {2, gpu::BindingKind::storage_read},
                     {3, gpu::BindingKind::storage}}};
  WEFT_CO_ASSIGN(gpu::Pipeline pipeline, co_await device.create_pipeline(std::move(options)));
  co_return MatmulI8(std::move(pipeline));
}

std::uint64_t MatmulI8::a_bytes(const MatmulShape& shape) {
  return 4 * words(shape.k) * shape.rows;
}
std::uint64_t MatmulI8::b_bytes(const MatmulShape& shape) {
  return 4 * words(shape.n) * 4 * words(shape.k);
}
std::uint64_t MatmulI8::c_bytes(const MatmulShape& shape) {
  return std::uint64_t{4} * shape.n * shape.rows;
}
ByteVector MatmulI8::pack_a(const MatmulShape& shape, ByteSpan a) {
  return pack(a, shape.rows, shape.k, shape.rows);
}
ByteVector MatmulI8::pack_b(const MatmulShape& shape, ByteSpan b) {
  return pack(b, shape.k, shape.n, 4 * words(shape.k));
}

ByteVector MatmulI8::pack_shape(const MatmulShape& shape) {
  ByteVector out;
  append_le(out, shape.rows);
  append_le(out, shape.n);
  append_le(out, static_cast<std::uint32_t>(words(shape.k)));
  append_le(out, static_cast<std::uint32_t>(words(shape.n)));
  return out;
}

gpu::Workgroups MatmulI8::workgroups(const MatmulShape& shape) {
  return {.x = (shape.n + tile - 1) / tile, .y = (shape.rows + tile - 1) / tile, .z = 1};
}

gpu::BindGroup MatmulI8::bind(gpu::Device& device, const Buffers& buffers) const {
  return device.create_bind_group(
      pipeline_, 0, {{0, buffers.shape}, {1, buffers.a}, {2, buffers.b}, {3, buffers.c}});
}

void MatmulI8::run(gpu::Pass& pass, const gpu::BindGroup& group, const MatmulShape& shape) const {
  pass.run(pipeline_, {&group}, workgroups(shape));
}

}  // namespace weft::kernels
