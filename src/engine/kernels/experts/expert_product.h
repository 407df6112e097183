// Products of each row with the matrices of its experts (choose_experts.h), in f32. A team of
// threads computes one output of an expert. The order of a row's sums is the same for any number of
// rows.
//
// The weights are one or more tensors, each [expert][output][columns], stored one after another.
// The buffer may hold only a part of their rows: the outputs whose weights are in another part are
// computed by the dispatch of that part.
//
// Bindings of group 0: weights (weights.h). Bindings of group 1: 0 x (read), 1 y, 2 ChosenExpert
// for each row and place (read).
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/weights.h"

namespace weft::kernels {

struct ExpertProductSpec {
  enum class Output : std::uint8_t {
    each,    // y[row][place][y_offset + n] = x[row] . w
    summed,  // y[row][n] += the sum over places of weight * (x[row][place] . w)
  };

  WeightFormat format = WeightFormat::f32;
  std::uint32_t experts = 1;
  std::uint32_t used = 1;
  std::uint32_t outputs = 0;  // The outputs of one expert in one tensor.
  std::uint32_t tensors = 1;
  std::uint32_t columns = 0;  // The length and pitch of rows of x; a multiple of 4.
  std::uint32_t part_first = 0, part_rows = 0;
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;
  Output output = Output::each;
};

[[nodiscard]] gpu::PipelineOptions expert_product_pipeline(const ExpertProductSpec& spec,
                                                           const Team& team,
                                                           std::uint32_t workgroup);
[[nodiscard]] gpu::Workgroups expert_product_workgroups(const ExpertProductSpec& spec,
                                                        const Team& team, std::uint32_t workgroup,
                                                        std::uint32_t rows);

}  // namespace weft::kernels
