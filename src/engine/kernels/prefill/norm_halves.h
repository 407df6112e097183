// rms_norm.h with its result in f16, for products whose x is f16 (MatmulSpec::x_halves). Needs the
// feature shader-f16. Measured by the prefill benchmark and not used by a model yet: prompts are
// read with it when rows stay in f16 between kernels.
//
// Group 0: 0 x (read), 1 weight (read), 2 out (f16). Rows lie one behind another.
#pragma once

#include <cstdint>

#include "engine/gpu/device.h"

namespace weft::kernels {

struct NormHalvesSpec {
  std::uint32_t columns = 0;  // A multiple of 4.
  float epsilon = 0;
};
[[nodiscard]] gpu::PipelineOptions norm_halves_pipeline(const NormHalvesSpec& spec);
[[nodiscard]] gpu::Workgroups norm_halves_workgroups(std::uint32_t rows);

}  // namespace weft::kernels
