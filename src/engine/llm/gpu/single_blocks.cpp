#include "engine/llm/gpu/single_blocks.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "engine/kernels/decode/product_tile.h"

namespace weft::llm {
namespace {

using kernels::Int8ProductSpec;
using Input = Int8ProductSpec::Input;
using Output = Int8ProductSpec::Output;

// The two input buffers of a product: x and the norm's weight, or quants and scales. Tiles cannot
// norm their input; for them, rows are normed and rounded by a dispatch before the product.
struct Int8Input {
  Input kind;
  const gpu::Buffer& first;
  const gpu::Buffer& second;
};
Input tile_input(Input kind) { return kind == Input::norm ? Input::normed : kind; }
Bindings input_bindings(const BuildContext& context, const Int8Input& input, bool tiled) {
  if (!tiled || input.kind != Input::norm) return {{0, input.first}, {1, input.second}};
  const RowBuffers& to = context.buffers;
  return {{0, to.normed_quants}, {1, to.normed_scales}, {5, to.normed_factors}};
}

Int8ProductSpec spec_of(const BuildContext& context, const GpuMatrix& matrix, Input input,
                        Output output) {
  return {.format = matrix.format,
          .weight_rows = matrix.rows,
          .columns = matrix.columns,
          .input = input,
          .output = output,
          .activation = context.config.activation,
          .epsilon = context.config.norm_epsilon};
}

// The kernel for a range of numbers of rows. Several sequences share a read of the weights (batch),
// and several weight rows share a read of the sequences' rows (rows_each). The order of a row's
// sums is the same in all variants.
struct Variant {
  std::uint32_t rows_min, rows_max, batch, rows_each;
  std::optional<kernels::ProductTile> tile{};
};
std::vector<Variant> variants(const BuildContext& context, Int8ProductSpec spec,
                              const DecodeTuning::Matrix& tuning) {
  constexpr std::uint32_t unbounded = std::numeric_limits<std::uint32_t>::max();
  std::vector<Variant> out{{1, 1, 1, tuning.rows_each}};
  if (context.options.sequences == 1) return out;
  out.push_back({2, unbounded, 4, tuning.rows_each});
  spec.share = tuning.share;
  const std::uint32_t many = std::max(tuning.rows_each, tuning.rows_each_many);
  if (context.options.sequences > 4 && many != tuning.rows_each) {
    spec.batch = 4;
    spec.rows_each = many;
    if (kernels::int8_product_possible(context.device, spec, context.team, tuning.workgroup)) {
      out.back().rows_max = 4;
      out.push_back({5, unbounded, 4, many});
    }
  }
  spec.input = tile_input(spec.input);
  for (const DecodeTuning::TileFrom& from : tuning.tiles) {
    if (context.options.sequences < from.rows_min ||
        !kernels::product_tile_possible(context.device, spec, from.tile, context.team))
      continue;
    if (from.rows_min <= out.back().rows_min) out.pop_back();
    out.back().rows_max = from.rows_min - 1;
    out.push_back({from.rows_min, unbounded, 0, 0, from.tile});
  }
  return out;
}

// The number of lanes that a thread loads at a time, bounded by its registers and by the lanes of a
// row.
std::uint32_t lanes_ahead(const BuildContext& context, const Int8ProductSpec& spec,
                          std::uint32_t rows) {
  constexpr std::uint32_t registers = 8;  // The number of registers of four words.
  const std::uint32_t stride = context.team.size * spec.share,
                      steps = (spec.columns / 16 + stride - 1) / stride;
  return std::clamp(std::min(registers / std::max(1u, rows), steps), 1u, 4u);
}

bool possible(const BuildContext& context, const GpuMatrix& matrix, Input input, Output output,
              const DecodeTuning::Matrix& tuning) {
  Int8ProductSpec spec =
      spec_of(context, matrix, tuning.norm_in_front ? Input::quantized : input, output);
  return std::ranges::all_of(variants(context, spec, tuning), [&](const Variant& variant) {
    if (variant.tile) return true;
    spec.batch = variant.batch;
    spec.rows_each = variant.rows_each;
    spec.share = tuning.share;
    return kernels::int8_product_possible(context.device, spec, context.team, tuning.workgroup);
  });
}

// Adds the dispatch that norms and rounds rows for the tiles among these variants, if there are
// any.
Async<Result<>> add_norm_rows(BuildContext& context, Program& program, const gpu::Buffer& norm,
                              const DecodeTuning::Matrix& tuning,
                              const std::vector<Variant>& among) {
  const auto first =
      std::ranges::find_if(among, [](const Variant& variant) { return variant.tile.has_value(); });
  if (first == among.end()) co_return Result<>();
  const RowBuffers& to = context.buffers;
  const kernels::NormQuantizeSpec spec{.columns = context.config.embedding,
                                       .epsilon = context.config.norm_epsilon};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.normed_quants}, {1, to.normed_scales}, {2, to.normed_factors}});
  groups.push_back({{0, to.hidden}, {1, norm}});
  Dispatch dispatch{.rows_min = first->rows_min, .workgroups = [](const RowCount& count) {
                      return kernels::norm_quantize_workgroups(count.rows);
                    }};
  co_return co_await context.builder.add(
      program, kernels::norm_rows_pipeline(spec, context.team, tuning.workgroup), std::move(groups),
      std::move(dispatch));
}

// Adds the norm and the rounding of the input: a dispatch of its own, or a part of every product,
// of which `product` is one.
Async<Result<Int8Input>> add_normed_input(BuildContext& context, Program& program,
                                          const gpu::Buffer& norm,
                                          const DecodeTuning::Matrix& tuning,
                                          Int8ProductSpec product) {
  const RowBuffers& to = context.buffers;
  if (!tuning.norm_in_front) {
    product.input = Input::norm;
    WEFT_CO_OK(
        co_await add_norm_rows(context, program, norm, tuning, variants(context, product, tuning)));
    co_return Int8Input{Input::norm, to.hidden, norm};
  }
  const std::uint32_t workgroup = kernels::workgroup_size(context.device, 512);
  const kernels::NormQuantizeSpec spec{.columns = context.config.embedding,
                                       .epsilon = context.config.norm_epsilon};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.hidden}, {1, norm}, {2, to.normed_quants}, {3, to.normed_scales}});
  Dispatch dispatch{.workgroups = [](const RowCount& count) {
    return kernels::norm_quantize_workgroups(count.rows);
  }};
  WEFT_CO_OK(co_await context.builder.add(
      program, kernels::norm_quantize_pipeline(spec, context.team, workgroup), std::move(groups),
      std::move(dispatch)));
  co_return Int8Input{Input::quantized, to.normed_quants, to.normed_scales};
}

// Adds one variant of a product, for its numbers of rows. `out` are the bindings of group 1 after
// those of the input.
Async<Result<>> add_variant(BuildContext& context, Program& program, const Variant& variant,
                            Int8ProductSpec spec, const DecodeTuning::Matrix& tuning,
                            const MatrixPart& part, const Int8Input& input, Bindings out) {
  spec.share = tuning.share;
  Bindings rows = input_bindings(context, input, variant.tile.has_value());
  for (const gpu::BoundBuffer& bound : out) rows.push_back(bound);
  std::vector<Bindings> groups;
  groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
  groups.push_back(std::move(rows));
  Dispatch dispatch{.rows_min = variant.rows_min, .rows_max = variant.rows_max, .workgroups = {}};
  if (variant.tile) {
    spec.input = tile_input(spec.input);
    dispatch.workgroups = [spec, tile = *variant.tile](const RowCount& count) {
      return kernels::product_tile_workgroups(spec, tile, count.rows);
    };
    co_return co_await context.builder.add(
        program,
        kernels::product_tile_pipeline(spec, *variant.tile, context.team, context.decode.packed),
        std::move(groups), std::move(dispatch));
  }
  spec.batch = variant.batch;
  spec.rows_each = variant.rows_each;
  spec.ahead = lanes_ahead(context, spec, spec.rows_each);
  dispatch.workgroups = [spec, team = context.team,
                         workgroup = tuning.workgroup](const RowCount& count) {
    return kernels::int8_product_workgroups(spec, team, workgroup, count.rows);
  };
  co_return co_await context.builder.add(
      program,
      kernels::int8_product_pipeline(spec, context.team, tuning.workgroup, context.decode.packed),
      std::move(groups), std::move(dispatch));
}

Async<Result<>> add_int8_product(BuildContext& context, Program& program, const GpuMatrix& matrix,
                                 Int8Input input, DecodeTuning::Matrix tuning, Product product,
                                 std::vector<gpu::Buffer>& keep) {
  for (const MatrixPart& part : matrix.parts) {
    const gpu::Buffer* bias = &context.buffers.none;
    if (!product.bias.empty()) {
      const auto first = product.bias.begin() + part.first_row;
      WEFT_CO_ASSIGN(gpu::Buffer buffer,
                     co_await context.loader.vector(std::vector<float>(first, first + part.rows)));
      keep.push_back(std::move(buffer));
      bias = &keep.back();
    }
    const Int8ProductSpec general = spec_of(
        context, matrix, input.kind, product.accumulate ? Output::accumulate : Output::store);
    Int8ProductSpec spec = general;
    spec.weight_rows = part.rows;
    spec.y_pitch = product.y_pitch;
    spec.y_offset = product.y_offset + part.first_row;
    spec.bias = !product.bias.empty();
    for (const Variant& variant : variants(context, general, tuning))
      WEFT_CO_OK(co_await add_variant(context, program, variant, spec, tuning, part, input,
                                      {{2, product.y}, {3, *bias}, {4, context.buffers.batch}}));
  }
  co_return Result<>();
}

// Adds hidden += input . matrix; if the layer has an output norm, the product is normed first.
Async<Result<>> add_onto_hidden(BuildContext& context, Program& program, const GpuMatrix& matrix,
                                Int8Input input, const DecodeTuning::Matrix& tuning,
                                const gpu::Buffer& out_norm, std::vector<gpu::Buffer>& keep) {
  const RowBuffers& to = context.buffers;
  const bool normed = static_cast<bool>(out_norm);
  WEFT_CO_OK(co_await add_int8_product(context, program, matrix, input, tuning,
                                       Product{.x = to.mixed,
                                               .y = normed ? to.normed : to.hidden,
                                               .y_pitch = context.config.embedding,
                                               .accumulate = !normed},
                                       keep));
  if (normed) WEFT_CO_OK(co_await add_norm(context, program, to.normed, out_norm, to.hidden, true));
  co_return Result<>();
}

}  // namespace

Async<Result<>> add_single_projections(BuildContext& context, Program& program, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const DecodeTuning::Matrix& tuning = context.decode.projections;
  bool normed = false;
  std::optional<Int8Input> input;
  std::uint32_t offset = 0;
  for (const GpuMatrix& matrix : part.projections) {
    Product product{.x = to.normed,
                    .x_pitch = matrix.columns,
                    .y = to.projected,
                    .y_pitch = to.shape.projected,
                    .y_offset = offset};
    if (!part.projection_bias.empty())
      product.bias.assign(part.projection_bias.begin() + offset,
                          part.projection_bias.begin() + offset + matrix.rows);
    if (possible(context, matrix, Input::norm, Output::store, tuning)) {
      if (!input) {
        WEFT_CO_ASSIGN(
            const Int8Input made,
            co_await add_normed_input(context, program, part.norm, tuning,
                                      spec_of(context, matrix, Input::norm, Output::store)));
        input.emplace(made);
      }
      WEFT_CO_OK(co_await add_int8_product(context, program, matrix, *input, tuning,
                                           std::move(product), part.vectors));
    } else {
      if (!normed) WEFT_CO_OK(co_await add_norm(context, program, to.hidden, part.norm, to.normed));
      normed = true;
      WEFT_CO_OK(co_await add_product(context, program, matrix, std::move(product), part.vectors));
    }
    offset += matrix.rows;
  }
  co_return Result<>();
}

bool single_attention_possible(const BuildContext& context,
                               const kernels::DecodeAttentionSpec& spec, const GpuLayer& part) {
  return possible(context, part.output, Input::quantized, Output::accumulate,
                  context.decode.output) &&
         kernels::decode_attention_possible(context.device, spec, context.team,
                                            context.decode.attention_workgroup);
}

Async<Result<>> add_single_attention(BuildContext& context, Program& program,
                                     kernels::DecodeAttentionSpec spec, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const gpu::Buffer& norms = spec.rotary.norm ? part.qk_norms : to.none;
  spec.split_from = 0;
  if (kernels::whole_attention_possible(context.device, spec, context.team,
                                        context.decode.whole_workgroup)) {
    spec.split_from = context.decode.split_from;
    std::vector<Bindings> groups;
    groups.push_back({{0, to.projected},
                      {1, to.places},
                      {2, *part.turns},
                      {3, norms},
                      {4, part.cache[0]},
                      {5, part.cache[1]},
                      {6, to.mixed_quants},
                      {7, to.mixed_scales}});
    Dispatch whole{.least_max = spec.split_from - 1, .workgroups = [spec](const RowCount& count) {
                     return kernels::whole_attention_workgroups(spec, count.rows);
                   }};
    WEFT_CO_OK(co_await context.builder.add(
        program,
        kernels::whole_attention_pipeline(spec, context.team, context.decode.whole_workgroup),
        std::move(groups), std::move(whole)));
  }
  std::vector<Bindings> attend_groups;
  attend_groups.push_back({{0, to.projected},
                           {1, to.places},
                           {2, *part.turns},
                           {3, norms},
                           {4, part.cache[0]},
                           {5, part.cache[1]},
                           {6, to.shares}});
  Dispatch attend{
      .positions_min = spec.split_from,
      .workgroups = [spec, team = context.team,
                     workgroup = context.decode.attention_workgroup](const RowCount& count) {
        return kernels::decode_attention_workgroups(spec, team, workgroup, count.rows,
                                                    count.positions);
      }};
  WEFT_CO_OK(co_await context.builder.add(
      program,
      kernels::decode_attention_pipeline(spec, context.team, context.decode.attention_workgroup),
      std::move(attend_groups), std::move(attend)));
  std::vector<Bindings> merge_groups;
  merge_groups.push_back({{0, to.shares},
                          {1, to.projected},
                          {2, to.mixed_quants},
                          {3, to.mixed_scales},
                          {4, to.places}});
  Dispatch merge{.positions_min = spec.split_from, .workgroups = [spec](const RowCount& count) {
                   return kernels::merge_shares_workgroups(spec, count.rows);
                 }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::merge_shares_pipeline(spec),
                                          std::move(merge_groups), std::move(merge)));
  co_return co_await add_onto_hidden(context, program, part.output,
                                     Int8Input{Input::quantized, to.mixed_quants, to.mixed_scales},
                                     context.decode.output, part.mixer_out_norm, part.vectors);
}

Async<Result<>> add_single_output(BuildContext& context, Program& program, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  if (!possible(context, part.output, Input::quantized, Output::accumulate, context.decode.output))
    co_return co_await add_output(context, program, part);
  const kernels::QuantizeRowsSpec spec{.columns = part.output.columns,
                                       .pitch = part.output.columns};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.mixed}, {1, to.mixed_quants}, {2, to.mixed_scales}});
  Dispatch dispatch{.workgroups = [spec](const RowCount& count) {
    return kernels::quantize_rows_workgroups(spec, count.rows);
  }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::quantize_rows_pipeline(spec),
                                          std::move(groups), std::move(dispatch)));
  co_return co_await add_onto_hidden(context, program, part.output,
                                     Int8Input{Input::quantized, to.mixed_quants, to.mixed_scales},
                                     context.decode.output, part.mixer_out_norm, part.vectors);
}

bool single_feed_forward_possible(const BuildContext& context, const GpuLayer& part) {
  return part.gates.size() == 1 && part.gates[0].parts.size() == 1 &&
         possible(context, part.gates[0], Input::norm, Output::swiglu, context.decode.gates) &&
         possible(context, part.down, Input::quantized, Output::accumulate, context.decode.down);
}

Async<Result<>> add_single_feed_forward(BuildContext& context, Program& program, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const GpuMatrix& gates = part.gates[0];
  const DecodeTuning::Matrix& tuning = context.decode.gates;
  const Int8ProductSpec spec = spec_of(context, gates, Input::norm, Output::swiglu);
  WEFT_CO_ASSIGN(const Int8Input input,
                 co_await add_normed_input(context, program, part.feed_forward_norm, tuning, spec));
  const Int8ProductSpec general = spec_of(context, gates, input.kind, Output::swiglu);
  for (const Variant& variant : variants(context, general, tuning))
    WEFT_CO_OK(co_await add_variant(context, program, variant, general, tuning, gates.parts[0],
                                    input, {{2, to.gated_quants}, {3, to.gated_scales}}));
  co_return co_await add_onto_hidden(context, program, part.down,
                                     Int8Input{Input::quantized, to.gated_quants, to.gated_scales},
                                     context.decode.down, part.feed_forward_out_norm, part.vectors);
}

Async<Result<>> add_single_head(BuildContext& context, Program& program, const gpu::Buffer& norm,
                                const GpuMatrix& matrix) {
  const RowBuffers& to = context.buffers;
  std::vector<gpu::Buffer> no_bias;
  Product product{.x = to.normed,
                  .x_pitch = context.config.embedding,
                  .y = to.logits,
                  .y_pitch = context.config.vocabulary};
  if (possible(context, matrix, Input::norm, Output::store, context.decode.head)) {
    WEFT_CO_ASSIGN(const Int8Input input,
                   co_await add_normed_input(context, program, norm, context.decode.head,
                                             spec_of(context, matrix, Input::norm, Output::store)));
    co_return co_await add_int8_product(context, program, matrix, input, context.decode.head,
                                        std::move(product), no_bias);
  }
  WEFT_CO_OK(co_await add_norm(context, program, to.hidden, norm, to.normed));
  co_return co_await add_product(context, program, matrix, std::move(product), no_bias);
}

}  // namespace weft::llm
