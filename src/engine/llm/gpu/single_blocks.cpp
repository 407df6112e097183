#include "engine/llm/gpu/single_blocks.h"

#include <algorithm>
#include <optional>

#include "engine/kernels/decode/int8_product.h"
#include "engine/kernels/decode/quantize_rows.h"

namespace weft::llm {
namespace {

using kernels::Int8ProductSpec;
using Input = Int8ProductSpec::Input;
using Output = Int8ProductSpec::Output;

// What a product is made of: x and the norm's weight, or quants and scales.
struct Int8Input {
  Input kind;
  const gpu::Buffer& first;
  const gpu::Buffer& second;
};

Int8ProductSpec spec_of(const BuildContext& context, const GpuMatrix& matrix, Input input, Output output) {
  return {.format = matrix.format,
          .weight_rows = matrix.rows,
          .columns = matrix.columns,
          .input = input,
          .output = output,
          .epsilon = context.config.norm_epsilon};
}

// Several sequences share a read of the weights.
struct Variant {
  std::uint32_t rows_min, rows_max, batch;
};
std::vector<Variant> variants(const BuildContext& context) {
  if (context.options.sequences == 1) return {{1, 1, 1}};
  return {{1, 1, 1}, {2, ~0u, 4}};
}

// Lanes that a thread asks for at a time: few enough for registers, and not more than there are.
std::uint32_t lanes_ahead(const BuildContext& context, const Int8ProductSpec& spec, std::uint32_t rows) {
  constexpr std::uint32_t registers = 8;  // Of four words.
  const std::uint32_t stride = context.team.size * spec.share, steps = (spec.columns / 16 + stride - 1) / stride;
  return std::clamp(std::min(registers / std::max(1u, rows), steps), 1u, 4u);
}

bool possible(const BuildContext& context, const GpuMatrix& matrix, Input input, Output output, const DecodeTuning::Matrix& tuning) {
  return std::ranges::all_of(variants(context), [&](const Variant& variant) {
    Int8ProductSpec spec = spec_of(context, matrix, tuning.norm_in_front ? Input::quantized : input, output);
    spec.batch = variant.batch;
    spec.rows_each = tuning.rows_each;
    spec.share = tuning.share;
    return kernels::int8_product_possible(context.device, spec, context.team, tuning.workgroup);
  });
}

// Rows normed and rounded: in a dispatch of its own, or by the product itself.
Async<Result<Int8Input>> add_normed_input(BuildContext& context, Program& program, const gpu::Buffer& norm, const DecodeTuning::Matrix& tuning) {
  const RowBuffers& to = context.buffers;
  if (!tuning.norm_in_front) co_return Int8Input{Input::norm, to.hidden, norm};
  const std::uint32_t workgroup = kernels::workgroup_size(context.device, 512);
  const kernels::NormQuantizeSpec spec{.columns = context.config.embedding, .epsilon = context.config.norm_epsilon};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.hidden}, {1, norm}, {2, to.normed_quants}, {3, to.normed_scales}});
  Dispatch dispatch{.workgroups = [](const RowCount& count) { return kernels::norm_quantize_workgroups(count.rows); }};
  WEFT_CO_OK(
      co_await context.builder.add(program, kernels::norm_quantize_pipeline(spec, context.team, workgroup), std::move(groups), std::move(dispatch)));
  co_return Int8Input{Input::quantized, to.normed_quants, to.normed_scales};
}

Async<Result<>> add_int8_product(BuildContext& context, Program& program, const GpuMatrix& matrix, Int8Input input, DecodeTuning::Matrix tuning,
                                 Product product, std::vector<gpu::Buffer>& keep) {
  const std::uint32_t workgroup = tuning.workgroup;
  for (const MatrixPart& part : matrix.parts) {
    const gpu::Buffer* bias = &context.buffers.none;
    if (!product.bias.empty()) {
      const auto first = product.bias.begin() + part.first_row;
      WEFT_CO_ASSIGN(gpu::Buffer buffer, co_await context.loader.vector(std::vector<float>(first, first + part.rows)));
      keep.push_back(std::move(buffer));
      bias = &keep.back();
    }
    for (const Variant& variant : variants(context)) {
      Int8ProductSpec spec = spec_of(context, matrix, input.kind, product.accumulate ? Output::accumulate : Output::store);
      spec.weight_rows = part.rows;
      spec.y_pitch = product.y_pitch;
      spec.y_offset = product.y_offset + part.first_row;
      spec.bias = !product.bias.empty();
      spec.batch = variant.batch;
      spec.rows_each = tuning.rows_each;
      spec.share = tuning.share;
      spec.ahead = lanes_ahead(context, spec, spec.rows_each);
      std::vector<Bindings> groups;
      groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
      groups.push_back({{0, input.first}, {1, input.second}, {2, product.y}, {3, *bias}, {4, context.buffers.batch}});
      Dispatch dispatch{
          .rows_min = variant.rows_min, .rows_max = variant.rows_max, .workgroups = [spec, team = context.team, workgroup](const RowCount& count) {
            return kernels::int8_product_workgroups(spec, team, workgroup, count.rows);
          }};
      WEFT_CO_OK(co_await context.builder.add(program, kernels::int8_product_pipeline(spec, context.team, workgroup, context.decode.packed),
                                              std::move(groups), std::move(dispatch)));
    }
  }
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
    Product product{.x = to.normed, .x_pitch = matrix.columns, .y = to.projected, .y_pitch = to.shape.projected, .y_offset = offset};
    if (!part.projection_bias.empty())
      product.bias.assign(part.projection_bias.begin() + offset, part.projection_bias.begin() + offset + matrix.rows);
    if (possible(context, matrix, Input::norm, Output::store, tuning)) {
      if (!input) {
        WEFT_CO_ASSIGN(const Int8Input made, co_await add_normed_input(context, program, part.norm, tuning));
        input.emplace(made);
      }
      WEFT_CO_OK(co_await add_int8_product(context, program, matrix, *input, tuning, std::move(product), part.vectors));
    } else {
      if (!normed) WEFT_CO_OK(co_await add_norm(context, program, to.hidden, part.norm, to.normed));
      normed = true;
      WEFT_CO_OK(co_await add_product(context, program, matrix, std::move(product), part.vectors));
    }
    offset += matrix.rows;
  }
  co_return Result<>();
}

bool single_attention_possible(const BuildContext& context, const kernels::DecodeAttentionSpec& spec, const GpuLayer& part) {
  return possible(context, part.output, Input::quantized, Output::accumulate, context.decode.output) &&
         kernels::decode_attention_possible(context.device, spec, context.team, context.decode.attention_workgroup);
}

Async<Result<>> add_single_attention(BuildContext& context, Program& program, const kernels::DecodeAttentionSpec& spec, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const gpu::Buffer& norms = spec.rotary.norm ? part.qk_norms : to.none;
  std::uint32_t split_from = 0;
  if (kernels::whole_attention_possible(context.device, spec, context.team, context.decode.whole_workgroup)) {
    split_from = context.decode.split_from;
    std::vector<Bindings> groups;
    groups.push_back({{0, to.projected},
                      {1, to.places},
                      {2, *context.turns},
                      {3, norms},
                      {4, part.cache[0]},
                      {5, part.cache[1]},
                      {6, to.mixed_quants},
                      {7, to.mixed_scales}});
    Dispatch whole{.positions_max = split_from - 1,
                   .workgroups = [spec](const RowCount& count) { return kernels::whole_attention_workgroups(spec, count.rows); }};
    WEFT_CO_OK(co_await context.builder.add(program, kernels::whole_attention_pipeline(spec, context.team, context.decode.whole_workgroup),
                                            std::move(groups), std::move(whole)));
  }
  std::vector<Bindings> attend_groups;
  attend_groups.push_back(
      {{0, to.projected}, {1, to.places}, {2, *context.turns}, {3, norms}, {4, part.cache[0]}, {5, part.cache[1]}, {6, to.shares}});
  Dispatch attend{.positions_min = split_from,
                  .workgroups = [spec](const RowCount& count) { return kernels::decode_attention_workgroups(spec, count.rows); }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::decode_attention_pipeline(spec, context.team, context.decode.attention_workgroup),
                                          std::move(attend_groups), std::move(attend)));
  std::vector<Bindings> merge_groups;
  merge_groups.push_back({{0, to.shares}, {1, to.projected}, {2, to.mixed_quants}, {3, to.mixed_scales}, {4, to.places}});
  Dispatch merge{.positions_min = split_from,
                 .workgroups = [spec](const RowCount& count) { return kernels::merge_shares_workgroups(spec, count.rows); }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::merge_shares_pipeline(spec), std::move(merge_groups), std::move(merge)));
  co_return co_await add_int8_product(context, program, part.output, Int8Input{Input::quantized, to.mixed_quants, to.mixed_scales},
                                      context.decode.output,
                                      Product{.x = to.mixed, .y = to.hidden, .y_pitch = context.config.embedding, .accumulate = true}, part.vectors);
}

Async<Result<>> add_single_output(BuildContext& context, Program& program, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  if (!possible(context, part.output, Input::quantized, Output::accumulate, context.decode.output))
    co_return co_await add_output(context, program, part);
  const kernels::QuantizeRowsSpec spec{.columns = part.output.columns, .pitch = part.output.columns};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.mixed}, {1, to.mixed_quants}, {2, to.mixed_scales}});
  Dispatch dispatch{.workgroups = [spec](const RowCount& count) { return kernels::quantize_rows_workgroups(spec, count.rows); }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::quantize_rows_pipeline(spec), std::move(groups), std::move(dispatch)));
  co_return co_await add_int8_product(context, program, part.output, Int8Input{Input::quantized, to.mixed_quants, to.mixed_scales},
                                      context.decode.output,
                                      Product{.x = to.mixed, .y = to.hidden, .y_pitch = context.config.embedding, .accumulate = true}, part.vectors);
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
  const std::uint32_t workgroup = tuning.workgroup;
  WEFT_CO_ASSIGN(const Int8Input input, co_await add_normed_input(context, program, part.feed_forward_norm, tuning));
  for (const Variant& variant : variants(context)) {
    Int8ProductSpec spec = spec_of(context, gates, input.kind, Output::swiglu);
    spec.batch = variant.batch;
    spec.rows_each = tuning.rows_each;
    spec.share = tuning.share;
    spec.ahead = lanes_ahead(context, spec, spec.rows_each);
    std::vector<Bindings> groups;
    groups.push_back({{0, gates.parts[0].quants}, {1, gates.parts[0].bound_scales()}});
    groups.push_back({{0, input.first}, {1, input.second}, {2, to.gated_quants}, {3, to.gated_scales}});
    Dispatch dispatch{
        .rows_min = variant.rows_min, .rows_max = variant.rows_max, .workgroups = [spec, team = context.team, workgroup](const RowCount& count) {
          return kernels::int8_product_workgroups(spec, team, workgroup, count.rows);
        }};
    WEFT_CO_OK(co_await context.builder.add(program, kernels::int8_product_pipeline(spec, context.team, workgroup, context.decode.packed),
                                            std::move(groups), std::move(dispatch)));
  }
  co_return co_await add_int8_product(context, program, part.down, Int8Input{Input::quantized, to.gated_quants, to.gated_scales}, context.decode.down,
                                      Product{.x = to.gated, .y = to.hidden, .y_pitch = context.config.embedding, .accumulate = true}, part.vectors);
}

Async<Result<>> add_single_head(BuildContext& context, Program& program, const gpu::Buffer& norm, const GpuMatrix& matrix) {
  const RowBuffers& to = context.buffers;
  std::vector<gpu::Buffer> no_bias;
  Product product{.x = to.normed, .x_pitch = context.config.embedding, .y = to.logits, .y_pitch = context.config.vocabulary};
  if (possible(context, matrix, Input::norm, Output::store, context.decode.head)) {
    WEFT_CO_ASSIGN(const Int8Input input, co_await add_normed_input(context, program, norm, context.decode.head));
    co_return co_await add_int8_product(context, program, matrix, input, context.decode.head, std::move(product), no_bias);
  }
  WEFT_CO_OK(co_await add_norm(context, program, to.hidden, norm, to.normed));
  co_return co_await add_product(context, program, matrix, std::move(product), no_bias);
}

}  // namespace weft::llm
