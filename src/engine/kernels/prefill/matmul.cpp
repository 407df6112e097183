#include "engine/kernels/prefill/matmul.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/format.h"
#include "engine/kernels/matvec.h"
#include "engine/kernels/prefill/halves.wgsl.h"
#include "engine/kernels/prefill/halves_q4.wgsl.h"
#include "engine/kernels/prefill/halves_q4k.wgsl.h"
#include "engine/kernels/prefill/halves_q6k.wgsl.h"
#include "engine/kernels/prefill/halves_q8.wgsl.h"
#include "engine/kernels/prefill/matmul_inputs.wgsl.h"
#include "engine/kernels/prefill/matmul_out_fours.wgsl.h"
#include "engine/kernels/prefill/matmul_out_halves.wgsl.h"
#include "engine/kernels/prefill/matmul_out_ones.wgsl.h"
#include "engine/kernels/prefill/matmul_sum.wgsl.h"
#include "engine/kernels/prefill/matmul_text.h"
#include "engine/kernels/prefill/matmul_tiles.wgsl.h"
#include "engine/kernels/prefill/matrices.h"

namespace weft::kernels {
namespace {

constexpr auto read = gpu::BindingKind::storage_read;
constexpr auto write = gpu::BindingKind::storage;
constexpr auto uniform = gpu::BindingKind::uniform;

std::uint32_t over(std::uint32_t count, std::uint32_t each) { return (count + each - 1) / each; }

std::uint32_t kinds(const MatmulSpec& spec) { return spec.output == MatmulOutput::swiglu ? 2 : 1; }
// The number of outputs across a workgroup's tile.
std::uint32_t tile_outputs(const MatmulSpec& spec, const MatmulTuning& tuning) {
  return tuning.matrix_m == 0 ? 64 : tuning.tile_columns / kinds(spec);
}
// The columns of a split: whole tiles, so that only the end of x is not a whole tile.
std::uint32_t split_columns(const MatmulSpec& spec, const MatmulTuning& tuning) {
  return over(over(spec.columns, tuning.tile_depth), tuning.splits) * tuning.tile_depth;
}

// Describes where outputs are written. Partial sums are written without gaps, without a bias, and
// without the earlier content of y.
void describe_out(ShaderText& text, const MatmulSpec& spec, std::uint32_t group, bool partial) {
  const std::uint32_t pitch = partial ? spec.outputs() : spec.y_pitch,
                      offset = partial ? 0 : spec.y_offset;
  const bool fours = pitch % 4 == 0 && offset % 4 == 0 && spec.outputs() % 4 == 0;
  text.constant("OUT_GROUP", group)
      .constant("OUTPUTS", spec.outputs())
      .constant("Y_PITCH", pitch)
      .constant("Y_OFFSET", offset)
      .flag("BIAS", spec.bias && !partial)
      .flag("ACCUMULATE", spec.output == MatmulOutput::accumulate && !partial)
      .part(spec.y_halves && !partial ? wgsl::matmul_out_halves_wgsl
            : fours                   ? wgsl::matmul_out_fours_wgsl
                                      : wgsl::matmul_out_ones_wgsl);
  check(!spec.y_halves || (fours && spec.output != MatmulOutput::accumulate),
        "f16 is written four numbers at a time, and not added to");
}

std::string_view halves_wgsl(WeightFormat format) {
  switch (format) {
    case WeightFormat::q8:
      return wgsl::halves_q8_wgsl;
    case WeightFormat::q4:
      return wgsl::halves_q4_wgsl;
    case WeightFormat::q4k:
      return wgsl::halves_q4k_wgsl;
    case WeightFormat::q6k:
      return wgsl::halves_q6k_wgsl;
    default:
      return wgsl::halves_wgsl;
  }
}

}  // namespace

std::uint32_t MatmulTuning::threads() const {
  return matrix_m == 0
             ? 256
             : tile_rows / subgroup_rows * (tile_columns / subgroup_columns) * subgroup_size;
}

std::uint32_t MatmulTuning::workgroup_bytes() const {
  if (matrix_m == 0) return (tile_rows + tile_columns) * (tile_depth / 4 + 1) * 16;
  // Each subgroup needs memory for two matrices of sums, because a gated output is made of two
  // sums.
  const std::uint32_t patches = threads() / subgroup_size * matrix_m * matrix_n * 4 * 2;
  return std::max((tile_rows + tile_columns) * (tile_depth / 8 + 1) * 16, patches);
}

gpu::PipelineOptions matmul_pipeline(const MatmulSpec& spec, const MatmulTuning& tuning) {
  check(spec.columns % 32 == 0 && spec.x_pitch % (spec.x_halves ? 8 : 4) == 0,
        "x is read in whole blocks of 32");
  check((!spec.x_halves && !spec.y_halves) || tuning.matrix_m != 0,
        "f16 in memory is for subgroup matrices");
  check(spec.output != MatmulOutput::swiglu ||
            (spec.weight_rows % 2 == 0 && !spec.bias && tuning.splits == 1),
        "gates and ups come in pairs, without a bias, in one sum");
  check((tuning.splits - 1) * split_columns(spec, tuning) < spec.columns,
        "every split has a part of x");
  const bool matrices = tuning.matrix_m != 0;
  check(!matrices || (tuning.tile_rows % tuning.subgroup_rows == 0 &&
                      tuning.tile_columns % tuning.subgroup_columns == 0 &&
                      tuning.subgroup_rows % tuning.matrix_m == 0 &&
                      tuning.subgroup_columns % (kinds(spec) * tuning.matrix_n) == 0 &&
                      tuning.tile_depth % std::max(16u, tuning.matrix_k) == 0),
        "tiles are made of whole matrices, of gates and of ups");
  ShaderText text;
  text.constant("COLUMNS", spec.columns)
      .constant("LANES", spec.columns / 16)
      .constant("X_PITCH", spec.x_pitch / (spec.x_halves ? 8 : 4))
      .constant("TILE_ROWS", tuning.tile_rows)
      .constant("DEPTH", tuning.tile_depth)
      .constant("SPLIT_COLUMNS", split_columns(spec, tuning))
      .flag("SWIGLU", spec.output == MatmulOutput::swiglu)
      .part(gate_wgsl(spec.activation))
      .part(weights_wgsl(spec.format))
      .part(spec.x_halves ? "alias XCell = vec4u;" : "alias XCell = vec4f;")
      .part(wgsl::matmul_inputs_wgsl);
  describe_out(text, spec, 1, tuning.splits > 1);
  if (matrices) {
    enable_matrices(text);
    text.constant("MATRIX_M", tuning.matrix_m)
        .constant("MATRIX_N", tuning.matrix_n)
        .constant("MATRIX_K", tuning.matrix_k)
        .constant("SUBGROUP", tuning.subgroup_size)
        .constant("SUBGROUP_ROWS", tuning.subgroup_rows)
        .constant("SUBGROUP_COLUMNS", tuning.subgroup_columns)
        .constant("TILE_COLUMNS", tuning.tile_columns)
        .constant("THREADS", tuning.threads())
        .constant("MEMORY", tuning.workgroup_bytes() / 16)
        .constant("PATCHES", matmul_patches(spec, tuning))
        .part(halves_wgsl(spec.format))
        .part(matmul_matrices_text(spec, tuning));
  } else {
    text.part(wgsl::matmul_tiles_wgsl);
  }
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label =
      weft::format("matmul {} {}x{}", to_string(spec.format), spec.weight_rows, spec.columns);
  options.groups = {weights_layout(), {{0, read}, {1, write}, {2, read}, {3, uniform}}};
  return options;
}

gpu::Workgroups matmul_workgroups(const MatmulSpec& spec, const MatmulTuning& tuning,
                                  std::uint32_t rows) {
  // x counts the tiles of rows, so that consecutive workgroups use the same weights.
  return {.x = over(rows, tuning.tile_rows),
          .y = over(spec.outputs(), tile_outputs(spec, tuning)),
          .z = tuning.splits};
}

std::uint64_t matmul_partial_bytes(const MatmulSpec& spec, const MatmulTuning& tuning,
                                   std::uint32_t rows_max) {
  return std::uint64_t{tuning.splits} * rows_max * spec.outputs() * 4;
}

gpu::PipelineOptions matmul_sum_pipeline(const MatmulSpec& spec, const MatmulTuning& tuning) {
  ShaderText text;
  if (spec.y_halves) text.enable("f16");
  text.constant("SPLITS", tuning.splits).part(wgsl::matmul_sum_wgsl);
  describe_out(text, spec, 0, false);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "matmul_sum";
  options.groups = {{{0, read}, {1, write}, {2, read}, {3, uniform}}};
  return options;
}

gpu::Workgroups matmul_sum_workgroups(const MatmulSpec& spec, std::uint32_t rows) {
  return {.x = over(over(spec.outputs(), 4), 64), .y = rows, .z = 1};
}

}  // namespace weft::kernels
