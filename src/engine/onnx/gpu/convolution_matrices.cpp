#include "engine/onnx/gpu/convolution_matrices.h"

#include <algorithm>

#include "engine/gpu/f16_matrix.h"
#include "engine/onnx/gpu/convolution_parts.h"
#include "engine/onnx/gpu/matrix_plan.h"
#include "engine/onnx/gpu/matrix_text.h"
#include "engine/onnx/gpu/stored_kernel.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

constexpr std::string_view narrowing_text =
    "fn f16_of(x: f32) -> f16 { return f16(clamp(x, -65504.0, 65504.0)); }\n"
    "fn f16_of4(x: vec4f) -> vec4<f16> { return vec4<f16>(clamp(x, vec4f(-65504.0), "
    "vec4f(65504.0))); }\n";

// The cuts that are worth measuring. In YOLOv5n's 29 shapes with one image and with 16, measured on
// an H200 with all cuts of 16 to 128 channels and places, one of these is within 5 % of the best.
struct Cut {
  std::int64_t channels, places, slices, depth;
};
constexpr Cut cuts_measured[] = {
    {16, 16, 2, 32},  {16, 16, 4, 64},  {16, 16, 8, 128},  {16, 32, 2, 32},   {16, 64, 1, 16},
    {16, 64, 1, 32},  {16, 64, 2, 32},  {16, 64, 4, 64},   {16, 64, 4, 128},  {16, 64, 4, 256},
    {32, 16, 8, 128}, {32, 16, 8, 256}, {32, 32, 4, 64},   {32, 32, 8, 128},  {32, 64, 1, 32},
    {32, 64, 2, 64},  {64, 16, 1, 128}, {64, 16, 2, 32},   {64, 16, 4, 128},  {64, 16, 4, 256},
    {64, 64, 1, 64},  {128, 16, 1, 64}, {128, 16, 2, 256}, {128, 32, 1, 128}, {128, 64, 1, 128}};

// Packs weights as f16, two to a word: [block of m channels][block of k terms][m][k], with zeros
// after the last channel and term. Returns nullopt for weights that 16 bits cannot hold.
std::shared_ptr<const std::vector<std::uint32_t>> packed_factors(
    const MatrixPlan& p, const std::vector<std::uint32_t>& words) {
  const std::int64_t depth = p.steps * p.tiles.depth, m = p.unit.m, k = p.unit.k,
                     channels = p.plan.channels_in;
  std::vector<std::uint32_t> packed(
      static_cast<std::size_t>(p.blocks() * p.tiles.channels * depth));
  for (std::int64_t out = 0; out < p.plan.channels_out; ++out)
    for (std::int64_t in = 0; in < channels; ++in)
      for (std::int64_t tap = 0; tap < p.taps; ++tap) {
        const std::int64_t term = tap * p.channels + in;
        const std::int64_t block = out / m * (depth / k) + term / k;
        packed[static_cast<std::size_t>((block * m + out % m) * k + term % k)] =
            words[static_cast<std::size_t>((out * channels + in) * p.taps + tap)];
      }
  auto halves = halves_of(packed);
  return halves ? std::make_shared<const std::vector<std::uint32_t>>(std::move(*halves)) : nullptr;
}

}  // namespace

std::optional<MatrixUnit> matrix_unit_of(const gpu::Device& device) {
  const gpu::SubgroupMatrix* matrix = gpu::f16_matrix(device);
  if (matrix == nullptr) return std::nullopt;
  const gpu::Limits& limits = device.limits();
  return MatrixUnit{
      .m = matrix->m,
      .n = matrix->n,
      .k = matrix->k,
      .subgroup = device.adapter().subgroup_size_min,
      .threads_max = std::min(limits.workgroup_invocations_max, limits.workgroup_size_x_max),
      .bytes_max = limits.workgroup_storage_bytes_max};
}

bool can_be_in_matrices(const ConvolutionPlan& plan, const MatrixUnit& unit,
                        const ConvolutionTiles& tiles) {
  return tiles.depth > 0 && plan.groups == 1 && element_count(plan.window.input) > 0 &&
         MatrixPlan(plan, unit, tiles).fits();
}

std::vector<ConvolutionTiles> matrix_candidates(const ConvolutionPlan& plan,
                                                const MatrixUnit& unit) {
  // A large GPU has some 130 cores, and each core needs a few subgroups. Slices add workgroups, so
  // they are not worth measuring if there are many workgroups without them.
  constexpr std::int64_t subgroups_least = 256, groups_least = 48, groups_of_slices_max = 4096;
  std::vector<ConvolutionTiles> out;
  for (const auto& [channels, places, slices, depth] : cuts_measured) {
    const ConvolutionTiles tiles{
        .places = places, .channels = channels, .slices = slices, .depth = depth};
    if (!can_be_in_matrices(plan, unit, tiles)) continue;
    const MatrixPlan p(plan, unit, tiles);
    const std::int64_t terms = plan.channels_in * p.taps, copied = p.steps * depth,
                       subgroups = p.groups() * p.threads / unit.subgroup;
    const bool is_small = subgroups < subgroups_least || p.groups() < groups_least;
    if (channels > divided_up(plan.channels_out, 16) * 16 ||
        (depth >= 2 * terms && depth > 16 * slices) || (copied > depth && copied * 3 > terms * 4) ||
        (slices > 1 && p.groups() > groups_of_slices_max) ||
        (is_small && (channels > 16 || places > 16)))
      continue;
    out.push_back(tiles);
  }
  return out;
}

MaybeKernels convolution_matrices(const KernelContext& context, const Node& node, const Call& call,
                                  const ConvolutionPlan& plan, const ConvolutionTiles& tiles,
                                  const Epilogue& epilogue) {
  const auto words = storage_of(call.input(1));
  if (!words) return std::nullopt;
  const MatrixPlan matrix_plan(plan, *context.matrices, tiles);
  auto packed = packed_factors(matrix_plan, *words);
  if (packed == nullptr) return std::nullopt;
  KernelText text;
  text.set_team({.threads = static_cast<std::uint32_t>(matrix_plan.threads), .matrices = true});
  const std::string in =
      text.input(KernelInput{.value = node.inputs[0]}, matrix_plan.fours ? "vec4f" : "f32");
  const std::string factors =
      text.input(KernelInput{.value = no_value, .data = std::move(packed)}, "f16");
  const MatrixText matrix_text(matrix_plan, in, factors);
  text.helper(matrix_text.types());
  text.helper(narrowing_text);
  const auto results = result_text(context, node, call, epilogue, text);
  if (!results) return std::nullopt;
  return std::vector{text.build_groups(
      convolution_label(node, epilogue), static_cast<std::uint64_t>(matrix_plan.groups()),
      weft::format("var<workgroup> stage: array<u32, {}>;\n", matrix_plan.words()),
      matrix_text.places() + matrix_text.steps() + matrix_text.results(*results))};
}

}  // namespace weft::onnx
