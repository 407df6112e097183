#include "engine/llm/encoders/gpu/encoder_program.h"

#include <algorithm>

#include "engine/kernels/embed.h"
#include "engine/kernels/encode/activate.h"
#include "engine/kernels/encode/layer_norm.h"
#include "engine/kernels/encode/pool_rows.h"
#include "engine/kernels/encode/turn_rows.h"
#include "engine/kernels/swiglu.h"
#include "engine/llm/gpu/blocks.h"

namespace weft::llm {
namespace {

using kernels::LayerNormSpec;

kernels::AttentionSpec attention_spec(const EncoderConfig& config) {
  const std::uint32_t width = config.embedding;
  return {
      .cache = {.kv_heads = config.heads, .head_dim = config.head_dim()},
      .heads = config.heads,
      .q_stride = config.head_dim(),
      .pitch = 3 * width,
      .whole_texts = kernels::AttentionSpec::WholeTexts{.k_offset = width, .v_offset = 2 * width}};
}

// Adds an encoder's dispatches to a program.
struct Assembly {
  BuildContext& context;
  const EncoderConfig& config;
  const gguf::Source& source;
  Program& program;
  EncoderMemory& memory;

  [[nodiscard]] Async<Result<>> add(gpu::PipelineOptions pipeline, Bindings bindings,
                                    std::function<gpu::Workgroups(const RowCount&)> workgroups,
                                    std::uint32_t rows_max = ~0u) {
    std::vector<Bindings> groups;
    groups.push_back(std::move(bindings));
    Dispatch dispatch{.rows_max = rows_max, .workgroups = std::move(workgroups)};
    return context.builder.add(program, std::move(pipeline), std::move(groups),
                               std::move(dispatch));
  }

  // Adds a row of the table to hidden and norms the sum in place.
  [[nodiscard]] Async<Result<>> norm(Affine weights, LayerNormSpec::Table table) {
    const RowBuffers& to = context.buffers;
    WEFT_CO_ASSIGN(gpu::Buffer weight, co_await context.loader.vector(*weights.weight));
    WEFT_CO_ASSIGN(gpu::Buffer bias, co_await context.loader.vector(*weights.bias));
    const LayerNormSpec spec{
        .columns = config.embedding, .epsilon = config.norm_epsilon, .table = table};
    Bindings bindings{
        {0, to.hidden}, {1, weight},
        {2, bias},      {3, table == LayerNormSpec::Table::none ? to.none : memory.table},
        {4, to.places}, {5, to.batch}};
    WEFT_CO_OK(co_await add(
        kernels::layer_norm_pipeline(spec, context.team, context.workgroup), std::move(bindings),
        [team = context.team, workgroup = context.workgroup](const RowCount& count) {
          return kernels::layer_norm_workgroups(team, workgroup, count.rows);
        }));
    memory.vectors.push_back(std::move(weight));
    memory.vectors.push_back(std::move(bias));
    co_return Result<>();
  }

  // Adds the products of one x with several matrices, whose outputs are side by side.
  [[nodiscard]] Async<Result<>> products(std::vector<Affine> weights, Product product) {
    std::vector<Weight> tensors;
    std::vector<float> bias;
    bool any = false;
    for (const Affine& one : weights) {
      tensors.push_back(one.weight);
      std::vector<float> own(matrix_rows(*one.weight));
      if (one.bias != nullptr) {
        WEFT_CO_ASSIGN(own, read_floats(source, *one.bias));
        any = true;
      }
      bias.insert(bias.end(), own.begin(), own.end());
    }
    WEFT_CO_ASSIGN(std::vector<GpuMatrix> matrices,
                   co_await context.loader.matrices(std::move(tensors)));
    std::uint32_t offset = 0;
    for (GpuMatrix& matrix : matrices) {
      Product one = product;
      one.y_offset += offset;
      if (any) one.bias.assign(bias.begin() + offset, bias.begin() + offset + matrix.rows);
      if (matrix.columns % 32 == 0) {
        for (const MatrixPart& part : matrix.parts)
          WEFT_CO_OK(co_await part_product(matrix, part, one));
      } else {
        WEFT_CO_OK(co_await add_product(context, program, matrix, std::move(one), memory.vectors));
      }
      offset += matrix.rows;
      memory.matrices.push_back(std::move(matrix));
    }
    co_return Result<>();
  }

  // Adds a product by the kernel for many rows, for any number of rows, so that a row always has
  // the same bits.
  [[nodiscard]] Async<Result<>> part_product(const GpuMatrix& matrix, const MatrixPart& part,
                                             const Product& product) {
    WEFT_CO_ASSIGN(const gpu::Buffer* bias,
                   co_await bias_of(context, product.bias, part, memory.vectors));
    co_return co_await add_matmul(context, program, part, matmul_spec(matrix, part, product),
                                  product.x, product.y, *bias, 1);
  }

  [[nodiscard]] Async<Result<>> onto_hidden(Affine weights, const gpu::Buffer& x,
                                            std::uint32_t x_pitch) {
    std::vector<Affine> one{weights};
    return products(std::move(one), Product{.x = x,
                                            .x_pitch = x_pitch,
                                            .y = context.buffers.hidden,
                                            .y_pitch = config.embedding,
                                            .accumulate = true});
  }

  [[nodiscard]] Async<Result<>> embed(const EncoderModel& model) {
    const RowBuffers& to = context.buffers;
    std::vector<Weight> tensors{model.token_embedding};
    WEFT_CO_ASSIGN(GpuMatrix matrix, co_await context.loader.matrix(std::move(tensors)));
    for (const MatrixPart& part : matrix.parts) {
      const kernels::EmbedSpec spec{.format = matrix.format,
                                    .weight_rows = part.rows,
                                    .first_token = part.first_row,
                                    .columns = matrix.columns};
      std::vector<Bindings> groups;
      groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
      groups.push_back({{0, to.tokens}, {1, to.hidden}, {2, to.batch}});
      Dispatch dispatch{.workgroups = [](const RowCount& count) {
        return kernels::embed_workgroups(count.rows);
      }};
      WEFT_CO_OK(co_await context.builder.add(program, kernels::embed_pipeline(spec),
                                              std::move(groups), std::move(dispatch)));
    }
    memory.matrices.push_back(std::move(matrix));
    WEFT_CO_ASSIGN(const LayerNormSpec::Table table, co_await load_table(model));
    co_return co_await norm(model.embedding_norm, table);
  }

  // Loads the table that is added to the tokens' embeddings: the first token type and the
  // positions.
  [[nodiscard]] Async<Result<LayerNormSpec::Table>> load_table(const EncoderModel& model) {
    const std::size_t width = config.embedding;
    std::vector<float> type(width), table;
    if (model.token_types != nullptr) {
      WEFT_CO_ASSIGN(type, read_floats(source, *model.token_types));
      type.resize(width);
      table = type;
    }
    if (model.position_embedding != nullptr) {
      WEFT_CO_ASSIGN(table, read_floats(source, *model.position_embedding));
      table.resize(std::min(table.size(), context.buffers.shape.rows * width));
      for (std::size_t i = 0; i < table.size(); ++i) table[i] += type[i % width];
    }
    if (table.empty()) co_return LayerNormSpec::Table::none;
    WEFT_CO_ASSIGN(memory.table, co_await context.loader.vector(std::move(table)));
    co_return model.position_embedding != nullptr ? LayerNormSpec::Table::positions
                                                  : LayerNormSpec::Table::one_row;
  }

  [[nodiscard]] Async<Result<>> attention(const EncoderLayer& layer,
                                          const kernels::FlashTuning& tuning) {
    const RowBuffers& to = context.buffers;
    const std::uint32_t width = config.embedding;
    std::vector<Affine> projections{layer.q, layer.k, layer.v};
    if (layer.qkv.weight != nullptr) projections = {layer.qkv};
    WEFT_CO_OK(co_await products(
        std::move(projections),
        Product{.x = to.hidden, .x_pitch = width, .y = to.projected, .y_pitch = 3 * width}));
    if (!config.rope.frequencies.empty()) {
      // Rotates the queries and the keys, which follow the queries directly in a row.
      const kernels::TurnRowsSpec spec{
          .heads = 2 * config.heads,
          .head_dim = config.head_dim(),
          .pairs = static_cast<std::uint32_t>(config.rope.frequencies.size()),
          .pitch = 3 * width};
      Bindings bindings{{0, to.projected}, {1, to.places}, {2, memory.turns}, {3, to.batch}};
      WEFT_CO_OK(co_await add(kernels::turn_rows_pipeline(spec), std::move(bindings),
                              [spec](const RowCount& count) {
                                return kernels::turn_rows_workgroups(spec, count.rows);
                              }));
    }
    const kernels::AttentionSpec spec = attention_spec(config);
    Bindings bindings{{0, to.projected}, {1, to.places}, {2, to.projected},
                      {3, to.projected}, {4, to.mixed},  {5, to.tiles}};
    WEFT_CO_OK(co_await add(kernels::flash_attention_pipeline(spec, tuning), std::move(bindings),
                            [spec](const RowCount& count) {
                              return kernels::flash_attention_workgroups(spec, count.positions);
                            }));
    WEFT_CO_OK(co_await onto_hidden(layer.output, to.mixed, width));
    co_return co_await norm(layer.output_norm, LayerNormSpec::Table::none);
  }

  // Adds down(gelu(up)) to the rows.
  [[nodiscard]] Async<Result<>> plain_feed_forward(const EncoderLayer& layer) {
    const RowBuffers& to = context.buffers;
    const std::uint32_t feed = config.feed_forward;
    std::vector<Affine> up{layer.up};
    WEFT_CO_OK(co_await products(
        std::move(up),
        Product{.x = to.hidden, .x_pitch = config.embedding, .y = to.gates, .y_pitch = feed}));
    const kernels::ActivateSpec spec{.columns = feed, .activation = kernels::Activation::gelu};
    Bindings bindings{{0, to.gates}, {1, to.batch}};
    WEFT_CO_OK(co_await add(
        kernels::activate_pipeline(spec), std::move(bindings),
        [spec](const RowCount& count) { return kernels::activate_workgroups(spec, count.rows); }));
    co_return co_await onto_hidden(layer.down, to.gates, feed);
  }

  // Adds down(silu(gate) * up) to the rows.
  [[nodiscard]] Async<Result<>> gated_feed_forward(const EncoderLayer& layer) {
    const RowBuffers& to = context.buffers;
    const std::uint32_t feed = config.feed_forward;
    std::vector<Affine> gates{Affine{.weight = layer.gate}, layer.up};
    WEFT_CO_OK(co_await products(
        std::move(gates),
        Product{.x = to.hidden, .x_pitch = config.embedding, .y = to.gates, .y_pitch = 2 * feed}));
    const kernels::SwigluSpec spec{.width = feed, .activation = kernels::Activation::silu};
    Bindings bindings{{0, to.gates}, {1, to.gated}, {2, to.batch}};
    WEFT_CO_OK(co_await add(
        kernels::swiglu_pipeline(spec), std::move(bindings),
        [spec](const RowCount& count) { return kernels::swiglu_workgroups(spec, count.rows); }));
    co_return co_await onto_hidden(layer.down, to.gated, feed);
  }

  [[nodiscard]] Async<Result<>> pool(const gpu::Buffer& vectors) {
    const RowBuffers& to = context.buffers;
    using Way = kernels::PoolRowsSpec::Way;
    const kernels::PoolRowsSpec spec{.columns = config.embedding,
                                     .way = config.pooling == Pooling::mean    ? Way::mean
                                            : config.pooling == Pooling::first ? Way::first
                                                                               : Way::last};
    Bindings bindings{{0, to.hidden}, {1, to.segments}, {2, vectors}};
    return add(kernels::pool_rows_pipeline(spec), std::move(bindings),
               [](const RowCount& count) { return kernels::pool_rows_workgroups(count.segments); });
  }
};

}  // namespace

RowShape encoder_shape(const EncoderConfig& config, std::uint32_t rows) {
  constexpr std::uint64_t partials_max = std::uint64_t{32} << 20;
  return {.rows = rows,
          .embedding = config.embedding,
          .projected = 3 * config.embedding,
          .mixed = config.embedding,
          .feed_forward = config.feed_forward,
          .partials_max = partials_max};
}

Async<Result<std::unique_ptr<EncoderProgram>>> EncoderProgram::create(gpu::Device& device,
                                                                      EncoderSource from,
                                                                      const RowBuffers& buffers,
                                                                      const gpu::Buffer& vectors) {
  const EncoderModel& model = from.model;
  const gguf::Source& source = from.source;
  std::unique_ptr<EncoderProgram> out(new EncoderProgram(device));
  WeightLoader loader(device, source, [](std::uint64_t) {});
  ProgramBuilder builder(out->maker_, false);
  Config config;
  config.embedding = model.config.embedding;
  config.feed_forward = model.config.feed_forward;
  const EngineOptions options{.activations = from.activations};
  BuildContext context{.device = device,
                       .config = config,
                       .options = options,
                       .buffers = buffers,
                       .loader = loader,
                       .builder = builder,
                       .team = kernels::Team::of(device),
                       .workgroup = kernels::workgroup_size(device, 128)};
  out->attention_tuning_ =
      kernels::flash_tuning(device, attention_spec(model.config), exact_products(device, options));
  const Rope& rope = model.config.rope;
  if (!rope.frequencies.empty()) {
    WEFT_CO_ASSIGN(out->memory_.turns, co_await loader.vector(turn_table(
                                           rope.frequencies, rope.amplitude, buffers.shape.rows)));
  }
  Assembly assembly{.context = context,
                    .config = model.config,
                    .source = source,
                    .program = out->program_,
                    .memory = out->memory_};
  WEFT_CO_OK(co_await assembly.embed(model));
  for (const EncoderLayer& layer : model.layers) {
    WEFT_CO_OK(co_await assembly.attention(layer, out->attention_tuning_));
    if (layer.gate != nullptr) {
      WEFT_CO_OK(co_await assembly.gated_feed_forward(layer));
    } else {
      WEFT_CO_OK(co_await assembly.plain_feed_forward(layer));
    }
    WEFT_CO_OK(co_await assembly.norm(layer.layer_norm, LayerNormSpec::Table::none));
  }
  WEFT_CO_OK(co_await assembly.pool(vectors));
  WEFT_CO_OK(co_await loader.finish());
  co_return out;
}

}  // namespace weft::llm
