#include "engine/kernels/decode/decode_attention.h"

#include <algorithm>
#include <bit>

#include "engine/kernels/decode/decode_attention.wgsl.h"
#include "engine/kernels/decode/merge_shares.wgsl.h"
#include "engine/kernels/decode/merged_halves.wgsl.h"
#include "engine/kernels/decode/merged_quants.wgsl.h"
#include "engine/kernels/decode/quantize.wgsl.h"
#include "engine/kernels/decode/shares.wgsl.h"
#include "engine/kernels/decode/team_attention.h"
#include "engine/kernels/decode/turned.wgsl.h"
#include "engine/kernels/decode/whole_attention.wgsl.h"

namespace weft::kernels {

namespace {

// The bytes of workgroup memory if a workgroup computes `heads` heads at once.
std::uint64_t memory(const DecodeAttentionSpec& spec, const Team& team, std::uint32_t workgroup,
                     std::uint32_t heads) {
  const std::uint64_t dim = spec.rotary.cache.head_dim,
                      group = spec.rotary.heads / spec.rotary.cache.kv_heads;
  return group * dim * 4 + dim * 12 + (group * 4 + 1) * 4 + group * workgroup * 5 +
         std::uint64_t{heads} * workgroup * 16 + 64 + (team.subgroups ? 0 : workgroup * 4);
}
std::uint32_t heads_at_once(const DecodeAttentionSpec& spec, const Team& team,
                            std::uint32_t workgroup, std::uint64_t bytes_max) {
  std::uint32_t heads = std::min(4u, spec.rotary.heads / spec.rotary.cache.kv_heads);
  while (heads > 1 && memory(spec, team, workgroup, heads) > bytes_max) --heads;
  return heads;
}
// The least workgroup memory of any WebGPU device.
constexpr std::uint64_t memory_everywhere = 16384;

TeamAttentionShape team_shape(const DecodeAttentionSpec& spec, const Team& team) {
  return {.group = spec.rotary.heads / spec.rotary.cache.kv_heads,
          .dim = spec.rotary.cache.head_dim,
          .team = team.size};
}
bool by_teams(const DecodeAttentionSpec& spec, const Team& team) {
  return spec.by_teams && team.subgroups && team_attention_possible(team_shape(spec, team));
}

}  // namespace

bool decode_attention_possible(const gpu::Device& device, const DecodeAttentionSpec& spec,
                               const Team& team, std::uint32_t workgroup) {
  const std::uint32_t dim = spec.rotary.cache.head_dim,
                      group = spec.rotary.heads / spec.rotary.cache.kv_heads;
  return dim % 32 == 0 && workgroup >= dim / 4 && group <= workgroup &&
         memory(spec, team, workgroup, 1) <= device.limits().workgroup_storage_bytes_max;
}

std::uint64_t decode_shares_bytes(const DecodeAttentionSpec& spec, std::uint32_t rows) {
  return std::uint64_t{rows} * spec.rotary.heads * (spec.splits + 1) *
         (spec.rotary.cache.head_dim / 4 + 1) * 16;
}

namespace {

ShaderText describe(const DecodeAttentionSpec& spec, const Team& team, std::uint32_t workgroup) {
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
      .flag("GATED", spec.gated)
      .constant("EPSILON", rotary.epsilon)
      .constant("SPLIT_FROM", spec.split_from)
      .team(team, workgroup);
  spec.view.describe(text, rotary.cache.head_dim);
  rotary.cache.describe(text, true);
  text.part(wgsl::turned_wgsl);
  return text;
}

}  // namespace

gpu::PipelineOptions decode_attention_pipeline(const DecodeAttentionSpec& spec, const Team& team,
                                               std::uint32_t workgroup) {
  ShaderText text = describe(spec, team, workgroup);
  text.constant("SPLITS", spec.splits)
      .constant("SHARE_MIN", spec.share_min)
      .constant("HEADS_AT_ONCE", heads_at_once(spec, team, workgroup, memory_everywhere))
      .part(wgsl::shares_wgsl)
      .part(by_teams(spec, team) ? team_attention_text(team_shape(spec, team))
                                 : std::string(wgsl::decode_attention_wgsl));
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "decode_attention";
  using enum gpu::BindingKind;
  options.groups = {{{0, storage_read},
                     {1, storage_read},
                     {2, storage_read},
                     {3, storage_read},
                     {4, storage},
                     {5, storage},
                     {6, storage}}};
  return options;
}

bool whole_attention_possible(const gpu::Device& device, const DecodeAttentionSpec& spec,
                              const Team& team, std::uint32_t workgroup) {
  const std::uint32_t dim = spec.rotary.cache.head_dim;
  const std::uint64_t bytes =
      dim * 16 + 8 + std::uint64_t{workgroup} * 20 + (team.subgroups ? 0 : workgroup * 4);
  return dim % 32 == 0 && std::has_single_bit(dim) && workgroup >= 2 * team.size &&
         workgroup >= dim / 2 && bytes <= device.limits().workgroup_storage_bytes_max;
}

gpu::PipelineOptions whole_attention_pipeline(const DecodeAttentionSpec& spec, const Team& team,
                                              std::uint32_t workgroup) {
  ShaderText text = describe(spec, team, workgroup);
  text.part(wgsl::quantize_wgsl).part(wgsl::whole_attention_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "whole_attention";
  using enum gpu::BindingKind;
  options.groups = {{{0, storage_read},
                     {1, storage_read},
                     {2, storage_read},
                     {3, storage_read},
                     {4, storage},
                     {5, storage},
                     {6, storage},
                     {7, storage}}};
  return options;
}

gpu::Workgroups whole_attention_workgroups(const DecodeAttentionSpec& spec, std::uint32_t rows) {
  return {.x = spec.rotary.heads, .y = rows, .z = 1};
}

gpu::Workgroups decode_attention_workgroups(const DecodeAttentionSpec& spec, const Team& team,
                                            std::uint32_t workgroup, std::uint32_t rows,
                                            std::uint32_t positions) {
  // The number of workgroups that keeps every part of a GPU busy several times over; with more
  // shares, a workgroup computes several.
  constexpr std::uint32_t enough = 4096;
  const std::uint32_t bound =
      positions == 0 ? spec.splits
                     : std::clamp((positions - 1) / spec.share_min + 1, 1u, spec.splits);
  const std::uint32_t each = spec.rotary.cache.kv_heads * rows,
                      teams = by_teams(spec, team) ? workgroup / team.size : 1,
                      most = teams == 1 ? bound + 1 : (bound + teams - 1) / teams;
  return {.x = spec.rotary.cache.kv_heads,
          .y = std::clamp((enough + each - 1) / each, 1u, most),
          .z = rows};
}

gpu::PipelineOptions merge_shares_pipeline(const DecodeAttentionSpec& spec) {
  ShaderText text;
  text.constant("HEADS", spec.rotary.heads)
      .constant("DIM", spec.rotary.cache.head_dim)
      .constant("SPLITS", spec.splits)
      .constant("SHARE_MIN", spec.share_min)
      .constant("SPLIT_FROM", spec.split_from)
      .constant("PITCH", spec.rotary.pitch)
      .constant("Q_STRIDE", spec.rotary.q_stride)
      .flag("GATED", spec.gated);
  spec.view.describe(text, spec.rotary.cache.head_dim);
  text.part(wgsl::shares_wgsl);
  if (spec.merged_halves)
    text.enable("f16").part(wgsl::merged_halves_wgsl);
  else
    text.part(wgsl::quantize_wgsl).part(wgsl::merged_quants_wgsl);
  text.part(wgsl::merge_shares_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "merge_shares";
  using enum gpu::BindingKind;
  options.groups = {{{0, storage_read}, {1, storage_read}, {2, storage}, {4, storage_read}}};
  if (!spec.merged_halves) options.groups[0].push_back({3, storage});
  return options;
}

gpu::Workgroups merge_shares_workgroups(const DecodeAttentionSpec& spec, std::uint32_t rows) {
  return {.x = (spec.rotary.heads * spec.rotary.cache.head_dim / 4 + 63) / 64, .y = rows, .z = 1};
}

}  // namespace weft::kernels
