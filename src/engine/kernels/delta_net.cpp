#include "engine/kernels/delta_net.h"

#include <cmath>

#include "engine/kernels/delta_convolve.wgsl.h"
#include "engine/kernels/delta_gated_norm.wgsl.h"
#include "engine/kernels/delta_remember.wgsl.h"
#include "engine/kernels/delta_step.wgsl.h"
#include "engine/kernels/workgroup_sum.wgsl.h"

namespace weft::kernels {
namespace {

constexpr auto read = gpu::BindingKind::storage_read;
constexpr auto write = gpu::BindingKind::storage;
constexpr std::uint32_t workgroup_small = 64;

ShaderText convolution(const ConvolveSpec& spec) {
  ShaderText text;
  text.constant("CHANNELS", spec.channels)
      .constant("TAPS", spec.taps)
      .constant("PITCH", spec.pitch);
  return text;
}

}  // namespace

gpu::PipelineOptions convolve_pipeline(const ConvolveSpec& spec) {
  gpu::PipelineOptions options;
  options.wgsl = convolution(spec).part(wgsl::delta_convolve_wgsl).build();
  options.label = "delta_convolve";
  options.groups = {
      {{0, read}, {1, read}, {2, read}, {3, read}, {4, write}, {5, gpu::BindingKind::uniform}}};
  return options;
}

gpu::Workgroups convolve_workgroups(const ConvolveSpec& spec, std::uint32_t rows) {
  return {.x = (spec.channels + workgroup_small - 1) / workgroup_small, .y = rows, .z = 1};
}

gpu::PipelineOptions remember_pipeline(const ConvolveSpec& spec) {
  gpu::PipelineOptions options;
  options.wgsl = convolution(spec).part(wgsl::delta_remember_wgsl).build();
  options.label = "delta_remember";
  options.groups = {{{0, read}, {1, write}, {2, read}, {3, read}}};
  return options;
}

gpu::Workgroups remember_workgroups(const ConvolveSpec& spec, std::uint32_t segments) {
  return {.x = (spec.channels + workgroup_small - 1) / workgroup_small, .y = segments, .z = 1};
}

gpu::PipelineOptions delta_step_pipeline(const DeltaStepSpec& spec, const Team& team,
                                         std::uint32_t workgroup) {
  ShaderText text;
  text.constant("KEY_HEADS", spec.key_heads)
      .constant("VALUE_HEADS", spec.value_heads)
      .constant("KEY_DIM", spec.key_dim)
      .constant("VALUE_DIM", spec.value_dim)
      .constant("PITCH", spec.pitch)
      .constant("ALPHA", spec.alpha_offset)
      .constant("BETA", spec.beta_offset)
      .constant("EPSILON", spec.epsilon)
      .constant("SCALE", 1 / std::sqrt(static_cast<float>(spec.key_dim)))
      .team(team, workgroup)
      .part(wgsl::delta_step_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "delta_step";
  options.groups = {
      {{0, read}, {1, read}, {2, read}, {3, read}, {4, write}, {5, write}, {6, read}}};
  return options;
}

gpu::Workgroups delta_step_workgroups(const DeltaStepSpec& spec, const Team& team,
                                      std::uint32_t workgroup, std::uint32_t segments) {
  const std::uint32_t teams = workgroup / team.size;
  return {.x = (spec.value_dim + teams - 1) / teams, .y = spec.value_heads, .z = segments};
}

gpu::PipelineOptions gated_norm_pipeline(const GatedNormSpec& spec) {
  ShaderText text;
  text.constant("WORKGROUP", workgroup_small)
      .constant("HEADS", spec.heads)
      .constant("DIM", spec.dim)
      .constant("PITCH", spec.pitch)
      .constant("OFFSET", spec.offset)
      .constant("EPSILON", spec.epsilon)
      .part(wgsl::workgroup_sum_wgsl)
      .part(wgsl::delta_gated_norm_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "delta_gated_norm";
  options.groups = {{{0, read}, {1, read}, {2, read}, {3, write}}};
  return options;
}

gpu::Workgroups gated_norm_workgroups(const GatedNormSpec& spec, std::uint32_t rows) {
  return {.x = spec.heads, .y = rows, .z = 1};
}

}  // namespace weft::kernels
