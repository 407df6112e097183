// The parts of a layer as dispatches.
#pragma once

#include "engine/llm/gpu/model_program.h"

namespace weft::llm {

// A matrix product of every row of a pass.
struct Product {
  const gpu::Buffer& x;
  std::uint32_t x_pitch = 0;
  const gpu::Buffer& y;
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;
  bool accumulate = false;
  std::vector<float> bias{};     // One a row of the matrix; empty for none.
  std::uint32_t rows_max = ~0u;  // Rows of a pass; a pass with more is left to another block.
  bool x_halves = false;         // x is f16 for many_rows and more.
};
// From so many rows on, products are those of reading a prompt (engine/kernels/prefill).
inline constexpr std::uint32_t many_rows = 16;
// Biases are kept in `keep`.
[[nodiscard]] Async<Result<>> add_product(BuildContext& context, Program& program,
                                          const GpuMatrix& matrix, Product product,
                                          std::vector<gpu::Buffer>& keep);
// How the kernel for many rows does a part of a product.
[[nodiscard]] kernels::MatmulSpec matmul_spec(const GpuMatrix& matrix, const MatrixPart& part,
                                              const Product& product);
// One product of many rows (passes of rows_min and more), in parts that are summed afterwards where
// the device has work for more of them. `bias` is any buffer without one.
[[nodiscard]] Async<Result<>> add_matmul(BuildContext& context, Program& program,
                                         const MatrixPart& part, kernels::MatmulSpec spec,
                                         const gpu::Buffer& x, const gpu::Buffer& y,
                                         const gpu::Buffer& bias,
                                         std::uint32_t rows_min = many_rows);
// y = rms_norm(x) * weight, or y += that.
[[nodiscard]] Async<Result<>> add_norm(BuildContext& context, Program& program,
                                       const gpu::Buffer& x, const gpu::Buffer& weight,
                                       const gpu::Buffer& y, bool accumulate = false);

// RMS norm of hidden into normed, for the products that follow: f16 from many_rows rows on if
// context.halves is set, else f32.
[[nodiscard]] Async<Result<>> add_norm_for_products(BuildContext& context, Program& program,
                                                    const gpu::Buffer& weight);
// hidden, normed, into RowBuffers::normed as f16, for passes of so many rows and more; so many
// parts of a product's sums are added to hidden before that.
[[nodiscard]] Async<Result<>> add_norm_halves(BuildContext& context, Program& program,
                                              const gpu::Buffer& weight, std::uint32_t rows_min,
                                              std::uint32_t splits = 0);
// Biases of a part's rows, kept in `keep`; any buffer without.
[[nodiscard]] Async<Result<const gpu::Buffer*>> bias_of(BuildContext& context,
                                                        const std::vector<float>& bias,
                                                        const MatrixPart& part,
                                                        std::vector<gpu::Buffer>& keep);

// Where a layer's dispatches go: for any rows, and for one row of each sequence with int8 or f16
// activations (null without).
struct Programs {
  Program& rows;
  Program* single;
};
// Loads a layer and adds it; hidden becomes what the layer makes of it.
[[nodiscard]] Async<Result<>> add_layer(BuildContext& context, const gguf::Source& source,
                                        Programs programs, const Layer& layer, GpuLayer& part);
[[nodiscard]] Async<Result<>> add_attention(BuildContext& context, const gguf::Source& source,
                                            Programs programs, const Attention& weights,
                                            GpuLayer& part);
[[nodiscard]] Async<Result<>> add_delta_net(BuildContext& context, Programs programs,
                                            const DeltaNet& weights, GpuLayer& part);
// Norm, choice of experts and what they give, onto hidden: in f32, the same kernels for any rows.
[[nodiscard]] Async<Result<>> load_experts(BuildContext& context, const Experts& weights,
                                           GpuLayer& part);
[[nodiscard]] Async<Result<>> add_experts(BuildContext& context, Program& program, GpuLayer& part);
// The mixer's output matrix: mixed, onto hidden.
[[nodiscard]] Async<Result<>> add_output(BuildContext& context, Program& program, GpuLayer& part,
                                         bool mixed_halves = false);
// Behind the first norm.
[[nodiscard]] Async<Result<>> add_projections(BuildContext& context, Program& program,
                                              GpuLayer& part);

}  // namespace weft::llm
