#include "engine/llm/gpu/model_program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/kernels/embed.h"
#include "engine/kernels/prefill/matrices.h"
#include "engine/llm/gpu/blocks.h"
#include "engine/llm/gpu/matrix_blocks.h"
#include "engine/llm/gpu/single_blocks.h"

namespace weft::llm {

std::vector<float> turn_table(const std::vector<double>& frequencies, double amplitude,
                              std::uint32_t positions) {
  std::vector<float> turns;
  turns.reserve(std::size_t{positions} * frequencies.size() * 2);
  for (std::uint32_t position = 0; position < positions; ++position) {
    for (const double frequency : frequencies) {
      turns.push_back(static_cast<float>(amplitude * std::cos(position * frequency)));
      turns.push_back(static_cast<float>(amplitude * std::sin(position * frequency)));
    }
  }
  return turns;
}

namespace {

Async<Result<>> add_embed(BuildContext& context, Program& program, const GpuMatrix& matrix) {
  const RowBuffers& to = context.buffers;
  for (const MatrixPart& part : matrix.parts) {
    const kernels::EmbedSpec spec{.format = matrix.format,
                                  .weight_rows = part.rows,
                                  .first_token = part.first_row,
                                  .columns = matrix.columns,
                                  .scale = context.config.embedding_scale};
    std::vector<Bindings> groups;
    groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
    groups.push_back({{0, to.tokens}, {1, to.hidden}, {2, to.batch}});
    Dispatch dispatch{
        .workgroups = [](const RowCount& count) { return kernels::embed_workgroups(count.rows); }};
    WEFT_CO_OK(co_await context.builder.add(program, kernels::embed_pipeline(spec),
                                            std::move(groups), std::move(dispatch)));
  }
  co_return Result<>();
}

}  // namespace

// The values for GPUs were measured on an NVIDIA H200 (docs/performance.md). A CPU device is given
// nearly undivided work.
DecodeTuning decode_tuning(const gpu::Device& device, const Config& config) {
  const kernels::Team team = kernels::Team::of(device);
  const bool cpu = device.adapter().kind == gpu::AdapterKind::cpu;
  DecodeTuning tuning;
  const std::uint32_t workgroup = kernels::workgroup_size(device, cpu ? team.size * 8 : 256);
  tuning.projections = tuning.output = tuning.down = tuning.head = {.workgroup = workgroup};
  tuning.gates = {
      .workgroup = std::min(kernels::workgroup_size(device, cpu ? 256 : 512), 32 * team.size),
      .rows_each = 2};
  // The norm is a dispatch of its own, because each of the head's many workgroups would compute it
  // again.
  tuning.head.norm_in_front = true;
  // With several sequences, a read of their rows serves two weight rows; more weight rows would
  // take too many registers.
  for (DecodeTuning::Matrix* matrix :
       {&tuning.projections, &tuning.output, &tuning.down, &tuning.head})
    matrix->rows_each_many = 2;
  // The tiles were found by `decode_bench sweep`; those of swiglu have outputs in blocks of 32. A
  // CPU's tiles have few sums, because its driver takes long to compile many.
  using Tile = kernels::ProductTile;
  if (cpu) {
    const Tile small{.weights = 2, .rows = 4, .teams_across = 4};
    for (DecodeTuning::Matrix* matrix :
         {&tuning.projections, &tuning.output, &tuning.down, &tuning.head})
      matrix->tiles = {{5, small}};
    tuning.gates.tiles = {{5, {.weights = 4, .rows = 2, .teams_across = 16}}};
  } else {
    const Tile few{.weights = 4, .rows = 4, .teams_across = 2, .teams_down = 2},
        deep{.weights = 8, .rows = 4, .teams_across = 4},
        many{.weights = 4, .rows = 16, .teams_across = 2, .teams_down = 2};
    tuning.projections.tiles = {{9, few}, {17, many}};
    tuning.output.tiles = {{5, few}, {49, many}};
    tuning.down.tiles = {{9, deep}, {49, many}};
    tuning.gates.tiles = {{5, {.weights = 8, .rows = 8, .teams_across = 8}},
                          {12, {.weights = 4, .rows = 16, .teams_across = 16}}};
    tuning.head.tiles = {{5, {.weights = 8, .rows = 8, .teams_across = 2}}, {17, many}};
  }
  if (!cpu) {
    // Several teams share a weight row if rows are long, so that a thread waits once, and if there
    // are few rows, so that every part of the GPU has work.
    constexpr std::uint32_t few_rows = 1536, steps = 2, share_max = 4;
    tuning.down.share =
        std::clamp(std::bit_floor(config.feed_forward / 16 / team.size / steps), 1u, share_max);
    if (config.embedding < few_rows) {
      tuning.output.share = 2;
      tuning.down.share *= 2;
      tuning.down.workgroup = kernels::workgroup_size(device, 2 * workgroup);
    }
  }
  const AttentionShape& attention = config.attention;
  constexpr std::uint32_t attention_workgroups = 384, splits_max = 64;
  tuning.attention_workgroup = kernels::workgroup_size(device, 128);
  tuning.splits =
      cpu ? 2 : std::clamp(attention_workgroups / std::max(1u, attention.kv_heads), 1u, splits_max);
  tuning.share_min = 32;
  // On a software GPU attention takes three times as long with teams, and their kernels take long
  // to compile (docs/performance.md). All engines on it attend without teams, so that the bits are
  // the same for every number of sequences, too.
  if (cpu) tuning.teams_from = std::numeric_limits<std::uint32_t>::max();
  // For few positions, one workgroup for each head is faster than splits: on a GPU below 320
  // positions for a head_dim of 64 or less, and below 20,480 / head_dim for a head_dim up to 128.
  // Attention with wider heads is always split.
  tuning.whole_workgroup = kernels::workgroup_size(device, 512);
  tuning.split_from = cpu                        ? 256
                      : attention.head_dim > 128 ? 1
                                                 : 320 * 64 / std::max(64u, attention.head_dim);
  tuning.packed = device.has("packed_4x8_integer_dot_product");
  return tuning;
}

std::uint64_t ModelProgram::weight_bytes() const {
  std::uint64_t sum = embedding_.bytes() + output_.bytes() + output_norm_.size();
  for (const GpuLayer& part : parts_) {
    sum += part.output.bytes() + part.down.bytes() + part.router.bytes();
    for (const GpuMatrix& matrix : part.projections) sum += matrix.bytes();
    for (const GpuMatrix& matrix : part.gates) sum += matrix.bytes();
    for (const gpu::Buffer& vector : part.vectors) sum += vector.size();
  }
  return sum;
}

std::uint64_t ModelProgram::cache_bytes() const {
  std::uint64_t sum = 0;
  for (const GpuLayer& part : parts_) {
    for (const gpu::Buffer& buffer : part.cache) sum += buffer.size();
    for (const GpuLayer::Memory& memory : part.recurrent) sum += memory.buffer.size();
  }
  return sum;
}

Async<Result<>> ModelProgram::load(BuildContext& context, const Model& model,
                                   const gguf::Source& source) {
  const RowBuffers& to = context.buffers;
  WEFT_CO_ASSIGN(const std::vector<double> frequencies, rope_frequencies(model, source));
  WEFT_CO_ASSIGN(turns_, co_await context.loader.vector(turn_table(
                             frequencies, context.config.rope.amplitude, context.options.context)));
  context.turns = &turns_;
  if (const auto& local = context.config.local) {
    WEFT_CO_ASSIGN(local_turns_,
                   co_await context.loader.vector(turn_table(
                       local->rope.frequencies, local->rope.amplitude, context.options.context)));
    context.local_turns = &local_turns_;
  }
  const bool last = context.options.layers.end == context.config.layers,
             tied = model.output == model.token_embedding;
  if (context.options.layers.begin == 0 || (last && tied)) {
    std::vector<Weight> tensors{model.token_embedding};
    WEFT_CO_ASSIGN(embedding_, co_await context.loader.matrix(std::move(tensors)));
  }
  if (context.options.layers.begin == 0)
    WEFT_CO_OK(co_await add_embed(context, embed_, embedding_));
  has_single_ = context.options.activations != Activations::f32;
  parts_.reserve(context.options.layers.end - context.options.layers.begin);
  for (std::uint32_t i = context.options.layers.begin; i < context.options.layers.end; ++i)
    WEFT_CO_OK(co_await add_layer(
        context, source,
        Programs{.rows = layers_, .single = has_single_ ? &single_layers_ : nullptr},
        model.layers[i], parts_.emplace_back()));
  if (context.drawn_in_halves()) WEFT_CO_OK(co_await finish_matrix_layers(context, single_layers_));
  if (last) {
    WEFT_CO_ASSIGN(output_norm_, co_await context.loader.vector(*model.output_norm));
    if (!tied) {
      std::vector<Weight> tensors{model.output};
      WEFT_CO_ASSIGN(output_, co_await context.loader.matrix(std::move(tensors)));
    }
    WEFT_CO_OK(co_await add_norm(context, head_, to.hidden, output_norm_, to.normed));
    std::vector<gpu::Buffer> no_bias;
    WEFT_CO_OK(co_await add_product(context, head_, tied ? embedding_ : output_,
                                    Product{.x = to.normed,
                                            .x_pitch = context.config.embedding,
                                            .y = to.logits,
                                            .y_pitch = context.config.vocabulary},
                                    no_bias));
    if (has_single_)
      WEFT_CO_OK(co_await (context.drawn_in_halves() ? add_matrix_head : add_single_head)(
          context, single_head_, output_norm_, tied ? embedding_ : output_));
  }
  co_return co_await context.loader.finish();
}

Async<Result<>> ModelProgram::prepare(DispatchMaker& maker, RowCount count, Parts parts,
                                      std::uint32_t further) {
  if (parts.embed) WEFT_CO_OK(co_await embed_.prepare(maker, count, further));
  if (parts.layers) {
    Program& layers = single(count) ? single_layers_ : layers_;
    WEFT_CO_OK(co_await layers.prepare(maker, count, further));
  }
  if (parts.head) {
    Program& head = single(count) ? single_head_ : head_;
    WEFT_CO_OK(co_await head.prepare(maker, count, further));
  }
  co_return Result<>();
}

Async<Result<std::unique_ptr<ModelProgram>>> ModelProgram::create(
    gpu::Device& device, const Model& model, const gguf::Source& source,
    const EngineOptions& options, const RowBuffers& buffers, Kernels kernels,
    std::function<void(std::uint64_t bytes)> on_bytes) {
  std::unique_ptr<ModelProgram> out(new ModelProgram);
  WeightLoader loader(device, source, std::move(on_bytes));
  ProgramBuilder builder(kernels.maker, kernels.later);
  BuildContext context{.device = device,
                       .config = model.config,
                       .options = options,
                       .buffers = buffers,
                       .loader = loader,
                       .builder = builder,
                       .team = kernels::Team::of(device),
                       .workgroup = kernels::workgroup_size(device, 128),
                       .decode = decode_tuning(device, model.config),
                       .halves = !exact_products(device, options) &&
                                 kernels::prefill_matrix(device) != nullptr &&
                                 model.config.embedding % 32 == 0};
  WEFT_CO_OK(co_await out->load(context, model, source));
  co_return out;
}

}  // namespace weft::llm
