#include "engine/kernels/prefill/flash_attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "common/base/check.h"
#include "common/base/format.h"
#include "engine/kernels/prefill/flash_attention.wgsl.h"
#include "engine/kernels/prefill/flash_attention_matrices.wgsl.h"
#include "engine/kernels/prefill/matrices.h"
#include "engine/kernels/prefill/written_out.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {
namespace {

std::string matrices_text(const AttentionSpec& spec, const FlashTuning& tuning) {
  const std::uint32_t outputs = spec.cache.head_dim / tuning.matrix_n,
                      across = tuning.tile_positions / tuning.matrix_n;
  std::string declare, scores, shrink, gather, finish;
  for (std::uint32_t j = 0; j < outputs; ++j) declare += weft::format("  var o{} = Sum();\n", j);
  for (std::uint32_t j = 0; j < across; ++j) scores += weft::format("      var s{} = Sum();\n", j);
  for (std::uint32_t k = 0; k < spec.cache.head_dim; k += tuning.matrix_k) {
    scores += weft::format(
        "      let q{} = subgroupMatrixLoad<Left, row_major>(&query, q_from + {}u, LINE);\n", k,
        k / 8);
    for (std::uint32_t j = 0; j < across; ++j)
      scores += weft::format(
          "      s{0} = subgroupMatrixMultiplyAccumulate(q{1}, subgroupMatrixLoad<Right, "
          "col_major>(&tile, {2}u * LINE + {3}u, LINE), s{0});\n",
          j, k, j * tuning.matrix_n, k / 8);
  }
  for (std::uint32_t j = 0; j < across; ++j)
    scores += weft::format(
        "      subgroupMatrixStore<row_major>(&scores, scores_from + {}u, s{}, SCORE_LINE);\n",
        j * tuning.matrix_n / 4, j);
  for (std::uint32_t j = 0; j < outputs; ++j) {
    shrink += weft::format(
        "      subgroupMatrixStore<row_major>(&weights, weights_from, o{0}, PATCH_LINE);\n      "
        "workgroupBarrier();\n      "
        "shrink_patch(weights_from, "
        "lane, shrink);\n      workgroupBarrier();\n      o{0} = subgroupMatrixLoad<Sum, "
        "row_major>(&weights, weights_from, PATCH_LINE);\n      "
        "workgroupBarrier();\n",
        j);
    finish += weft::format(
        "  subgroupMatrixStore<row_major>(&weights, weights_from, o{}, PATCH_LINE);\n  "
        "workgroupBarrier();\n  finish_patch(weights_from, lane, "
        "subgroup, head, first_row, rows, {}u);\n  workgroupBarrier();\n",
        j, j * tuning.matrix_n);
  }
  for (std::uint32_t k = 0; k < tuning.tile_positions; k += tuning.matrix_k) {
    gather += weft::format(
        "      let w{} = subgroupMatrixLoad<Left, row_major>(&weights, weights_from + {}u, "
        "WEIGHT_LINE);\n",
        k, k / 8);
    for (std::uint32_t j = 0; j < outputs; ++j)
      gather += weft::format(
          "      o{0} = subgroupMatrixMultiplyAccumulate(w{1}, subgroupMatrixLoad<Right, "
          "row_major>(&tile, {1}u * LINE + {2}u, LINE), o{0});\n",
          j, k, j * tuning.matrix_n / 8);
  }
  // The cells that each thread loads from the cache into the tile.
  const std::uint32_t cells = tuning.tile_positions * spec.cache.head_dim / 8,
                      threads = tuning.threads();
  std::string places, put_keys, put_values, fetch_keys, fetch_values;
  for (std::uint32_t i = 0; i * threads < cells; ++i) {
    places += (i + 1) * threads <= cells
                  ? weft::format("  let e{} = index + {}u;\n", i, i * threads)
                  : weft::format("  let e{} = min(index + {}u, {}u);\n", i, i * threads, cells - 1);
    places += weft::format("  let to{0} = e{0} / CELLS * LINE + e{0} % CELLS;\n", i);
    const auto fetch = [i](std::string_view name) {
      return weft::format(
          "    let {1}_from{0} = kv_row(range.z, kv_head, min(at + e{0} / CELLS, end - 1u)) + e{0} "
          "% CELLS * 2u;\n    let {1}a{0} = {1}_at({1}_from{0});\n    let {1}b{0} = "
          "{1}_at({1}_from{0} + 1u);\n",
          i, name);
    };
    fetch_keys += fetch("key");
    fetch_values += fetch("value");
    put_keys += weft::format("    tile[to{0}] = halves(keya{0}, keyb{0});\n", i);
    put_values += weft::format("    tile[to{0}] = halves(valuea{0}, valueb{0});\n", i);
  }
  std::string text(wgsl::flash_attention_matrices_wgsl);
  replace_mark(text, "//@places\n", places);
  replace_mark(text, "//@put_keys\n", put_keys);
  replace_mark(text, "//@put_values\n", put_values);
  replace_mark(text, "//@fetch_keys\n", fetch_keys);
  replace_mark(text, "//@fetch_values\n", fetch_values);
  replace_mark(text, "//@outputs\n", declare);
  replace_mark(text, "//@scores\n", scores);
  replace_mark(text, "//@shrink\n", shrink);
  replace_mark(text, "//@gather\n", gather);
  replace_mark(text, "//@finish\n", finish);
  return text;
}

// Adds the functions that read keys and values beside the queries instead of from a cache
// (KvCacheSpec::describe).
void describe_rows(ShaderText& text, const AttentionSpec& spec) {
  const AttentionSpec::WholeTexts& at = *spec.whole_texts;
  check(spec.pitch % 4 == 0 && at.k_offset % 4 == 0 && at.v_offset % 4 == 0,
        "keys and values are read four numbers at a time");
  text.constant("KV_HEADS", spec.cache.kv_heads)
      .constant("DIM", spec.cache.head_dim)
      .constant("K_FIRST", at.k_offset / 4)
      .constant("V_FIRST", at.v_offset / 4)
      .part(
          "alias KvCell = vec4f;\n"
          "fn key_at(i: u32) -> vec4f { return keys[K_FIRST + i]; }\n"
          "fn value_at(i: u32) -> vec4f { return values[V_FIRST + i]; }\n"
          "fn kv_row(slot: u32, kv_head: u32, position: u32) -> u32 {\n"
          "  return (slot + position) * (PITCH / 4u) + kv_head * (DIM / 4u);\n"
          "}\n");
}

}  // namespace

std::uint32_t FlashTuning::threads() const {
  return matrix_m == 0 ? tile_rows * row_threads : tile_rows / matrix_m * subgroup_size;
}

std::uint32_t FlashTuning::workgroup_bytes(const AttentionSpec& spec) const {
  if (matrix_m == 0)
    return (tile_rows + tile_positions) * (spec.cache.head_dim / 4 + 1) * 16 +
           tile_rows * (tile_positions + 1) * 4 + 16;
  const std::uint32_t tiles = (tile_rows + tile_positions) * (spec.cache.head_dim / 8 + 1);
  const std::uint32_t scores = tile_rows * (tile_positions / 4 + 1 + tile_positions / 8 + 1);
  return (tiles + scores) * 16 + tile_rows * 4 + tile_rows / matrix_m * 4 + 16 + 16;
}

FlashTuning flash_tuning(const gpu::Device& device, const AttentionSpec& spec, bool exact) {
  const gpu::Limits& limits = device.limits();
  FlashTuning tuning;
  const auto fits = [&] {
    return tuning.workgroup_bytes(spec) <= limits.workgroup_storage_bytes_max &&
           tuning.threads() <= limits.workgroup_invocations_max &&
           tuning.threads() <= limits.workgroup_size_x_max;
  };
  const gpu::SubgroupMatrix* matrix = exact ? nullptr : prefill_matrix(device);
  // Subgroup matrices need head_dim sums of each row of a subgroup in registers.
  if (matrix != nullptr && spec.cache.head_dim % 16 == 0 && spec.cache.head_dim <= 16 * matrix->m &&
      device.adapter().subgroup_size_min / matrix->m <= matrix->n / 4) {
    tuning.matrix_m = matrix->m;
    tuning.matrix_n = matrix->n;
    tuning.matrix_k = matrix->k;
    tuning.subgroup_size = device.adapter().subgroup_size_min;
    for (const std::uint32_t subgroups : {4u, 2u, 1u}) {
      for (const std::uint32_t matrices : {4u, 2u}) {
        if (matrices == 4 && (matrix->m < 16 || spec.cache.head_dim > 64))
          continue;  // With these matrices the kernel would take long to compile.
        tuning.tile_rows = subgroups * matrix->m;
        tuning.tile_positions = matrices * matrix->m;
        if (fits()) return tuning;
      }
    }
  }
  struct Tile {
    std::uint32_t rows, positions, row_threads;
  };
  static constexpr std::array tiles = {Tile{32, 16, 8}, Tile{16, 16, 8}, Tile{16, 8, 8},
                                       Tile{8, 8, 8},   Tile{4, 8, 8},   Tile{4, 4, 4},
                                       Tile{2, 4, 4},   Tile{1, 2, 2}};
  tuning = {};
  for (const Tile& tile : tiles) {
    tuning.tile_rows = tile.rows;
    tuning.tile_positions = tile.positions;
    tuning.row_threads = tile.row_threads;
    if (fits()) break;
  }
  return tuning;
}

std::vector<AttentionTile> attention_tiles(std::span<const Segment> segments,
                                           const FlashTuning& tuning) {
  std::vector<AttentionTile> tiles;
  for (const Segment& segment : segments) {
    for (std::uint32_t row = 0; row < segment.rows; row += tuning.tile_rows)
      tiles.push_back({.first_row = segment.first_row + row,
                       .rows = std::min(tuning.tile_rows, segment.rows - row)});
  }
  return tiles;
}

gpu::PipelineOptions flash_attention_pipeline(const AttentionSpec& spec,
                                              const FlashTuning& tuning) {
  constexpr auto read = gpu::BindingKind::storage_read;
  ShaderText text;
  text.constant("HEADS", spec.heads)
      .constant("Q_STRIDE", spec.q_stride)
      .constant("PITCH", spec.pitch)
      .flag("GATED", spec.gated)
      .constant("ROWS", tuning.tile_rows)
      .constant("POSITIONS", tuning.tile_positions);
  spec.view.describe(text, spec.cache.head_dim);
  text.flag("WHOLE", spec.whole_texts.has_value());
  if (spec.whole_texts) {
    describe_rows(text, spec);
  } else {
    spec.cache.describe(text, false);
  }
  check(!tuning.out_halves || tuning.matrix_m != 0, "f16 in memory is for subgroup matrices");
  if (tuning.matrix_m == 0) {
    text.constant("TEAM", tuning.row_threads).part(wgsl::flash_attention_wgsl);
  } else {
    enable_matrices(text);
    text.constant("MATRIX_M", tuning.matrix_m)
        .constant("MATRIX_N", tuning.matrix_n)
        .constant("MATRIX_K", tuning.matrix_k)
        .constant("SUBGROUP", tuning.subgroup_size)
        .part(tuning.out_halves ? "alias OutCell = vec2u;" : "alias OutCell = vec4f;")
        .part(tuning.out_halves
                  ? "fn out_cell(four: vec4f) -> vec2u { return "
                    "bitcast<vec2u>(vec4<f16>(clamp(four, vec4f(-65504.0), vec4f(65504.0)))); }"
                  : "fn out_cell(four: vec4f) -> vec4f { return four; }")
        .part(matrices_text(spec, tuning));
  }
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "flash_attention";
  options.groups = {
      {{0, read}, {1, read}, {2, read}, {3, read}, {4, gpu::BindingKind::storage}, {5, read}}};
  return options;
}

gpu::Workgroups flash_attention_workgroups(const AttentionSpec& spec, std::uint32_t tiles) {
  return {.x = spec.heads, .y = tiles, .z = 1};
}

}  // namespace weft::kernels
