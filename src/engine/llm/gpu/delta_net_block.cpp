#include "engine/kernels/delta_net.h"
#include "engine/kernels/prefill/delta_chunk.h"
#include "engine/llm/gpu/blocks.h"
#include "engine/llm/gpu/matrix_blocks.h"
#include "engine/llm/gpu/single_blocks.h"

namespace weft::llm {
namespace {

using gpu::BufferUsage;

gpu::Buffer create_memory(gpu::Device& device, std::uint64_t bytes, const char* label) {
  return device.create_buffer(
      {.size = bytes,
       .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
       .label = label});
}

// Adds the convolution and the recurrence, from projected to mixed. With `single`, every row
// belongs to a sequence of its own and takes the step of one row, for any number of rows in the
// pass.
Async<Result<>> add_recurrence(BuildContext& context, Program& program, GpuLayer& part,
                               bool single) {
  const RowBuffers& to = context.buffers;
  const DeltaNetShape& shape = *context.config.delta_net;
  const std::uint32_t pitch = to.shape.projected;
  const gpu::Buffer &conv = part.vectors[0], &dt_bias = part.vectors[1], &a = part.vectors[2],
                    &norm = part.vectors[3];
  const gpu::Buffer &history = part.recurrent[0].buffer, &state = part.recurrent[1].buffer;

  const kernels::ConvolveSpec convolve{
      .channels = shape.conv_rows(), .taps = shape.conv_taps, .pitch = pitch};
  std::vector<Bindings> convolve_groups;
  convolve_groups.push_back({{0, to.projected},
                             {1, conv},
                             {2, history},
                             {3, to.places},
                             {4, to.convolved},
                             {5, to.batch}});
  Dispatch convolving{.workgroups = [convolve](const RowCount& count) {
    return kernels::convolve_workgroups(convolve, count.rows);
  }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::convolve_pipeline(convolve),
                                          std::move(convolve_groups), std::move(convolving)));

  std::vector<Bindings> remember_groups;
  remember_groups.push_back({{0, to.projected}, {1, history}, {2, to.segments}, {3, to.places}});
  Dispatch remembering{.workgroups = [convolve](const RowCount& count) {
    return kernels::remember_workgroups(convolve, count.segments);
  }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::remember_pipeline(convolve),
                                          std::move(remember_groups), std::move(remembering)));

  const kernels::DeltaStepSpec step{
      .key_heads = shape.key_heads,
      .value_heads = shape.value_heads,
      .key_dim = shape.key_dim,
      .value_dim = shape.value_dim,
      .pitch = pitch,
      .alpha_offset = shape.conv_rows() + shape.value_rows() + shape.value_heads,
      .beta_offset = shape.conv_rows() + shape.value_rows(),
      .epsilon = context.config.norm_epsilon};
  std::vector<Bindings> step_groups;
  step_groups.push_back({{0, to.convolved},
                         {1, to.projected},
                         {2, dt_bias},
                         {3, a},
                         {4, state},
                         {5, to.core},
                         {6, to.segments}});
  if (!single) {
    const kernels::DeltaChunkTuning chunk = kernels::delta_chunk_tuning(context.device, step);
    std::vector<Bindings> chunk_groups = step_groups;
    Dispatch chunking{.rows_min = many_rows, .workgroups = [step, chunk](const RowCount& count) {
                        return kernels::delta_chunk_workgroups(step, chunk, count.segments);
                      }};
    WEFT_CO_OK(co_await context.builder.add(program, kernels::delta_chunk_pipeline(step, chunk),
                                            std::move(chunk_groups), std::move(chunking)));
  }
  Dispatch stepping{.rows_max = single ? ~0u : many_rows - 1,
                    .workgroups = [step, team = context.team,
                                   workgroup = context.workgroup](const RowCount& count) {
                      return kernels::delta_step_workgroups(step, team, workgroup, count.segments);
                    }};
  WEFT_CO_OK(co_await context.builder.add(
      program, kernels::delta_step_pipeline(step, context.team, context.workgroup),
      std::move(step_groups), std::move(stepping)));

  const kernels::GatedNormSpec gated{.heads = shape.value_heads,
                                     .dim = shape.value_dim,
                                     .pitch = pitch,
                                     .offset = shape.conv_rows(),
                                     .epsilon = context.config.norm_epsilon};
  std::vector<Bindings> gated_groups;
  gated_groups.push_back({{0, to.core}, {1, to.projected}, {2, norm}, {3, to.mixed}});
  Dispatch gating{.workgroups = [gated](const RowCount& count) {
    return kernels::gated_norm_workgroups(gated, count.rows);
  }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::gated_norm_pipeline(gated),
                                          std::move(gated_groups), std::move(gating)));
  co_return Result<>();
}

}  // namespace

Async<Result<>> add_delta_net(BuildContext& context, Programs programs, const DeltaNet& weights,
                              GpuLayer& part) {
  const DeltaNetShape& shape = *context.config.delta_net;
  const std::uint32_t slots = context.options.sequences;

  // The projections: queries, keys and values (which are convolved), gates, betas and alphas.
  std::vector<Weight> tensors{weights.qkv, weights.gate, weights.beta, weights.alpha},
      output{weights.output};
  WEFT_CO_ASSIGN(part.projections, co_await context.loader.matrices(std::move(tensors)));
  WEFT_CO_ASSIGN(part.output, co_await context.loader.matrix(std::move(output)));

  part.vectors.reserve(64);  // Reserved, because bindings keep pointers to the elements.
  for (const Weight weight : {weights.conv, weights.dt_bias, weights.a, weights.norm}) {
    WEFT_CO_ASSIGN(gpu::Buffer buffer, co_await context.loader.vector(*weight));
    part.vectors.push_back(std::move(buffer));
  }
  const std::uint64_t history_bytes = std::uint64_t{shape.conv_rows()} * (shape.conv_taps - 1) * 4;
  const std::uint64_t state_bytes =
      std::uint64_t{shape.value_heads} * shape.key_dim * shape.value_dim * 4;
  part.recurrent.push_back(
      {.buffer = create_memory(context.device, slots * history_bytes, "history"),
       .slot_bytes = history_bytes});
  part.recurrent.push_back({.buffer = create_memory(context.device, slots * state_bytes, "state"),
                            .slot_bytes = state_bytes});

  WEFT_CO_OK(co_await add_projections(context, programs.rows, part));
  WEFT_CO_OK(co_await add_recurrence(context, programs.rows, part, false));
  WEFT_CO_OK(co_await add_output(context, programs.rows, part));
  if (programs.single != nullptr) {
    const bool halves = context.drawn_in_halves();
    WEFT_CO_OK(co_await (halves ? add_matrix_projections(context, *programs.single, part)
                                : add_single_projections(context, *programs.single, part)));
    WEFT_CO_OK(co_await add_recurrence(context, *programs.single, part, true));
    WEFT_CO_OK(co_await (halves ? add_matrix_output(context, *programs.single, part, false)
                                : add_single_output(context, *programs.single, part)));
  }
  co_return Result<>();
}

}  // namespace weft::llm
