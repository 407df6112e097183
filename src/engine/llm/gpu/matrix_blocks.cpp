#include "engine/llm/gpu/matrix_blocks.h"

#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/prefill/matrices.h"
#include "engine/kernels/swiglu.h"

namespace weft::llm {
namespace {

using kernels::MatmulOutput;
using kernels::MatmulSpec;

struct MatrixProduct {
  const gpu::Buffer& x;
  bool x_halves = true;
  const gpu::Buffer& y;
  std::uint32_t y_pitch = 0;
  std::uint32_t y_offset = 0;
  MatmulOutput output = MatmulOutput::store;
  bool y_halves = false;
  std::vector<float> bias{};  // Means the same as Product::bias.
  // True if the next norm adds up the partial sums (BuildContext::pending).
  bool sums_wait = false;
};

MatmulSpec spec_of(const BuildContext& context, const GpuMatrix& matrix, const MatrixPart& part,
                   const MatrixProduct& product) {
  return {.format = matrix.format,
          .weight_rows = part.rows,
          .columns = matrix.columns,
          .x_pitch = matrix.columns,
          .y_pitch = product.y_pitch,
          .y_offset = product.y_offset + part.first_row,
          .output = product.output,
          .activation = context.config.activation,
          .bias = !product.bias.empty(),
          .x_halves = product.x_halves,
          .y_halves = product.y_halves};
}

// Adds up partial sums and adds the result to y.
Async<Result<>> add_sum(BuildContext& context, Program& program, const PendingSums& sums,
                        const gpu::Buffer& y, const gpu::Buffer& bias) {
  const RowBuffers& to = context.buffers;
  std::vector<Bindings> groups;
  groups.push_back({{0, to.partials}, {1, y}, {2, bias}, {3, to.batch}});
  Dispatch sum{.workgroups = [spec = sums.spec](const RowCount& count) {
    return kernels::matmul_sum_workgroups(spec, count.rows);
  }};
  co_return co_await context.builder.add(program,
                                         kernels::matmul_sum_pipeline(sums.spec, sums.tuning),
                                         std::move(groups), std::move(sum));
}

Async<Result<>> add_part(BuildContext& context, Program& program, const MatrixPart& part,
                         const MatmulSpec& spec, const MatrixProduct& product,
                         const gpu::Buffer& bias) {
  const RowBuffers& to = context.buffers;
  std::vector<kernels::MatmulFrom> ways =
      kernels::matmul_same_bits(context.device, spec, context.options.sequences);
  if (ways.empty())
    co_return fail(ErrorCode::unsupported,
                   "The device has no f16 matrices for a product of {} x {}.", spec.weight_rows,
                   spec.columns);
  // The product is computed as one sum, for every number of rows, if the buffer has no room for
  // partial sums.
  if (kernels::matmul_partial_bytes(spec, ways.front().tuning, context.options.sequences) >
      to.partials.size())
    for (kernels::MatmulFrom& way : ways) way.tuning.splits = 1;
  const bool parts = ways.front().tuning.splits > 1;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const kernels::MatmulTuning tuning = ways[i].tuning;
    std::vector<Bindings> groups;
    groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
    groups.push_back(
        {{0, product.x}, {1, parts ? to.partials : product.y}, {2, bias}, {3, to.batch}});
    Dispatch dispatch{.rows_min = ways[i].rows_min,
                      .workgroups = [spec, tuning](const RowCount& count) {
                        return kernels::matmul_workgroups(spec, tuning, count.rows);
                      }};
    if (i + 1 < ways.size()) dispatch.rows_max = ways[i + 1].rows_min - 1;
    WEFT_CO_OK(co_await context.builder.add(program, kernels::matmul_pipeline(spec, tuning),
                                            std::move(groups), std::move(dispatch)));
  }
  if (!parts) co_return Result<>();
  const PendingSums sums{.spec = spec, .tuning = ways.front().tuning};
  if (product.sums_wait) {
    context.pending = sums;
    co_return Result<>();
  }
  co_return co_await add_sum(context, program, sums, product.y, bias);
}

// Adds the norm of hidden, with the pending partial sums of the last product.
Async<Result<>> add_norm_of_all(BuildContext& context, Program& program,
                                const gpu::Buffer& weight) {
  const std::uint32_t splits = context.pending ? context.pending->tuning.splits : 0;
  context.pending.reset();
  co_return co_await add_norm_halves(context, program, weight, 1, splits);
}

Async<Result<>> add_matrix_product(BuildContext& context, Program& program, const GpuMatrix& matrix,
                                   MatrixProduct product, std::vector<gpu::Buffer>& keep) {
  for (const MatrixPart& part : matrix.parts) {
    WEFT_CO_ASSIGN(const gpu::Buffer* bias, co_await bias_of(context, product.bias, part, keep));
    WEFT_CO_OK(co_await add_part(context, program, part, spec_of(context, matrix, part, product),
                                 product, *bias));
  }
  co_return Result<>();
}

// Adds hidden += x . matrix; if the layer has an output norm, the product is normed first.
Async<Result<>> add_onto_hidden(BuildContext& context, Program& program, const GpuMatrix& matrix,
                                const gpu::Buffer& x, bool x_halves, const gpu::Buffer& out_norm,
                                std::vector<gpu::Buffer>& keep) {
  const RowBuffers& to = context.buffers;
  const bool normed = static_cast<bool>(out_norm);
  WEFT_CO_OK(co_await add_matrix_product(
      context, program, matrix,
      MatrixProduct{.x = x,
                    .x_halves = x_halves,
                    .y = normed ? to.normed : to.hidden,
                    .y_pitch = context.config.embedding,
                    .output = normed ? MatmulOutput::store : MatmulOutput::accumulate,
                    .sums_wait = !normed && matrix.parts.size() == 1},
      keep));
  if (normed) WEFT_CO_OK(co_await add_norm(context, program, to.normed, out_norm, to.hidden, true));
  co_return Result<>();
}

}  // namespace

Async<Result<>> finish_matrix_layers(BuildContext& context, Program& program) {
  if (!context.pending) co_return Result<>();
  const PendingSums sums = *context.pending;
  context.pending.reset();
  co_return co_await add_sum(context, program, sums, context.buffers.hidden, context.buffers.none);
}

bool matrix_blocks_possible(const gpu::Device& device, const Config& config) {
  const std::uint32_t mixed = config.attention.heads * config.attention.head_dim,
                      values = config.delta_net ? config.delta_net->value_rows() : 32;
  return kernels::prefill_matrix(device) != nullptr && config.embedding % 32 == 0 &&
         config.feed_forward % 32 == 0 && mixed % 32 == 0 && values % 32 == 0;
}

Async<Result<>> add_matrix_projections(BuildContext& context, Program& program, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  WEFT_CO_OK(co_await add_norm_of_all(context, program, part.norm));
  std::uint32_t offset = 0;
  for (const GpuMatrix& matrix : part.projections) {
    MatrixProduct product{
        .x = to.normed, .y = to.projected, .y_pitch = to.shape.projected, .y_offset = offset};
    if (!part.projection_bias.empty())
      product.bias.assign(part.projection_bias.begin() + offset,
                          part.projection_bias.begin() + offset + matrix.rows);
    WEFT_CO_OK(
        co_await add_matrix_product(context, program, matrix, std::move(product), part.vectors));
    offset += matrix.rows;
  }
  co_return Result<>();
}

bool matrix_attention_possible(const BuildContext& context,
                               const kernels::DecodeAttentionSpec& spec) {
  return kernels::decode_attention_possible(context.device, spec, context.team,
                                            context.decode.attention_workgroup);
}

Async<Result<>> add_matrix_attention(BuildContext& context, Program& program,
                                     kernels::DecodeAttentionSpec spec, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  spec.split_from = 0;
  spec.merged_halves = true;
  std::vector<Bindings> attend_groups;
  attend_groups.push_back({{0, to.projected},
                           {1, to.places},
                           {2, *part.turns},
                           {3, spec.rotary.norm ? part.qk_norms : to.none},
                           {4, part.cache[0]},
                           {5, part.cache[1]},
                           {6, to.shares}});
  const std::uint32_t workgroup = context.decode.attention_workgroup;
  Dispatch attend{.workgroups = [spec, team = context.team, workgroup](const RowCount& count) {
    return kernels::decode_attention_workgroups(spec, team, workgroup, count.rows, count.positions);
  }};
  WEFT_CO_OK(co_await context.builder.add(
      program, kernels::decode_attention_pipeline(spec, context.team, workgroup),
      std::move(attend_groups), std::move(attend)));
  std::vector<Bindings> merge_groups;
  merge_groups.push_back({{0, to.shares}, {1, to.projected}, {2, to.mixed}, {4, to.places}});
  Dispatch merge{.workgroups = [spec](const RowCount& count) {
    return kernels::merge_shares_workgroups(spec, count.rows);
  }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::merge_shares_pipeline(spec),
                                          std::move(merge_groups), std::move(merge)));
  co_return co_await add_matrix_output(context, program, part, true);
}

Async<Result<>> add_matrix_output(BuildContext& context, Program& program, GpuLayer& part,
                                  bool mixed_halves) {
  co_return co_await add_onto_hidden(context, program, part.output, context.buffers.mixed,
                                     mixed_halves, part.mixer_out_norm, part.vectors);
}

Async<Result<>> add_matrix_feed_forward(BuildContext& context, Program& program, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const std::uint32_t width = context.config.feed_forward;
  WEFT_CO_OK(co_await add_norm_of_all(context, program, part.feed_forward_norm));
  const bool fused = part.gates.size() == 1 && part.gates[0].parts.size() == 1;
  if (fused) {
    WEFT_CO_OK(co_await add_matrix_product(context, program, part.gates[0],
                                           MatrixProduct{.x = to.normed,
                                                         .y = to.gated,
                                                         .y_pitch = width,
                                                         .output = MatmulOutput::swiglu,
                                                         .y_halves = true},
                                           part.vectors));
  } else {
    std::uint32_t offset = 0;
    for (const GpuMatrix& matrix : part.gates) {
      WEFT_CO_OK(co_await add_matrix_product(
          context, program, matrix,
          MatrixProduct{.x = to.normed, .y = to.gates, .y_pitch = 2 * width, .y_offset = offset},
          part.vectors));
      offset += matrix.rows;
    }
    const kernels::SwigluSpec spec{.width = width, .activation = context.config.activation};
    std::vector<Bindings> groups;
    groups.push_back({{0, to.gates}, {1, to.gated}, {2, to.batch}});
    Dispatch dispatch{.workgroups = [spec](const RowCount& count) {
      return kernels::swiglu_workgroups(spec, count.rows);
    }};
    WEFT_CO_OK(co_await context.builder.add(program, kernels::swiglu_pipeline(spec),
                                            std::move(groups), std::move(dispatch)));
  }
  co_return co_await add_onto_hidden(context, program, part.down, to.gated, fused,
                                     part.feed_forward_out_norm, part.vectors);
}

Async<Result<>> add_matrix_head(BuildContext& context, Program& program, const gpu::Buffer& norm,
                                const GpuMatrix& matrix) {
  const RowBuffers& to = context.buffers;
  WEFT_CO_OK(co_await add_norm_halves(context, program, norm, 1));
  std::vector<gpu::Buffer> no_bias;
  co_return co_await add_matrix_product(
      context, program, matrix,
      MatrixProduct{.x = to.normed, .y = to.logits, .y_pitch = context.config.vocabulary}, no_bias);
}

}  // namespace weft::llm
