// Adds the parts of a layer to a program as dispatches.
#pragma once

#include "engine/llm/gpu/model_program.h"

namespace weft::llm {

// A matrix product for every row of a pass.
struct Product {
  const gpu::Buffer& x;
  std::uint32_t x_pitch = 0;
  const gpu::Buffer& y;
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;
  bool accumulate = false;
  std::vector<float> bias{};     // One bias for each row of the matrix, or empty.
  std::uint32_t rows_max = ~0u;  // The most rows of a pass; another product computes larger passes.
  bool x_halves = false;         // True if x is f16 in passes of many_rows rows and more.
};
// The number of rows from which a pass uses the matrix kernels for prompts
// (engine/kernels/prefill).
inline constexpr std::uint32_t many_rows = 16;
// Adds a product for passes of any size up to product.rows_max. Its bias buffers are added to
// `keep`.
[[nodiscard]] Async<Result<>> add_product(BuildContext& context, Program& program,
                                          const GpuMatrix& matrix, Product product,
                                          std::vector<gpu::Buffer>& keep);
// Describes one part of a matrix product for the kernel for many rows.
[[nodiscard]] kernels::MatmulSpec matmul_spec(const GpuMatrix& matrix, const MatrixPart& part,
                                              const Product& product);
// Adds one product for passes of rows_min rows and more. It is computed as partial sums, which a
// second dispatch adds up, if the device has room for more workgroups. `bias` is any buffer if the
// product has no bias.
[[nodiscard]] Async<Result<>> add_matmul(BuildContext& context, Program& program,
                                         const MatrixPart& part, kernels::MatmulSpec spec,
                                         const gpu::Buffer& x, const gpu::Buffer& y,
                                         const gpu::Buffer& bias,
                                         std::uint32_t rows_min = many_rows);
// Adds y = rms_norm(x) * weight, or y += rms_norm(x) * weight with `accumulate`.
[[nodiscard]] Async<Result<>> add_norm(BuildContext& context, Program& program,
                                       const gpu::Buffer& x, const gpu::Buffer& weight,
                                       const gpu::Buffer& y, bool accumulate = false);

// Adds the RMS norm of hidden into normed for the products that follow. The result is f16 in passes
// of many_rows rows and more if context.halves is set, else f32.
[[nodiscard]] Async<Result<>> add_norm_for_products(BuildContext& context, Program& program,
                                                    const gpu::Buffer& weight);
// Adds the RMS norm of hidden into RowBuffers::normed as f16, for passes of rows_min rows and more.
// Before the norm, `splits` partial sums of a product are added to hidden.
[[nodiscard]] Async<Result<>> add_norm_halves(BuildContext& context, Program& program,
                                              const gpu::Buffer& weight, std::uint32_t rows_min,
                                              std::uint32_t splits = 0);
// A buffer with the biases of the part's rows, which is added to `keep`; without biases any buffer.
[[nodiscard]] Async<Result<const gpu::Buffer*>> bias_of(BuildContext& context,
                                                        const std::vector<float>& bias,
                                                        const MatrixPart& part,
                                                        std::vector<gpu::Buffer>& keep);

// The programs that a layer's dispatches are added to: one for any rows, and one for passes with
// one row of each sequence and int8 or f16 activations (null with f32 activations).
struct Programs {
  Program& rows;
  Program* single;
};
// Loads a layer's weights and adds its dispatches, which replace hidden by the layer's output.
[[nodiscard]] Async<Result<>> add_layer(BuildContext& context, const gguf::Source& source,
                                        Programs programs, const Layer& layer, GpuLayer& part);
[[nodiscard]] Async<Result<>> add_attention(BuildContext& context, const gguf::Source& source,
                                            Programs programs, const Attention& weights,
                                            GpuLayer& part);
[[nodiscard]] Async<Result<>> add_delta_net(BuildContext& context, Programs programs,
                                            const DeltaNet& weights, GpuLayer& part);
// The parts of a layer with experts: load_experts() loads the experts' weights. add_experts() adds
// the norm, the choice of experts and the sum of their outputs onto hidden, in f32 and with the
// same kernels for any number of rows.
[[nodiscard]] Async<Result<>> load_experts(BuildContext& context, const Experts& weights,
                                           GpuLayer& part);
[[nodiscard]] Async<Result<>> add_experts(BuildContext& context, Program& program, GpuLayer& part);
// Adds the product of mixed with the mixer's output matrix, onto hidden.
[[nodiscard]] Async<Result<>> add_output(BuildContext& context, Program& program, GpuLayer& part,
                                         bool mixed_halves = false);
// Adds the products of normed with the projections of the layer.
[[nodiscard]] Async<Result<>> add_projections(BuildContext& context, Program& program,
                                              GpuLayer& part);

}  // namespace weft::llm
