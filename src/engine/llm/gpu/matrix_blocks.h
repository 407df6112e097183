// The parts of a layer as dispatches for one row of each sequence, with f16 matrices
// (Activations::f16): products by subgroup matrices, with rows in f16 between them. However many
// rows are in a pass, a row's sums are of the same parts in the same order.
#pragma once

#include "engine/kernels/decode/decode_attention.h"
#include "engine/llm/gpu/blocks.h"

namespace weft::llm {

// Whether the device and the model's shape have such products; else the engine is one of int8.
[[nodiscard]] bool matrix_blocks_possible(const gpu::Device& device, const Config& config);

// hidden, normed, to projected.
[[nodiscard]] Async<Result<>> add_matrix_projections(BuildContext& context, Program& program,
                                                     GpuLayer& part);

[[nodiscard]] bool matrix_attention_possible(const BuildContext& context,
                                             const kernels::DecodeAttentionSpec& spec);
// projected, through the cache and the output matrix, onto hidden.
[[nodiscard]] Async<Result<>> add_matrix_attention(BuildContext& context, Program& program,
                                                   kernels::DecodeAttentionSpec spec,
                                                   GpuLayer& part);
// mixed, in f32 or in f16, through the output matrix, onto hidden.
[[nodiscard]] Async<Result<>> add_matrix_output(BuildContext& context, Program& program,
                                                GpuLayer& part, bool mixed_halves);

[[nodiscard]] Async<Result<>> add_matrix_feed_forward(BuildContext& context, Program& program,
                                                      GpuLayer& part);

// Behind the last layer: hidden is complete.
[[nodiscard]] Async<Result<>> finish_matrix_layers(BuildContext& context, Program& program);

// hidden to logits.
[[nodiscard]] Async<Result<>> add_matrix_head(BuildContext& context, Program& program,
                                              const gpu::Buffer& norm, const GpuMatrix& matrix);

}  // namespace weft::llm
