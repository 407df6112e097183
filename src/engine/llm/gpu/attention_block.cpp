#include "engine/kernels/attention.h"
#include "engine/kernels/rotary.h"
#include "engine/llm/gpu/blocks.h"
#include "engine/llm/gpu/matrix_blocks.h"
#include "engine/llm/gpu/single_blocks.h"

namespace weft::llm {
namespace {

kernels::KvCacheFormat cache_format(KvFormat format) {
  switch (format) {
    case KvFormat::f32:
      return kernels::KvCacheFormat::f32;
    case KvFormat::f16:
      return kernels::KvCacheFormat::f16;
    case KvFormat::q8_0:
      break;
  }
  return kernels::KvCacheFormat::q8_0;
}

}  // namespace

kernels::AttentionSpec attention_spec(const Config& config, const EngineOptions& options,
                                      const RowShape& rows) {
  const AttentionShape& shape = config.attention;
  return {.cache = {.format = cache_format(options.kv),
                    .slots = options.sequences,
                    .kv_heads = shape.kv_heads,
                    .context = options.context,
                    .head_dim = shape.head_dim,
                    .page = kv_page_positions,
                    .pages = rows.pages,
                    .table_first = rows.rows},
          .heads = shape.heads,
          .q_stride = shape.head_dim * (shape.gated ? 2 : 1),
          .pitch = rows.projected,
          .gated = shape.gated,
          .view = {.scale = shape.scale}};
}

bool exact_products(const gpu::Device& device, const EngineOptions& options) {
  return options.activations == Activations::f32 ||
         (options.activations == Activations::int8 &&
          device.adapter().kind == gpu::AdapterKind::cpu);
}

kernels::FlashTuning flash_tuning_of(const gpu::Device& device, const kernels::AttentionSpec& spec,
                                     const EngineOptions& options) {
  return kernels::flash_tuning(device, spec, exact_products(device, options));
}

namespace {

using gpu::BufferUsage;

// Returns the biases of all rows of queries, keys and values, 0 for a missing bias; empty if the
// layer has no biases.
Async<Result<std::vector<float>>> biases(const gguf::Source& source, const Attention& weights) {
  std::vector<float> out;
  if (weights.q_bias == nullptr && weights.k_bias == nullptr && weights.v_bias == nullptr)
    co_return out;
  const std::pair<Weight, Weight> pairs[] = {
      {weights.q, weights.q_bias}, {weights.k, weights.k_bias}, {weights.v, weights.v_bias}};
  for (const auto& [matrix, bias] : pairs) {
    std::vector<float> values(matrix_rows(*matrix));
    if (bias != nullptr) {
      WEFT_CO_ASSIGN(values, read_floats(source, *bias));
    }
    out.insert(out.end(), values.begin(), values.end());
  }
  co_return out;
}

Async<Result<>> add_turns_and_attention(BuildContext& context, Program& program,
                                        const kernels::RotarySpec& rotary,
                                        const kernels::AttentionSpec& spec,
                                        const kernels::FlashTuning& tuning, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const gpu::Buffer& q_norm = rotary.norm ? part.q_norm : to.none;
  const gpu::Buffer& k_norm = rotary.norm ? part.k_norm : to.none;
  std::vector<Bindings> turn_groups;
  turn_groups.push_back({{0, to.projected},
                         {1, to.places},
                         {2, *part.turns},
                         {3, q_norm},
                         {4, k_norm},
                         {5, part.cache[0]},
                         {6, part.cache[1]}});
  Dispatch turn{.workgroups = [rotary](const RowCount& count) {
    return kernels::rotary_workgroups(rotary, count.rows);
  }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::rotary_pipeline(rotary),
                                          std::move(turn_groups), std::move(turn)));
  // Many rows of one segment share their reads of the cache (flash attention); other rows are
  // computed each by itself. Attention with f16 output is only used for passes of one segment.
  std::vector<Bindings> flash_groups;
  flash_groups.push_back({{0, to.projected},
                          {1, to.places},
                          {2, part.cache[0]},
                          {3, part.cache[1]},
                          {4, to.mixed},
                          {5, to.tiles}});
  Dispatch flash{.rows_min = many_rows,
                 .segments_max = 1,
                 .workgroups = [spec, tile_rows = tuning.tile_rows](const RowCount& count) {
                   return kernels::flash_attention_workgroups(
                       spec, (count.rows + tile_rows - 1) / tile_rows);
                 }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::flash_attention_pipeline(spec, tuning),
                                          std::move(flash_groups), std::move(flash)));
  for (const bool few : {true, false}) {
    if (!few && tuning.out_halves) continue;
    std::vector<Bindings> attention_groups;
    attention_groups.push_back(
        {{0, to.projected}, {1, to.places}, {2, part.cache[0]}, {3, part.cache[1]}, {4, to.mixed}});
    Dispatch attend{.workgroups = [spec](const RowCount& count) {
      return kernels::attention_workgroups(spec, count.rows);
    }};
    if (few) {
      attend.rows_max = many_rows - 1;
    } else {
      attend.rows_min = many_rows;
      attend.segments_min = 2;
    }
    WEFT_CO_OK(co_await context.builder.add(program, kernels::attention_pipeline(spec),
                                            std::move(attention_groups), std::move(attend)));
  }
  co_return Result<>();
}

}  // namespace

Async<Result<>> add_attention(BuildContext& context, const gguf::Source& source, Programs programs,
                              const Attention& weights, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const AttentionShape& shape = context.config.attention;
  const std::uint32_t pitch = to.shape.projected;
  Program& program = programs.rows;

  part.turns = weights.local ? context.local_turns : context.turns;
  // The projections to queries, keys and values.
  WEFT_CO_ASSIGN(part.projection_bias, co_await biases(source, weights));
  std::vector<Weight> tensors{weights.q, weights.k, weights.v}, output{weights.output};
  WEFT_CO_ASSIGN(part.projections, co_await context.loader.matrices(std::move(tensors)));
  WEFT_CO_ASSIGN(part.output, co_await context.loader.matrix(std::move(output)));
  WEFT_CO_OK(co_await add_projections(context, program, part));

  // The buffers of the cache of keys and values.
  const kernels::KvCacheSpec cache =
      attention_spec(context.config, context.options, to.shape).cache;
  const std::uint64_t bound = std::min(context.device.limits().storage_binding_bytes_max,
                                       context.device.limits().buffer_bytes_max);
  if (cache.bytes() > bound)
    co_return fail(ErrorCode::resource_exhausted,
                   "Keys of {} positions for {} sequences take {} MiB a layer; the device binds at "
                   "most {} MiB: choose a smaller context (--context) "
                   "or fewer sequences.",
                   cache.context, cache.slots, cache.bytes() >> 20, bound >> 20);
  for (const char* label : {"keys", "values"})
    part.cache.push_back(
        context.device.create_buffer({.size = cache.bytes(),
                                      .usage = BufferUsage::storage | BufferUsage::copy_destination,
                                      .label = label}));

  // Adds the norms of the heads, the rotation, and the writes to the cache.
  const bool norm = weights.q_norm != nullptr;
  if (norm) {
    WEFT_CO_ASSIGN(part.q_norm, co_await context.loader.vector(*weights.q_norm));
    WEFT_CO_ASSIGN(part.k_norm, co_await context.loader.vector(*weights.k_norm));
    WEFT_CO_ASSIGN(std::vector<float> both, read_floats(source, *weights.q_norm));
    WEFT_CO_ASSIGN(const std::vector<float> keys, read_floats(source, *weights.k_norm));
    both.insert(both.end(), keys.begin(), keys.end());
    WEFT_CO_ASSIGN(part.qk_norms, co_await context.loader.vector(std::move(both)));
  }
  const std::uint32_t q_stride = shape.head_dim * (shape.gated ? 2 : 1);
  const kernels::RotarySpec rotary{
      .cache = cache,
      .heads = shape.heads,
      .q_stride = q_stride,
      .pitch = pitch,
      .k_offset = shape.q_rows(),
      .v_offset = shape.q_rows() + shape.kv_rows(),
      .pairs = static_cast<std::uint32_t>(context.config.rope.frequencies.size()),
      .halves = context.config.rope.pairs == Rope::Pairs::halves,
      .norm = norm,
      .epsilon = context.config.norm_epsilon};
  kernels::AttentionSpec spec = attention_spec(context.config, context.options, to.shape);
  if (weights.local) spec.view.window = context.config.local->window;
  const kernels::FlashTuning floats = flash_tuning_of(context.device, spec, context.options);
  kernels::FlashTuning flash = floats;
  flash.out_halves = context.halves && flash.matrix_m != 0;
  WEFT_CO_OK(co_await add_turns_and_attention(context, program, rotary, spec, flash, part));
  WEFT_CO_OK(co_await add_output(context, program, part, flash.out_halves));

  if (programs.single != nullptr) {
    const kernels::DecodeAttentionSpec single{
        .rotary = rotary,
        .gated = shape.gated,
        .view = spec.view,
        .splits = context.decode.splits,
        .share_min = context.decode.share_min,
        .by_teams =
            context.drawn_in_halves() || context.options.sequences >= context.decode.teams_from};
    if (context.drawn_in_halves()) {
      WEFT_CO_OK(co_await add_matrix_projections(context, *programs.single, part));
      if (matrix_attention_possible(context, single)) {
        co_return co_await add_matrix_attention(context, *programs.single, single, part);
      }
      WEFT_CO_OK(
          co_await add_turns_and_attention(context, *programs.single, rotary, spec, floats, part));
      co_return co_await add_matrix_output(context, *programs.single, part, false);
    }
    WEFT_CO_OK(co_await add_single_projections(context, *programs.single, part));
    if (single_attention_possible(context, single, part)) {
      WEFT_CO_OK(co_await add_single_attention(context, *programs.single, single, part));
    } else {
      WEFT_CO_OK(
          co_await add_turns_and_attention(context, *programs.single, rotary, spec, floats, part));
      WEFT_CO_OK(co_await add_output(context, *programs.single, part));
    }
  }
  co_return Result<>();
}

}  // namespace weft::llm
