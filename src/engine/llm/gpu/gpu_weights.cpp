#include "engine/llm/gpu/gpu_weights.h"

#include <algorithm>

#include "common/base/check.h"

namespace weft::llm {
namespace {

using gpu::BufferUsage;

// The piece that is packed on the CPU at a time.
constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;
constexpr auto weight_usage = BufferUsage::storage | BufferUsage::copy_destination;

std::uint64_t aligned(std::uint64_t bytes) {
  return (std::max<std::uint64_t>(bytes, 16) + 15) / 16 * 16;
}

}  // namespace

std::uint32_t matrix_rows(const gguf::Tensor& tensor) {
  return static_cast<std::uint32_t>(tensor.rows());
}
std::uint32_t matrix_columns(const gguf::Tensor& tensor) {
  return static_cast<std::uint32_t>(tensor.dimensions[0]);
}

std::uint64_t GpuMatrix::bytes() const {
  std::uint64_t sum = 0;
  for (const MatrixPart& part : parts) sum += part.quants.size() + part.scales.size();
  return sum;
}

Async<Result<>> WeightLoader::upload_rows(const gguf::Tensor& tensor, std::uint32_t first,
                                          std::uint32_t count, const MatrixPart& part,
                                          std::uint32_t to_row) {
  const kernels::WeightLayout layout{kernels::weight_format(tensor.type), matrix_columns(tensor)};
  const std::uint64_t row_bytes = tensor.row_bytes(), quant_row = layout.quant_row_bytes(),
                      scale_row = layout.scale_row_bytes();
  const auto step = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(piece_bytes / std::max(quant_row, row_bytes), 1, count));
  ByteVector raw, quants(step * quant_row), scales(step * scale_row);
  for (std::uint32_t done = 0; done < count; done += step) {
    const std::uint32_t rows = std::min(step, count - done);
    const std::uint64_t offset = tensor.offset + (std::uint64_t{first} + done) * row_bytes,
                        bytes = rows * row_bytes;
    ByteSpan from;
    if (const auto view = source_.view(offset, bytes)) {
      from = *view;
    } else {
      raw.resize(bytes);
      WEFT_CO_OK(source_.read(offset, raw));
      from = raw;
    }
    const std::span<std::uint8_t> quants_out(quants.data(), rows * quant_row),
        scales_out(scales.data(), rows * scale_row);
    WEFT_CO_OK(kernels::pack_weights(tensor.type, layout.columns, from, quants_out, scales_out));
    const std::uint64_t row = std::uint64_t{to_row} + done;
    WEFT_CO_OK(co_await uploader_.write(part.quants, row * quant_row, quants_out));
    if (scale_row > 0)
      WEFT_CO_OK(co_await uploader_.write(part.scales, row * scale_row, scales_out));
    on_bytes_(bytes);
  }
  co_return Result<>();
}

Async<Result<GpuMatrix>> WeightLoader::matrix(std::vector<Weight> tensors) {
  GpuMatrix out;
  out.format = kernels::weight_format(tensors.front()->type);
  out.columns = matrix_columns(*tensors.front());
  for (const Weight tensor : tensors) {
    check(kernels::weight_format(tensor->type) == out.format &&
              matrix_columns(*tensor) == out.columns,
          "tensors of a matrix are alike");
    out.rows += matrix_rows(*tensor);
  }
  const kernels::WeightLayout layout{out.format, out.columns};
  const std::uint64_t quant_row = layout.quant_row_bytes(), scale_row = layout.scale_row_bytes();
  const std::uint64_t bound =
      std::min(device_.limits().storage_binding_bytes_max, device_.limits().buffer_bytes_max);
  const auto rows_max =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(bound / quant_row, out.rows));
  if (rows_max == 0)
    co_return fail(ErrorCode::resource_exhausted,
                   "A row of the tensor '{}' has {} bytes; the device binds buffers of at most {}.",
                   tensors.front()->name, quant_row, bound);
  for (std::uint32_t first = 0; first < out.rows; first += rows_max) {
    MatrixPart& part = out.parts.emplace_back();
    part.first_row = first;
    part.rows = std::min(rows_max, out.rows - first);
    part.quants = device_.create_buffer({.size = aligned(part.rows * quant_row),
                                         .usage = weight_usage,
                                         .label = tensors.front()->name});
    if (scale_row > 0)
      part.scales = device_.create_buffer(
          {.size = aligned(part.rows * scale_row), .usage = weight_usage, .label = "scales"});
  }
  std::uint32_t row = 0;
  for (const Weight tensor : tensors) {
    const std::uint32_t count = matrix_rows(*tensor);
    for (std::uint32_t done = 0; done < count;) {
      const MatrixPart& part = out.parts[(row + done) / rows_max];
      const std::uint32_t to_row = row + done - part.first_row,
                          now = std::min(count - done, part.rows - to_row);
      WEFT_CO_OK(co_await upload_rows(*tensor, done, now, part, to_row));
      done += now;
    }
    row += count;
  }
  co_return out;
}

Async<Result<std::vector<GpuMatrix>>> WeightLoader::matrices(std::vector<Weight> tensors) {
  std::vector<GpuMatrix> out;
  for (std::size_t begin = 0; begin < tensors.size();) {
    std::size_t end = begin + 1;
    while (end < tensors.size() && kernels::weight_format(tensors[end]->type) ==
                                       kernels::weight_format(tensors[begin]->type))
      ++end;
    std::vector<Weight> alike(tensors.begin() + static_cast<std::ptrdiff_t>(begin),
                              tensors.begin() + static_cast<std::ptrdiff_t>(end));
    WEFT_CO_ASSIGN(GpuMatrix matrix, co_await this->matrix(std::move(alike)));
    out.push_back(std::move(matrix));
    begin = end;
  }
  co_return out;
}

Async<Result<gpu::Buffer>> WeightLoader::vector(const gguf::Tensor& tensor) {
  WEFT_CO_ASSIGN(std::vector<float> values, read_floats(source_, tensor));
  on_bytes_(tensor.bytes);
  co_return co_await vector(std::move(values));
}

Async<Result<gpu::Buffer>> WeightLoader::vector(std::vector<float> values) {
  gpu::Buffer buffer = device_.create_buffer(
      {.size = aligned(values.size() * sizeof(float)), .usage = weight_usage, .label = "vector"});
  WEFT_CO_OK(co_await uploader_.write(buffer, 0, as_bytes(std::span<const float>(values))));
  co_return buffer;
}

}  // namespace weft::llm
