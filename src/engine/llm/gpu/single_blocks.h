// The parts of a layer as dispatches for one row of each sequence, with int8 activations: six for a
// layer with attention. Where a weight is kept in floats, or a shape does not suit the kernels, the
// part is done as for any rows (blocks.h).
#pragma once

#include "engine/kernels/decode/decode_attention.h"
#include "engine/llm/gpu/blocks.h"

namespace weft::llm {

// hidden, normed, to projected.
[[nodiscard]] Async<Result<>> add_single_projections(BuildContext& context, Program& program,
                                                     GpuLayer& part);

[[nodiscard]] bool single_attention_possible(const BuildContext& context,
                                             const kernels::DecodeAttentionSpec& spec,
                                             const GpuLayer& part);
// projected, through the cache and the output matrix, onto hidden.
[[nodiscard]] Async<Result<>> add_single_attention(BuildContext& context, Program& program,
                                                   kernels::DecodeAttentionSpec spec,
                                                   GpuLayer& part);

// mixed (f32), through the output matrix, onto hidden.
[[nodiscard]] Async<Result<>> add_single_output(BuildContext& context, Program& program,
                                                GpuLayer& part);

[[nodiscard]] bool single_feed_forward_possible(const BuildContext& context, const GpuLayer& part);
[[nodiscard]] Async<Result<>> add_single_feed_forward(BuildContext& context, Program& program,
                                                      GpuLayer& part);

// hidden to logits.
[[nodiscard]] Async<Result<>> add_single_head(BuildContext& context, Program& program,
                                              const gpu::Buffer& norm, const GpuMatrix& matrix);

}  // namespace weft::llm
