#include "engine/llm/gpu/blocks.h"

#include <array>

#include "engine/kernels/matvec.h"
#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/prefill/norm_halves.h"
#include "engine/kernels/rms_norm.h"
#include "engine/kernels/swiglu.h"
#include "engine/llm/gpu/matrix_blocks.h"
#include "engine/llm/gpu/single_blocks.h"

namespace weft::llm {

Async<Result<>> add_matmul(BuildContext& context, Program& program, const MatrixPart& part,
                           kernels::MatmulSpec spec, const gpu::Buffer& x, const gpu::Buffer& y,
                           const gpu::Buffer& bias, std::uint32_t rows_min) {
  const RowBuffers& to = context.buffers;
  kernels::MatmulTuning tuning = kernels::matmul_tuning(
      context.device, spec,
      {.rows = to.shape.rows, .exact = exact_products(context.device, context.options)});
  if (tuning.splits > 1 &&
      kernels::matmul_partial_bytes(spec, tuning, to.shape.rows) > to.partials.size())
    tuning.splits = 1;
  const bool parts = tuning.splits > 1;
  std::vector<Bindings> groups;
  groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
  groups.push_back({{0, x}, {1, parts ? to.partials : y}, {2, bias}, {3, to.batch}});
  Dispatch dispatch{.rows_min = rows_min, .workgroups = [spec, tuning](const RowCount& count) {
                      return kernels::matmul_workgroups(spec, tuning, count.rows);
                    }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::matmul_pipeline(spec, tuning),
                                          std::move(groups), std::move(dispatch)));
  if (!parts) co_return Result<>();
  std::vector<Bindings> sum_groups;
  sum_groups.push_back({{0, to.partials}, {1, y}, {2, bias}, {3, to.batch}});
  Dispatch sum{.rows_min = rows_min, .workgroups = [spec](const RowCount& count) {
                 return kernels::matmul_sum_workgroups(spec, count.rows);
               }};
  co_return co_await context.builder.add(program, kernels::matmul_sum_pipeline(spec, tuning),
                                         std::move(sum_groups), std::move(sum));
}

Async<Result<const gpu::Buffer*>> bias_of(BuildContext& context, const std::vector<float>& bias,
                                          const MatrixPart& part, std::vector<gpu::Buffer>& keep) {
  if (bias.empty()) co_return &context.buffers.none;
  const auto first = bias.begin() + part.first_row;
  WEFT_CO_ASSIGN(gpu::Buffer buffer,
                 co_await context.loader.vector(std::vector<float>(first, first + part.rows)));
  keep.push_back(std::move(buffer));
  co_return &keep.back();
}

kernels::MatmulSpec matmul_spec(const GpuMatrix& matrix, const MatrixPart& part,
                                const Product& product) {
  return {.format = matrix.format,
          .weight_rows = part.rows,
          .columns = matrix.columns,
          .x_pitch = product.x_pitch,
          .y_pitch = product.y_pitch,
          .y_offset = product.y_offset + part.first_row,
          .output =
              product.accumulate ? kernels::MatmulOutput::accumulate : kernels::MatmulOutput::store,
          .bias = !product.bias.empty(),
          .x_halves = product.x_halves};
}

Async<Result<>> add_product(BuildContext& context, Program& program, const GpuMatrix& matrix,
                            Product product, std::vector<gpu::Buffer>& keep) {
  struct Variant {
    std::uint32_t rows_min, rows_max, batch;
  };
  // Passes of several rows use a batch, so that the rows share a read of the weights.
  const bool many = product.rows_max >= many_rows && matrix.columns % 32 == 0;
  const std::array<Variant, 2> variants = {
      {{1, 1, 1}, {2, many ? many_rows - 1 : product.rows_max, 4}}};
  for (const MatrixPart& part : matrix.parts) {
    WEFT_CO_ASSIGN(const gpu::Buffer* bias, co_await bias_of(context, product.bias, part, keep));
    for (const Variant& variant : variants) {
      const kernels::MatvecSpec spec{.format = matrix.format,
                                     .weight_rows = part.rows,
                                     .columns = matrix.columns,
                                     .x_pitch = product.x_pitch,
                                     .y_pitch = product.y_pitch,
                                     .y_offset = product.y_offset + part.first_row,
                                     .batch = variant.batch,
                                     .bias = !product.bias.empty(),
                                     .accumulate = product.accumulate};
      std::vector<Bindings> groups;
      groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
      groups.push_back({{0, product.x}, {1, product.y}, {2, *bias}, {3, context.buffers.batch}});
      Dispatch dispatch{.rows_min = variant.rows_min,
                        .rows_max = variant.rows_max,
                        .workgroups = [spec, team = context.team,
                                       workgroup = context.workgroup](const RowCount& count) {
                          return kernels::matvec_workgroups(spec, team, workgroup, count.rows);
                        }};
      WEFT_CO_OK(co_await context.builder.add(
          program, kernels::matvec_pipeline(spec, context.team, context.workgroup),
          std::move(groups), std::move(dispatch)));
    }
    if (many) {
      WEFT_CO_OK(co_await add_matmul(context, program, part, matmul_spec(matrix, part, product),
                                     product.x, product.y, *bias));
    }
  }
  co_return Result<>();
}

Async<Result<>> add_norm(BuildContext& context, Program& program, const gpu::Buffer& x,
                         const gpu::Buffer& weight, const gpu::Buffer& y, bool accumulate) {
  const kernels::RmsNormSpec spec{.columns = context.config.embedding,
                                  .epsilon = context.config.norm_epsilon,
                                  .accumulate = accumulate};
  std::vector<Bindings> groups;
  groups.push_back({{0, x}, {1, weight}, {2, y}, {3, context.buffers.none}});
  Dispatch dispatch{
      .workgroups = [](const RowCount& count) { return kernels::rms_norm_workgroups(count.rows); }};
  co_return co_await context.builder.add(program, kernels::rms_norm_pipeline(spec),
                                         std::move(groups), std::move(dispatch));
}

Async<Result<>> add_norm_for_products(BuildContext& context, Program& program,
                                      const gpu::Buffer& weight) {
  const RowBuffers& to = context.buffers;
  const std::uint32_t columns = context.config.embedding;
  const kernels::RmsNormSpec spec{.columns = columns, .epsilon = context.config.norm_epsilon};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.hidden}, {1, weight}, {2, to.normed}, {3, to.none}});
  Dispatch few{
      .workgroups = [](const RowCount& count) { return kernels::rms_norm_workgroups(count.rows); }};
  if (context.halves) few.rows_max = many_rows - 1;
  WEFT_CO_OK(co_await context.builder.add(program, kernels::rms_norm_pipeline(spec),
                                          std::move(groups), std::move(few)));
  if (!context.halves) co_return Result<>();
  co_return co_await add_norm_halves(context, program, weight, many_rows);
}

Async<Result<>> add_norm_halves(BuildContext& context, Program& program, const gpu::Buffer& weight,
                                std::uint32_t rows_min, std::uint32_t splits) {
  const RowBuffers& to = context.buffers;
  const kernels::NormHalvesSpec spec{.columns = context.config.embedding,
                                     .epsilon = context.config.norm_epsilon,
                                     .splits = splits};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.hidden}, {1, weight}, {2, to.normed}});
  if (splits > 0) {
    groups[0].push_back({3, to.partials});
    groups[0].push_back({4, to.batch});
  }
  Dispatch dispatch{.rows_min = rows_min, .workgroups = [](const RowCount& count) {
                      return kernels::norm_halves_workgroups(count.rows);
                    }};
  co_return co_await context.builder.add(program, kernels::norm_halves_pipeline(spec),
                                         std::move(groups), std::move(dispatch));
}

Async<Result<>> add_projections(BuildContext& context, Program& program, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  std::uint32_t offset = 0;
  for (const GpuMatrix& matrix : part.projections) {
    Product product{.x = to.normed,
                    .x_pitch = context.config.embedding,
                    .y = to.projected,
                    .y_pitch = to.shape.projected,
                    .y_offset = offset,
                    .x_halves = context.halves};
    if (!part.projection_bias.empty())
      product.bias.assign(part.projection_bias.begin() + offset,
                          part.projection_bias.begin() + offset + matrix.rows);
    WEFT_CO_OK(co_await add_product(context, program, matrix, std::move(product), part.vectors));
    offset += matrix.rows;
  }
  co_return Result<>();
}

namespace {

// Adds hidden += x . matrix; if the layer has an output norm, the product is normed first.
Async<Result<>> add_onto_hidden(BuildContext& context, Program& program, const GpuMatrix& matrix,
                                const gpu::Buffer& x, bool x_halves, const gpu::Buffer& out_norm,
                                std::vector<gpu::Buffer>& keep) {
  const RowBuffers& to = context.buffers;
  const bool normed = static_cast<bool>(out_norm);
  WEFT_CO_OK(co_await add_product(context, program, matrix,
                                  Product{.x = x,
                                          .x_pitch = matrix.columns,
                                          .y = normed ? to.normed : to.hidden,
                                          .y_pitch = context.config.embedding,
                                          .accumulate = !normed,
                                          .x_halves = x_halves},
                                  keep));
  if (normed) WEFT_CO_OK(co_await add_norm(context, program, to.normed, out_norm, to.hidden, true));
  co_return Result<>();
}

}  // namespace

Async<Result<>> add_output(BuildContext& context, Program& program, GpuLayer& part,
                           bool mixed_halves) {
  co_return co_await add_onto_hidden(context, program, part.output, context.buffers.mixed,
                                     mixed_halves, part.mixer_out_norm, part.vectors);
}

namespace {

Async<Result<>> load_feed_forward(BuildContext& context, const FeedForward& weights,
                                  GpuLayer& part) {
  std::vector<Weight> gate_and_up{weights.gate, weights.up}, down{weights.down};
  WEFT_CO_ASSIGN(part.gates, co_await context.loader.matrices(std::move(gate_and_up)));
  WEFT_CO_ASSIGN(part.down, co_await context.loader.matrix(std::move(down)));
  co_return Result<>();
}

Async<Result<>> add_feed_forward(BuildContext& context, Program& program, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const std::uint32_t width = context.config.feed_forward, embedding = context.config.embedding;
  WEFT_CO_OK(co_await add_norm_for_products(context, program, part.feed_forward_norm));
  // Passes of many rows compute gates, ups and their activation in one product.
  const bool fused = part.gates.size() == 1 && part.gates[0].parts.size() == 1 &&
                     embedding % 32 == 0 && width % 32 == 0;
  const std::uint32_t rows_max = fused ? many_rows - 1 : ~0u;
  const bool gated_halves = fused && context.halves;
  if (fused) {
    const kernels::MatmulSpec many{.format = part.gates[0].format,
                                   .weight_rows = 2 * width,
                                   .columns = embedding,
                                   .x_pitch = embedding,
                                   .y_pitch = width,
                                   .output = kernels::MatmulOutput::swiglu,
                                   .activation = context.config.activation,
                                   .x_halves = context.halves,
                                   .y_halves = gated_halves};
    WEFT_CO_OK(co_await add_matmul(context, program, part.gates[0].parts[0], many, to.normed,
                                   to.gated, to.none));
  }
  std::uint32_t offset = 0;
  for (const GpuMatrix& matrix : part.gates) {
    WEFT_CO_OK(co_await add_product(context, program, matrix,
                                    Product{.x = to.normed,
                                            .x_pitch = embedding,
                                            .y = to.gates,
                                            .y_pitch = 2 * width,
                                            .y_offset = offset,
                                            .rows_max = rows_max,
                                            .x_halves = context.halves},
                                    part.vectors));
    offset += matrix.rows;
  }
  const kernels::SwigluSpec spec{.width = width, .activation = context.config.activation};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.gates}, {1, to.gated}, {2, to.batch}});
  Dispatch dispatch{.rows_max = rows_max, .workgroups = [spec](const RowCount& count) {
                      return kernels::swiglu_workgroups(spec, count.rows);
                    }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::swiglu_pipeline(spec),
                                          std::move(groups), std::move(dispatch)));
  co_return co_await add_onto_hidden(context, program, part.down, to.gated, gated_halves,
                                     part.feed_forward_out_norm, part.vectors);
}

}  // namespace

Async<Result<>> add_layer(BuildContext& context, const gguf::Source& source, Programs programs,
                          const Layer& layer, GpuLayer& part) {
  WEFT_CO_ASSIGN(part.norm, co_await context.loader.vector(*layer.norm));
  WEFT_CO_ASSIGN(part.feed_forward_norm, co_await context.loader.vector(*layer.feed_forward_norm));
  for (const auto& [norm, buffer] :
       {std::pair(layer.mixer_out_norm, &part.mixer_out_norm),
        std::pair(layer.feed_forward_out_norm, &part.feed_forward_out_norm)}) {
    if (norm == nullptr) continue;
    WEFT_CO_ASSIGN(*buffer, co_await context.loader.vector(*norm));
  }
  const auto* experts = std::get_if<Experts>(&layer.feed_forward);
  if (experts != nullptr) {
    WEFT_CO_OK(co_await load_experts(context, *experts, part));
  } else {
    WEFT_CO_OK(
        co_await load_feed_forward(context, std::get<FeedForward>(layer.feed_forward), part));
  }
  WEFT_CO_OK(co_await add_norm_for_products(context, programs.rows, part.norm));
  if (const auto* attention = std::get_if<Attention>(&layer.mixer)) {
    WEFT_CO_OK(co_await add_attention(context, source, programs, *attention, part));
  } else {
    WEFT_CO_OK(co_await add_delta_net(context, programs, std::get<DeltaNet>(layer.mixer), part));
  }
  if (experts != nullptr) {
    WEFT_CO_OK(co_await add_experts(context, programs.rows, part));
    if (programs.single == nullptr) co_return Result<>();
    if (context.drawn_in_halves())
      WEFT_CO_OK(co_await finish_matrix_layers(context, *programs.single));
    co_return co_await add_experts(context, *programs.single, part);
  }
  WEFT_CO_OK(co_await add_feed_forward(context, programs.rows, part));
  if (programs.single != nullptr) {
    if (context.drawn_in_halves()) {
      WEFT_CO_OK(co_await add_matrix_feed_forward(context, *programs.single, part));
    } else if (single_feed_forward_possible(context, part)) {
      WEFT_CO_OK(co_await add_single_feed_forward(context, *programs.single, part));
    } else {
      WEFT_CO_OK(co_await add_feed_forward(context, *programs.single, part));
    }
  }
  co_return Result<>();
}

}  // namespace weft::llm
