#include "engine/llm/gpu/blocks.h"

#include <array>

#include "engine/kernels/matvec.h"
#include "engine/kernels/rms_norm.h"
#include "engine/kernels/swiglu.h"

namespace weft::llm {

Async<Result<>> add_product(BuildContext& context, Program& program, const GpuMatrix& matrix, Product product, std::vector<gpu::Buffer>& keep) {
  struct Variant {
    std::uint32_t rows_min, rows_max, batch;
  };
  // Several rows share a read of the weights, where there are several.
  constexpr std::array<Variant, 2> variants = {{{1, 1, 1}, {2, ~0u, 4}}};
  for (const MatrixPart& part : matrix.parts) {
    const gpu::Buffer* bias = &context.buffers.none;
    if (!product.bias.empty()) {
      const auto first = product.bias.begin() + part.first_row;
      WEFT_CO_ASSIGN(gpu::Buffer buffer, co_await context.loader.vector(std::vector<float>(first, first + part.rows)));
      keep.push_back(std::move(buffer));
      bias = &keep.back();
    }
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
                        .workgroups = [spec, team = context.team, workgroup = context.workgroup](const RowCount& count) {
                          return kernels::matvec_workgroups(spec, team, workgroup, count.rows);
                        }};
      WEFT_CO_OK(co_await context.builder.add(program, kernels::matvec_pipeline(spec, context.team, context.workgroup), std::move(groups),
                                              std::move(dispatch)));
    }
  }
  co_return Result<>();
}

Async<Result<>> add_norm(BuildContext& context, Program& program, const gpu::Buffer& x, const gpu::Buffer& weight, const gpu::Buffer& y) {
  const kernels::RmsNormSpec spec{.columns = context.config.embedding, .epsilon = context.config.norm_epsilon};
  std::vector<Bindings> groups;
  groups.push_back({{0, x}, {1, weight}, {2, y}, {3, context.buffers.none}});
  Dispatch dispatch{.workgroups = [](const RowCount& count) { return kernels::rms_norm_workgroups(count.rows); }};
  co_return co_await context.builder.add(program, kernels::rms_norm_pipeline(spec), std::move(groups), std::move(dispatch));
}

namespace {

Async<Result<>> add_feed_forward(BuildContext& context, Program& program, const FeedForward& weights, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const std::uint32_t width = context.config.feed_forward;
  std::vector<Weight> gate_and_up{weights.gate, weights.up};
  WEFT_CO_ASSIGN(std::vector<GpuMatrix> gates, co_await context.loader.matrices(std::move(gate_and_up)));
  std::uint32_t offset = 0;
  for (GpuMatrix& matrix : gates) {
    WEFT_CO_OK(co_await add_product(
        context, program, matrix,
        Product{.x = to.normed, .x_pitch = context.config.embedding, .y = to.gates, .y_pitch = 2 * width, .y_offset = offset}, part.vectors));
    offset += matrix.rows;
    part.matrices.push_back(std::move(matrix));
  }
  const kernels::SwigluSpec spec{.width = width};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.gates}, {1, to.gated}, {2, to.batch}});
  Dispatch dispatch{.workgroups = [spec](const RowCount& count) { return kernels::swiglu_workgroups(spec, count.rows); }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::swiglu_pipeline(spec), std::move(groups), std::move(dispatch)));

  std::vector<Weight> down{weights.down};
  WEFT_CO_ASSIGN(GpuMatrix matrix, co_await context.loader.matrix(std::move(down)));
  WEFT_CO_OK(co_await add_product(context, program, matrix,
                                  Product{.x = to.gated, .x_pitch = width, .y = to.hidden, .y_pitch = context.config.embedding, .accumulate = true},
                                  part.vectors));
  part.matrices.push_back(std::move(matrix));
  co_return Result<>();
}

}  // namespace

Async<Result<>> add_layer(BuildContext& context, const gguf::Source& source, Program& program, const Layer& layer, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  part.vectors.reserve(32);  // Bindings point at them while the layer is added.
  for (const Weight norm : {layer.norm, layer.feed_forward_norm}) {
    std::vector<WeightLoader::Vector> one(1);
    one[0].weight = norm;
    WEFT_CO_ASSIGN(gpu::Buffer buffer, co_await context.loader.vectors(std::move(one)));
    part.vectors.push_back(std::move(buffer));
  }
  WEFT_CO_OK(co_await add_norm(context, program, to.hidden, part.vectors[0], to.normed));
  if (const auto* attention = std::get_if<Attention>(&layer.mixer)) {
    WEFT_CO_OK(co_await add_attention(context, source, program, *attention, part));
  } else {
    WEFT_CO_OK(co_await add_delta_net(context, program, std::get<DeltaNet>(layer.mixer), part));
  }
  WEFT_CO_OK(co_await add_norm(context, program, to.hidden, part.vectors[1], to.normed));
  co_return co_await add_feed_forward(context, program, layer.feed_forward, part);
}

}  // namespace weft::llm
