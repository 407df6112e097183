#include "engine/kernels/attention.h"
#include "engine/kernels/rotary.h"
#include "engine/llm/gpu/blocks.h"

namespace weft::llm {
namespace {

using gpu::BufferUsage;

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

// A bias for all rows of queries, keys and values, as far as there are some.
Async<Result<std::vector<float>>> biases(const gguf::Source& source, const Attention& weights) {
  std::vector<float> out;
  if (weights.q_bias == nullptr && weights.k_bias == nullptr && weights.v_bias == nullptr) co_return out;
  const std::pair<Weight, Weight> pairs[] = {{weights.q, weights.q_bias}, {weights.k, weights.k_bias}, {weights.v, weights.v_bias}};
  for (const auto& [matrix, bias] : pairs) {
    std::vector<float> values(matrix_rows(*matrix));
    if (bias != nullptr) {
      WEFT_CO_ASSIGN(values, read_floats(source, *bias));
    }
    out.insert(out.end(), values.begin(), values.end());
  }
  co_return out;
}

}  // namespace

Async<Result<>> add_attention(BuildContext& context, const gguf::Source& source, Program& program, const Attention& weights, GpuLayer& part) {
  const RowBuffers& to = context.buffers;
  const AttentionShape& shape = context.config.attention;
  const std::uint32_t embedding = context.config.embedding, pitch = to.shape.projected;

  // Queries, keys and values.
  WEFT_CO_ASSIGN(const std::vector<float> bias, co_await biases(source, weights));
  std::vector<Weight> tensors{weights.q, weights.k, weights.v};
  WEFT_CO_ASSIGN(std::vector<GpuMatrix> matrices, co_await context.loader.matrices(std::move(tensors)));
  std::uint32_t offset = 0;
  for (GpuMatrix& matrix : matrices) {
    Product product{.x = to.normed, .x_pitch = embedding, .y = to.projected, .y_pitch = pitch, .y_offset = offset};
    if (!bias.empty()) product.bias.assign(bias.begin() + offset, bias.begin() + offset + matrix.rows);
    WEFT_CO_OK(co_await add_product(context, program, matrix, std::move(product), part.vectors));
    offset += matrix.rows;
    part.matrices.push_back(std::move(matrix));
  }

  // The cache.
  const kernels::KvCacheSpec cache{.format = cache_format(context.options.kv),
                                   .slots = context.options.sequences,
                                   .kv_heads = shape.kv_heads,
                                   .context = context.options.context,
                                   .head_dim = shape.head_dim};
  const std::uint64_t bound = std::min(context.device.limits().storage_binding_bytes_max, context.device.limits().buffer_bytes_max);
  if (cache.bytes() > bound)
    co_return fail(ErrorCode::resource_exhausted,
                   "Keys of {} positions for {} sequences take {} MiB a layer; the device binds at most {} MiB: choose a smaller context (--context) "
                   "or fewer sequences.",
                   cache.context, cache.slots, cache.bytes() >> 20, bound >> 20);
  for (const char* label : {"keys", "values"})
    part.cache.push_back(
        context.device.create_buffer({.size = cache.bytes(), .usage = BufferUsage::storage | BufferUsage::copy_destination, .label = label}));

  // Norms of heads, rotation, and into the cache.
  const bool norm = weights.q_norm != nullptr;
  std::size_t norms = part.vectors.size();
  if (norm) {
    for (const Weight weight : {weights.q_norm, weights.k_norm}) {
      std::vector<WeightLoader::Vector> one(1);
      one[0].weight = weight;
      WEFT_CO_ASSIGN(gpu::Buffer buffer, co_await context.loader.vectors(std::move(one)));
      part.vectors.push_back(std::move(buffer));
    }
  }
  const gpu::Buffer& q_norm = norm ? part.vectors[norms] : to.none;
  const gpu::Buffer& k_norm = norm ? part.vectors[norms + 1] : to.none;
  const std::uint32_t q_stride = shape.head_dim * (shape.gated ? 2 : 1);
  const kernels::RotarySpec rotary{.cache = cache,
                                   .heads = shape.heads,
                                   .q_stride = q_stride,
                                   .pitch = pitch,
                                   .k_offset = shape.q_rows(),
                                   .v_offset = shape.q_rows() + shape.kv_rows(),
                                   .pairs = static_cast<std::uint32_t>(context.config.rope.frequencies.size()),
                                   .halves = context.config.rope.pairs == Rope::Pairs::halves,
                                   .norm = norm,
                                   .epsilon = context.config.norm_epsilon};
  std::vector<Bindings> groups;
  groups.push_back({{0, to.projected}, {1, to.places}, {2, *context.turns}, {3, q_norm}, {4, k_norm}, {5, part.cache[0]}, {6, part.cache[1]}});
  Dispatch turn{.workgroups = [rotary](const RowCount& count) { return kernels::rotary_workgroups(rotary, count.rows); }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::rotary_pipeline(rotary), std::move(groups), std::move(turn)));

  const kernels::AttentionSpec spec{.cache = cache, .heads = shape.heads, .q_stride = q_stride, .pitch = pitch, .gated = shape.gated};
  std::vector<Bindings> attention_groups;
  attention_groups.push_back({{0, to.projected}, {1, to.places}, {2, part.cache[0]}, {3, part.cache[1]}, {4, to.mixed}});
  Dispatch attend{.workgroups = [spec](const RowCount& count) { return kernels::attention_workgroups(spec, count.rows); }};
  WEFT_CO_OK(co_await context.builder.add(program, kernels::attention_pipeline(spec), std::move(attention_groups), std::move(attend)));

  std::vector<Weight> output{weights.output};
  WEFT_CO_ASSIGN(GpuMatrix matrix, co_await context.loader.matrix(std::move(output)));
  WEFT_CO_OK(co_await add_product(
      context, program, matrix,
      Product{.x = to.mixed, .x_pitch = shape.heads * shape.head_dim, .y = to.hidden, .y_pitch = embedding, .accumulate = true}, part.vectors));
  part.matrices.push_back(std::move(matrix));
  co_return Result<>();
}

}  // namespace weft::llm
