#include "common/base/check.h"
#include "engine/kernels/experts/choose_experts.h"
#include "engine/kernels/experts/expert_product.h"
#include "engine/kernels/matvec.h"
#include "engine/kernels/swiglu.h"
#include "engine/llm/gpu/blocks.h"

namespace weft::llm {
namespace {

using kernels::ExpertProductSpec;

// Adds a product with the chosen experts. `spec` describes the matrix's tensors; this function sets
// the fields that differ between the parts of the matrix.
Async<Result<>> add_expert_product(BuildContext& context, Program& program, const GpuMatrix& matrix,
                                   ExpertProductSpec spec, const gpu::Buffer& x,
                                   const gpu::Buffer& y) {
  spec.format = matrix.format;
  spec.columns = matrix.columns;
  spec.tensors = matrix.rows / (spec.experts * spec.outputs);
  for (const MatrixPart& part : matrix.parts) {
    spec.part_first = part.first_row;
    spec.part_rows = part.rows;
    std::vector<Bindings> groups;
    groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
    groups.push_back({{0, x}, {1, y}, {2, context.buffers.expert_choice}});
    Dispatch dispatch{.workgroups = [spec, team = context.team,
                                     workgroup = context.workgroup](const RowCount& count) {
      return kernels::expert_product_workgroups(spec, team, workgroup, count.rows);
    }};
    WEFT_CO_OK(co_await context.builder.add(
        program, kernels::expert_product_pipeline(spec, context.team, context.workgroup),
        std::move(groups), std::move(dispatch)));
  }
  co_return Result<>();
}

// Adds the router's product, whose sums have the same order for any number of rows: its scores
// decide which experts are used, and an answer may be read again in passes of other sizes.
Async<Result<>> add_scores(BuildContext& context, Program& program, const GpuMatrix& matrix) {
  const RowBuffers& to = context.buffers;
  for (const MatrixPart& part : matrix.parts) {
    const kernels::MatvecSpec spec{.format = matrix.format,
                                   .weight_rows = part.rows,
                                   .columns = matrix.columns,
                                   .x_pitch = matrix.columns,
                                   .y_pitch = matrix.rows,
                                   .y_offset = part.first_row};
    std::vector<Bindings> groups;
    groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
    groups.push_back({{0, to.normed}, {1, to.expert_scores}, {2, to.none}, {3, to.batch}});
    Dispatch dispatch{.workgroups = [spec, team = context.team,
                                     workgroup = context.workgroup](const RowCount& count) {
      return kernels::matvec_workgroups(spec, team, workgroup, count.rows);
    }};
    WEFT_CO_OK(co_await context.builder.add(
        program, kernels::matvec_pipeline(spec, context.team, context.workgroup), std::move(groups),
        std::move(dispatch)));
  }
  co_return Result<>();
}

}  // namespace

Async<Result<>> load_experts(BuildContext& context, const Experts& weights, GpuLayer& part) {
  std::vector<Weight> router{weights.router}, gate_and_up{weights.gate, weights.up},
      down{weights.down};
  WEFT_CO_ASSIGN(part.router, co_await context.loader.matrix(std::move(router)));
  WEFT_CO_ASSIGN(part.gates, co_await context.loader.matrices(std::move(gate_and_up)));
  WEFT_CO_ASSIGN(part.down, co_await context.loader.matrix(std::move(down)));
  co_return Result<>();
}

Async<Result<>> add_experts(BuildContext& context, Program& program, GpuLayer& part) {
  check(!part.feed_forward_out_norm, "no architecture norms what experts give");
  const RowBuffers& to = context.buffers;
  const ExpertsShape& shape = *context.config.experts;
  const std::uint32_t width = shape.feed_forward, embedding = context.config.embedding;
  WEFT_CO_OK(co_await add_norm(context, program, to.hidden, part.feed_forward_norm, to.normed));
  WEFT_CO_OK(co_await add_scores(context, program, part.router));

  const kernels::ChooseExpertsSpec choose{.experts = shape.count, .used = shape.used};
  std::vector<Bindings> choose_groups;
  choose_groups.push_back({{0, to.expert_scores}, {1, to.expert_choice}});
  Dispatch choose_dispatch{.workgroups = [](const RowCount& count) {
    return kernels::choose_experts_workgroups(count.rows);
  }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::choose_experts_pipeline(choose),
                                          std::move(choose_groups), std::move(choose_dispatch)));

  std::uint32_t offset = 0;
  for (const GpuMatrix& matrix : part.gates) {
    WEFT_CO_OK(co_await add_expert_product(context, program, matrix,
                                           {.experts = shape.count,
                                            .used = shape.used,
                                            .outputs = width,
                                            .y_pitch = 2 * width,
                                            .y_offset = offset},
                                           to.normed, to.gates));
    offset += matrix.rows / shape.count;
  }
  // There is one row of gates and ups for each expert that a row uses.
  const kernels::SwigluSpec spec{.width = width, .activation = context.config.activation};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.gates}, {1, to.gated}, {2, to.batch}});
  Dispatch dispatch{.workgroups = [spec, used = shape.used](const RowCount& count) {
    return kernels::swiglu_workgroups(spec, count.rows * used);
  }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::swiglu_pipeline(spec),
                                          std::move(groups), std::move(dispatch)));
  co_return co_await add_expert_product(context, program, part.down,
                                        {.experts = shape.count,
                                         .used = shape.used,
                                         .outputs = embedding,
                                         .y_pitch = embedding,
                                         .output = ExpertProductSpec::Output::summed},
                                        to.gated, to.hidden);
}

}  // namespace weft::llm
