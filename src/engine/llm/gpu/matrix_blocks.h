// Adds the parts of a layer for passes with one row of each sequence, with f16 matrices
// (Activations::f16): products use subgroup matrices, and rows are f16 between the products. The
// sums of a row have the same parts in the same order for any number of rows in a pass.
#pragma once

#include "engine/kernels/decode/decode_attention.h"
#include "engine/llm/gpu/blocks.h"

namespace weft::llm {

// True if the device and the model's shape allow products with subgroup matrices; otherwise the
// engine uses int8.
[[nodiscard]] bool matrix_blocks_possible(const gpu::Device& device, const Config& config);

// Adds the norm of hidden and the projections, into projected.
[[nodiscard]] Async<Result<>> add_matrix_projections(BuildContext& context, Program& program,
                                                     GpuLayer& part);

[[nodiscard]] bool matrix_attention_possible(const BuildContext& context,
                                             const kernels::DecodeAttentionSpec& spec);
// Adds attention from projected over the cache, and the output matrix onto hidden.
[[nodiscard]] Async<Result<>> add_matrix_attention(BuildContext& context, Program& program,
                                                   kernels::DecodeAttentionSpec spec,
                                                   GpuLayer& part);
// Adds the product of mixed, which is f32 or f16, with the output matrix, onto hidden.
[[nodiscard]] Async<Result<>> add_matrix_output(BuildContext& context, Program& program,
                                                GpuLayer& part, bool mixed_halves);

[[nodiscard]] Async<Result<>> add_matrix_feed_forward(BuildContext& context, Program& program,
                                                      GpuLayer& part);

// Completes hidden after the last layer: adds the partial sums that are still pending.
[[nodiscard]] Async<Result<>> finish_matrix_layers(BuildContext& context, Program& program);

// Adds the head: the norm of hidden and the product that gives logits.
[[nodiscard]] Async<Result<>> add_matrix_head(BuildContext& context, Program& program,
                                              const gpu::Buffer& norm, const GpuMatrix& matrix);

}  // namespace weft::llm
