#include "engine/kernels/decode/int8_product.h"

#include "common/base/check.h"
#include "common/base/format.h"
#include "engine/kernels/decode/input_norm.wgsl.h"
#include "engine/kernels/decode/input_norm_subgroup.wgsl.h"
#include "engine/kernels/decode/input_normed.wgsl.h"
#include "engine/kernels/decode/input_quantized.wgsl.h"
#include "engine/kernels/decode/int8_wgsl.h"
#include "engine/kernels/decode/lane.wgsl.h"
#include "engine/kernels/decode/product.wgsl.h"
#include "engine/kernels/decode/product_rows.wgsl.h"
#include "engine/kernels/decode/product_swiglu.wgsl.h"
#include "engine/kernels/decode/quantize.wgsl.h"
#include "engine/kernels/decode/quantize_subgroup.wgsl.h"
#include "engine/kernels/dot4_packed.wgsl.h"
#include "engine/kernels/dot4_plain.wgsl.h"
#include "engine/kernels/matvec.h"

namespace weft::kernels {
namespace {

using Input = Int8ProductSpec::Input;
using Output = Int8ProductSpec::Output;

constexpr std::uint32_t block = 32;

}  // namespace

bool int8_product_possible(const gpu::Device& device, const Int8ProductSpec& spec, const Team& team,
                           std::uint32_t workgroup) {
  if (int8_wgsl(spec.format).empty() || spec.columns % block != 0) return false;
  const std::uint32_t teams = workgroup / team.size / spec.share;
  if (teams == 0) return false;
  if (spec.output == Output::swiglu &&
      (spec.weight_rows % (2 * block) != 0 || teams > block || block % teams != 0 ||
       spec.rows_each % 2 != 0 || block / teams % (spec.rows_each / 2) != 0))
    return false;
  // The workgroup memory: 24 bytes for a lane of 16, and the memory of the sums.
  const std::uint64_t bytes =
      (spec.input == Input::norm ? std::uint64_t{spec.batch} * (spec.columns / 16 * 24 + teams * 4)
                                 : 0) +
      std::uint64_t{workgroup} * 4 +
      std::uint64_t{workgroup / team.size} * spec.rows_each * spec.batch * 4 +
      std::uint64_t{spec.batch} * block * 4;
  return bytes <= device.limits().workgroup_storage_bytes_max;
}

gpu::PipelineOptions int8_product_pipeline(const Int8ProductSpec& spec, const Team& team,
                                           std::uint32_t workgroup, bool packed) {
  check(spec.columns % block == 0, "activations are rounded in whole blocks");
  const bool swiglu = spec.output == Output::swiglu;
  const bool shuffles = spec.input == Input::norm && team.subgroups && team.size >= 8;
  ShaderText text;
  text.constant("LANES", spec.columns / 16)
      .constant("BATCH", spec.batch)
      .constant("ROWS_EACH", spec.rows_each)
      .constant("SHARE", spec.share)
      .constant("AHEAD", spec.ahead)
      .constant("EPSILON", spec.epsilon);
  if (swiglu) {
    text.constant("WIDTH", spec.weight_rows / 2).part(gate_wgsl(spec.activation));
  } else {
    text.constant("ROWS", spec.weight_rows)
        .constant("Y_PITCH", spec.y_pitch)
        .constant("Y_OFFSET", spec.y_offset)
        .flag("BIAS", spec.bias)
        .flag("ACCUMULATE", spec.output == Output::accumulate);
  }
  // build() puts this directive first, where WGSL demands it.
  if (packed) text.require("packed_4x8_integer_dot_product");
  text.team(team, workgroup)
      .part(packed ? "fn dot4(x: u32, y: u32) -> i32 { return dot4I8Packed(x, y); }"
                   : wgsl::dot4_plain_wgsl)
      .part(weights_wgsl(spec.format))
      .part(int8_wgsl(spec.format))
      .part(wgsl::lane_wgsl)
      .part(wgsl::quantize_wgsl)
      .part(shuffles ? wgsl::quantize_subgroup_wgsl : "")
      .part(spec.input == Input::quantized ? wgsl::input_quantized_wgsl
            : spec.input == Input::normed  ? wgsl::input_normed_wgsl
            : shuffles                     ? wgsl::input_norm_subgroup_wgsl
                                           : wgsl::input_norm_wgsl)
      .part(wgsl::product_rows_wgsl)
      .part(swiglu ? wgsl::product_swiglu_wgsl : wgsl::product_wgsl);
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = weft::format("int8 {}{} {}x{} batch {}", swiglu ? "swiglu " : "",
                               to_string(spec.format), spec.weight_rows, spec.columns, spec.batch);
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

gpu::Workgroups int8_product_workgroups(const Int8ProductSpec& spec, const Team& team,
                                        std::uint32_t workgroup, std::uint32_t rows) {
  const std::uint32_t batches = (rows + spec.batch - 1) / spec.batch;
  if (spec.output == Output::swiglu) return grid(spec.weight_rows / 2 / block, batches);
  const std::uint32_t each = workgroup / team.size / spec.share * spec.rows_each;
  return grid((spec.weight_rows + each - 1) / each, batches);
}

}  // namespace weft::kernels
