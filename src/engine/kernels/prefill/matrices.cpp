#include "engine/kernels/prefill/matrices.h"

#include "engine/gpu/f16_matrix.h"

namespace weft::kernels {

const gpu::SubgroupMatrix* prefill_matrix(const gpu::Device& device) {
  return gpu::f16_matrix(device);
}

void enable_matrices(ShaderText& text) {
  text.enable("f16")
      .enable("subgroups")
      .enable("chromium_experimental_subgroup_matrix")
      .silence("chromium.subgroup_matrix_uniformity")
      .silence("subgroup_uniformity");
}

}  // namespace weft::kernels
