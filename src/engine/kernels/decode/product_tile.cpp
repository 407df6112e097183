#include "engine/kernels/decode/product_tile.h"

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/base/format.h"
#include "engine/kernels/decode/input_norm.wgsl.h"
#include "engine/kernels/decode/input_norm_subgroup.wgsl.h"
#include "engine/kernels/decode/input_normed.wgsl.h"
#include "engine/kernels/decode/input_quantized.wgsl.h"
#include "engine/kernels/decode/int8_wgsl.h"
#include "engine/kernels/decode/lane.wgsl.h"
#include "engine/kernels/decode/norm_rows.wgsl.h"
#include "engine/kernels/decode/product_tile.wgsl.h"
#include "engine/kernels/decode/product_tile_store.wgsl.h"
#include "engine/kernels/decode/product_tile_swiglu.wgsl.h"
#include "engine/kernels/decode/quantize.wgsl.h"
#include "engine/kernels/decode/quantize_subgroup.wgsl.h"
#include "engine/kernels/dot4_plain.wgsl.h"
#include "engine/kernels/matvec.h"

namespace weft::kernels {
namespace {

using Input = Int8ProductSpec::Input;
using Output = Int8ProductSpec::Output;

constexpr std::uint32_t quant_block = 32;

void replace(std::string& text, std::string_view mark, std::string_view with) {
  const std::size_t at = text.find(mark);
  check(at != std::string::npos, "the tile has the lines that are replaced");
  text.replace(at, mark.size(), with);
}

// Statements that add up a team's sums over its lanes in the order of tree_sum(). In each step a
// thread gives half of its sums to the thread that adds them up, so that in the end one thread has
// each sum.
std::string tree(std::vector<std::string> sums, const Team& team, bool shared) {
  std::string out;
  for (std::uint32_t half = team.size / 2, step = 0; half > 0; half /= 2, ++step) {
    std::vector<std::string> next;
    if (sums.size() == 1) {
      next.push_back(weft::format("t{}", step));
      out += weft::format("    let t{} = {} + subgroupShuffleXor({}, {}u);\n", step, sums[0],
                          sums[0], half);
    } else {
      out += weft::format("    let upper{} = (lane & {}u) != 0u;\n", step, half);
      const std::size_t kept = sums.size() / 2;
      for (std::size_t i = 0; i < kept; ++i) {
        const std::string &low = sums[i], &high = sums[i + kept];
        next.push_back(weft::format("t{}_{}", step, i));
        out += weft::format(
            "    let {} = select({}, {}, upper{}) + subgroupShuffleXor(select({}, {}, upper{}), "
            "{}u);\n",
            next.back(), low, high, step, high, low, step, half);
      }
    }
    sums = std::move(next);
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    out += weft::format("    totals[{}] {} {};\n", i, shared ? "+=" : "=", sums[i]);
  return out;
}

std::string tile_text(const Int8ProductSpec& spec, const ProductTile& tile, const Team& team) {
  std::string rows, zeros, lane;
  std::vector<std::string> sums;
  for (std::uint32_t r = 0; r < tile.weights; ++r) {
    rows += weft::format("  let row{} = min(weight_row(block, across, {}u), WEIGHT_ROWS - 1u);\n",
                         r, r);
    lane += weft::format("        let w{} = quant16(row{}, i);\n", r, r);
    lane += weft::format("        let v{} = scale16(row{}, i);\n", r, r);
  }
  for (std::uint32_t b = 0; b < tile.rows; ++b) {
    lane += weft::format("        let q{} = x16({}u, i);\n", b, b);
    lane += weft::format("        let s{} = x_scale({}u, i);\n", b, b);
    for (std::uint32_t r = 0; r < tile.weights; ++r) {
      sums.push_back(weft::format("sum{}_{}", b, r));
      zeros += weft::format("    var {} = 0.0;\n", sums.back());
      lane += weft::format("        {} = add_lane({}, w{}, v{}, q{}, s{});\n", sums.back(),
                           sums.back(), r, r, b, b);
    }
  }
  const std::uint32_t lanes = spec.columns / 16;
  std::string out(wgsl::product_tile_wgsl);
  replace(out, "@ROWS", rows);
  replace(out, "@ZEROS", zeros);
  replace(out, "@INSIDE", lanes % (team.size * spec.share) == 0 ? "true" : "i < LANES");
  replace(out, "@LANE", lane);
  replace(out, "@TREE", tree(std::move(sums), team, spec.share > 1));
  return out;
}

}  // namespace

bool product_tile_possible(const gpu::Device& device, const Int8ProductSpec& spec,
                           const ProductTile& tile, const Team& team) {
  const gpu::Limits& limits = device.limits();
  // NVIDIA's compiler (580.159.04, H200) contracts the offset of Q4_0 differently in a tile: the
  // last bit of a row differed from that of the row alone.
  if (spec.format == WeightFormat::q4) return false;
  if (!team.subgroups || int8_wgsl(spec.format).empty() || spec.columns % quant_block != 0 ||
      spec.input == Input::norm || !std::has_single_bit(tile.weights * tile.rows) ||
      tile.workgroup(team) > limits.workgroup_invocations_max ||
      tile.workgroup(team) > limits.workgroup_size_x_max)
    return false;
  if (spec.output != Output::swiglu) return true;
  const std::uint64_t sums =
      std::uint64_t{tile.teams_across} * tile.teams_down * tile.weights * tile.rows;
  return tile.weights % 2 == 0 && tile.teams_across * tile.weights == 2 * quant_block &&
         spec.weight_rows % (2 * quant_block) == 0 &&
         sums * 6 <= limits.workgroup_storage_bytes_max;
}

gpu::PipelineOptions product_tile_pipeline(const Int8ProductSpec& spec, const ProductTile& tile,
                                           const Team& team, bool packed) {
  const bool swiglu = spec.output == Output::swiglu;
  ShaderText text;
  text.constant("LANES", spec.columns / 16)
      .constant("BATCH", tile.rows)
      .constant("WEIGHTS", tile.weights)
      .constant("WEIGHT_ROWS", spec.weight_rows)
      .constant("TEAMS_ACROSS", tile.teams_across)
      .constant("SHARE", spec.share);
  if (swiglu) {
    text.constant("WIDTH", spec.weight_rows / 2).part(gate_wgsl(spec.activation));
  } else {
    text.constant("ROWS", spec.weight_rows)
        .constant("Y_PITCH", spec.y_pitch)
        .constant("Y_OFFSET", spec.y_offset)
        .flag("BIAS", spec.bias)
        .flag("ACCUMULATE", spec.output == Output::accumulate);
  }
  if (packed) text.require("packed_4x8_integer_dot_product");
  text.team(team, tile.workgroup(team))
      .part(packed ? "fn dot4(x: u32, y: u32) -> i32 { return dot4I8Packed(x, y); }"
                   : wgsl::dot4_plain_wgsl)
      .part(weights_wgsl(spec.format))
      .part(int8_wgsl(spec.format))
      .part(wgsl::lane_wgsl)
      .part(swiglu ? wgsl::quantize_wgsl : "")
      .part(spec.input == Input::quantized ? wgsl::input_quantized_wgsl : wgsl::input_normed_wgsl)
      .part(tile_text(spec, tile, team))
      .part(swiglu ? wgsl::product_tile_swiglu_wgsl : wgsl::product_tile_store_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = weft::format("int8 tile {}{} {}x{}, {}x{} of {}x{}", swiglu ? "swiglu " : "",
                               to_string(spec.format), spec.weight_rows, spec.columns,
                               tile.teams_down, tile.teams_across, tile.rows, tile.weights);
  using enum gpu::BindingKind;
  options.groups = {weights_layout(), {{0, storage_read}, {1, storage_read}, {2, storage}}};
  if (swiglu) {
    options.groups[1].push_back({3, storage});
  } else {
    options.groups[1].push_back({3, storage_read});
    options.groups[1].push_back({4, uniform});
  }
  if (spec.input == Input::normed) options.groups[1].push_back({5, storage_read});
  return options;
}

gpu::Workgroups product_tile_workgroups(const Int8ProductSpec& spec, const ProductTile& tile,
                                        std::uint32_t rows) {
  const std::uint32_t each = tile.teams_across * tile.weights,
                      rows_each = tile.teams_down * tile.rows;
  return grid((spec.weight_rows + each - 1) / each, (rows + rows_each - 1) / rows_each);
}

gpu::PipelineOptions norm_rows_pipeline(const NormQuantizeSpec& spec, const Team& team,
                                        std::uint32_t workgroup) {
  check(spec.columns % quant_block == 0, "rows are rounded in whole blocks");
  const bool shuffles = team.subgroups && team.size >= 8;
  ShaderText text;
  text.constant("LANES", spec.columns / 16)
      .constant("BATCH", std::uint32_t{1})
      .constant("EPSILON", spec.epsilon)
      .team(team, workgroup)
      .part(wgsl::quantize_wgsl)
      .part(shuffles ? wgsl::quantize_subgroup_wgsl : "")
      .part(shuffles ? wgsl::input_norm_subgroup_wgsl : wgsl::input_norm_wgsl)
      .part(wgsl::norm_rows_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = "norm_rows";
  using enum gpu::BindingKind;
  options.groups = {{{0, storage}, {1, storage}, {2, storage}},
                    {{0, storage_read}, {1, storage_read}}};
  return options;
}

}  // namespace weft::kernels
