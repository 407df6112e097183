// Adds the parts of a layer for passes with one row of each sequence, with int8 activations: six
// dispatches for a layer with attention. A part with float weights, or with a shape that the
// kernels do not support, is computed by the kernels for any rows (blocks.h).
#pragma once

#include "engine/kernels/decode/decode_attention.h"
#include "engine/llm/gpu/blocks.h"

namespace weft::llm {

// Adds the norm of hidden and the projections, into projected.
[[nodiscard]] Async<Result<>> add_single_projections(BuildContext& context, Program& program,
                                                     GpuLayer& part);

[[nodiscard]] bool single_attention_possible(const BuildContext& context,
                                             const kernels::DecodeAttentionSpec& spec,
                                             const GpuLayer& part);
// Adds attention from projected over the cache, and the output matrix onto hidden.
[[nodiscard]] Async<Result<>> add_single_attention(BuildContext& context, Program& program,
                                                   kernels::DecodeAttentionSpec spec,
                                                   GpuLayer& part);

// Adds the product of mixed (f32) with the output matrix, onto hidden.
[[nodiscard]] Async<Result<>> add_single_output(BuildContext& context, Program& program,
                                                GpuLayer& part);

[[nodiscard]] bool single_feed_forward_possible(const BuildContext& context, const GpuLayer& part);
[[nodiscard]] Async<Result<>> add_single_feed_forward(BuildContext& context, Program& program,
                                                      GpuLayer& part);

// Adds the head: the norm of hidden and the product that gives logits.
[[nodiscard]] Async<Result<>> add_single_head(BuildContext& context, Program& program,
                                              const gpu::Buffer& norm, const GpuMatrix& matrix);

}  // namespace weft::llm
