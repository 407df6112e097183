// The GPU's noise is that of the CPU: hashes have the same bits, and logarithms differ by some
// units in the last place.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/kernels/sampling/gumbel.wgsl.h"
#include "engine/kernels/shader.h"
#include "engine/kernels/test_device.h"
#include "engine/llm/sampler.h"

namespace weft::kernels {
namespace {

class GumbelTest : public test::KernelTest {};

TEST_F(GumbelTest, IsTheSameOnBothSides) {
  constexpr std::uint32_t count = 1u << 20;
  constexpr std::uint64_t seed = 0x9e3779b97f4a7c15;
  constexpr std::uint32_t position = 77;
  ShaderText text;
  text.constant("SEED_LOW", static_cast<std::uint32_t>(seed))
      .constant("SEED_HIGH", static_cast<std::uint32_t>(seed >> 32))
      .constant("POSITION", position)
      .part(wgsl::gumbel_wgsl)
      .part(
          "@group(0) @binding(0) var<storage, read_write> out: array<f32>;\n"
          "@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
          "  out[id.x] = gumbel(SEED_LOW, SEED_HIGH, POSITION, id.x);\n"
          "}");
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.groups = {{{0, gpu::BindingKind::storage}}};
  const gpu::Pipeline pipeline = compile(options);
  const gpu::Buffer out = upload(std::vector<float>(count));
  const gpu::BindGroup group = device().create_bind_group(pipeline, 0, {{0, out}});

  run(pipeline, {&group}, {.x = count / 256, .y = 1, .z = 1});

  const auto got = download<float>(out, count);
  float worst = 0;
  for (std::uint32_t token = 0; token < count; ++token) {
    const float expected = llm::gumbel(seed, position, static_cast<llm::Token>(token));
    // The error bound: an error of two units in the inner logarithm is an error of 2.4e-7 of the
    // exponential. The outer logarithm turns it into an absolute error, and adds two units of its
    // own. Noise near 0 has the same absolute error.
    const float error = std::abs(got[token] - expected) / std::max(1.0f, std::abs(expected));
    worst = std::max(worst, error);
  }
  // SwiftShader's logarithm is much less exact, but its draws still have the right probabilities.
  const bool coarse = device().adapter().device.contains("SwiftShader");
  EXPECT_LE(worst, coarse ? 1e-3f : 5e-7f);
}

}  // namespace
}  // namespace weft::kernels
