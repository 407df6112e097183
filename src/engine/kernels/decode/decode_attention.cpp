#include "engine/kernels/decode/decode_attention.h"

#include <cmath>

#include "engine/kernels/decode/decode_attention.wgsl.h"
#include "engine/kernels/decode/merge_shares.wgsl.h"
#include "engine/kernels/decode/quantize.wgsl.h"

namespace weft::kernels {

bool decode_attention_possible(const gpu::Device& device, const DecodeAttentionSpec& spec, const Team& team, std::uint32_t workgroup) {
  const std::uint32_t dim = spec.rotary.cache.head_dim, group = spec.rotary.heads / spec.rotary.cache.kv_heads;
  if (dim % 32 != 0 || workgroup < dim / 4 || group > workgroup) return false;
  const std::uint64_t bytes = std::uint64_t{group} * dim * 4 + dim * 8 + (group * 4 + 1) * 4 + std::uint64_t{group} * workgroup * 4 +
                              std::uint64_t{workgroup} * 16 + 16 + (team.subgroups ? 0 : workgroup * 4);
  return bytes <= device.limits().workgroup_storage_bytes_max;
}

std::uint64_t decode_shares_bytes(const DecodeAttentionSpec& spec, std::uint32_t rows) {
  return std::uint64_t{rows} * spec.rotary.heads * spec.splits * (spec.rotary.cache.head_dim / 4 + 1) * 16;
}

gpu::PipelineOptions decode_attention_pipeline(const DecodeAttentionSpec& spec, const Team& team, std::uint32_t workgroup) {
  const RotarySpec& rotary = spec.rotary;
  ShaderText text;
  text.constant("HEADS", rotary.heads)
      .constant("Q_STRIDE", rotary.q_stride)
      .constant("PITCH", rotary.pitch)
      .constant("K_OFFSET", rotary.k_offset)
      .constant("V_OFFSET", rotary.v_offset)
      .constant("PAIRS", rotary.pairs)
      .flag("HALVES", rotary.halves)
      .flag("NORM", rotary.norm)
      .constant("EPSILON", rotary.epsilon)
      .constant("SCALE", 1 / std::sqrt(static_cast<float>(rotary.cache.head_dim)))
      .constant("SPLITS", spec.splits)
      .team(team, workgroup);
  rotary.cache.describe(text, true);
  text.part(wgsl::decode_attention_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "decode_attention";
  using enum gpu::BindingKind;
  options.groups = {{{0, storage_read}, {1, storage_read}, {2, storage_read}, {3, storage_read}, {4, storage}, {5, storage}, {6, storage}}};
  return options;
}

gpu::Workgroups decode_attention_workgroups(const DecodeAttentionSpec& spec, std::uint32_t rows) {
  return {.x = spec.rotary.cache.kv_heads, .y = spec.splits, .z = rows};
}

gpu::PipelineOptions merge_shares_pipeline(const DecodeAttentionSpec& spec) {
  ShaderText text;
  text.constant("HEADS", spec.rotary.heads)
      .constant("DIM", spec.rotary.cache.head_dim)
      .constant("SPLITS", spec.splits)
      .constant("PITCH", spec.rotary.pitch)
      .constant("Q_STRIDE", spec.rotary.q_stride)
      .flag("GATED", spec.gated)
      .part(wgsl::quantize_wgsl)
      .part(wgsl::merge_shares_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "merge_shares";
  using enum gpu::BindingKind;
  options.groups = {{{0, storage_read}, {1, storage_read}, {2, storage}, {3, storage}}};
  return options;
}

gpu::Workgroups merge_shares_workgroups(const DecodeAttentionSpec& spec, std::uint32_t rows) {
  return {.x = (spec.rotary.heads * spec.rotary.cache.head_dim / 4 + 63) / 64, .y = rows, .z = 1};
}

}  // namespace weft::kernels
