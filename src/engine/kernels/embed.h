// out[row] = scale * the embedding of tokens[row], for the tokens whose rows are in these weights.
//
// Bindings of group 0: weights of tokens [first_token, first_token + weight_rows). Bindings of
// group 1: 0 tokens (read, u32), 1 out, 2 BatchSize.
#pragma once

#include "engine/gpu/device.h"
#include "engine/kernels/weights.h"

namespace weft::kernels {

struct EmbedSpec {
  WeightFormat format = WeightFormat::f32;
  std::uint32_t weight_rows = 0;
  std::uint32_t first_token = 0;
  std::uint32_t columns = 0;  // Must be a multiple of 4.
  float scale = 1;
};
[[nodiscard]] gpu::PipelineOptions embed_pipeline(const EmbedSpec& spec);
[[nodiscard]] gpu::Workgroups embed_workgroups(std::uint32_t rows);

}  // namespace weft::kernels
