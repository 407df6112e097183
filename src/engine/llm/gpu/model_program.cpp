#include "engine/llm/gpu/model_program.h"

#include <cmath>

#include "engine/kernels/embed.h"
#include "engine/llm/gpu/blocks.h"

namespace weft::llm {
namespace {

// [position][pair] of cosine and sine, worked out in f64.
std::vector<float> turn_table(const std::vector<double>& frequencies, std::uint32_t positions) {
  std::vector<float> turns;
  turns.reserve(std::size_t{positions} * frequencies.size() * 2);
  for (std::uint32_t position = 0; position < positions; ++position) {
    for (const double frequency : frequencies) {
      turns.push_back(static_cast<float>(std::cos(position * frequency)));
      turns.push_back(static_cast<float>(std::sin(position * frequency)));
    }
  }
  return turns;
}

Async<Result<>> add_embed(BuildContext& context, Program& program, const GpuMatrix& matrix) {
  const RowBuffers& to = context.buffers;
  for (const MatrixPart& part : matrix.parts) {
    const kernels::EmbedSpec spec{.format = matrix.format, .weight_rows = part.rows, .first_token = part.first_row, .columns = matrix.columns};
    std::vector<Bindings> groups;
    groups.push_back({{0, part.quants}, {1, part.bound_scales()}});
    groups.push_back({{0, to.tokens}, {1, to.hidden}, {2, to.batch}});
    Dispatch dispatch{.workgroups = [](const RowCount& count) { return kernels::embed_workgroups(count.rows); }};
    WEFT_CO_OK(co_await context.builder.add(program, kernels::embed_pipeline(spec), std::move(groups), std::move(dispatch)));
  }
  co_return Result<>();
}

}  // namespace

std::uint64_t ModelProgram::weight_bytes() const {
  std::uint64_t sum = embedding_.bytes() + output_.bytes() + output_norm_.size();
  for (const GpuLayer& part : parts_) {
    for (const GpuMatrix& matrix : part.matrices) sum += matrix.bytes();
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

Async<Result<>> ModelProgram::load(BuildContext& context, const Model& model, const gguf::Source& source) {
  const RowBuffers& to = context.buffers;
  WEFT_CO_ASSIGN(const std::vector<double> frequencies, rope_frequencies(model, source));
  WEFT_CO_ASSIGN(turns_, co_await context.loader.vector(turn_table(frequencies, context.options.context)));
  context.turns = &turns_;
  const bool last = context.options.layers.end == context.config.layers, tied = model.output == model.token_embedding;
  if (context.options.layers.begin == 0 || (last && tied)) {
    std::vector<Weight> tensors{model.token_embedding};
    WEFT_CO_ASSIGN(embedding_, co_await context.loader.matrix(std::move(tensors)));
  }
  if (context.options.layers.begin == 0) WEFT_CO_OK(co_await add_embed(context, embed_, embedding_));
  parts_.reserve(context.options.layers.end - context.options.layers.begin);
  for (std::uint32_t i = context.options.layers.begin; i < context.options.layers.end; ++i)
    WEFT_CO_OK(co_await add_layer(context, source, layers_, model.layers[i], parts_.emplace_back()));
  if (last) {
    std::vector<WeightLoader::Vector> norm(1);
    norm[0].weight = model.output_norm;
    WEFT_CO_ASSIGN(output_norm_, co_await context.loader.vectors(std::move(norm)));
    if (!tied) {
      std::vector<Weight> tensors{model.output};
      WEFT_CO_ASSIGN(output_, co_await context.loader.matrix(std::move(tensors)));
    }
    WEFT_CO_OK(co_await add_norm(context, head_, to.hidden, output_norm_, to.normed));
    std::vector<gpu::Buffer> no_bias;
    WEFT_CO_OK(co_await add_product(
        context, head_, tied ? embedding_ : output_,
        Product{.x = to.normed, .x_pitch = context.config.embedding, .y = to.logits, .y_pitch = context.config.vocabulary}, no_bias));
  }
  co_return co_await context.loader.finish();
}

Async<Result<std::unique_ptr<ModelProgram>>> ModelProgram::create(gpu::Device& device, const Model& model, const gguf::Source& source,
                                                                  const EngineOptions& options, const RowBuffers& buffers,
                                                                  gpu::PipelineCache& pipelines, std::function<void(std::uint64_t bytes)> on_bytes) {
  std::unique_ptr<ModelProgram> out(new ModelProgram);
  WeightLoader loader(device, source, std::move(on_bytes));
  ProgramBuilder builder(device, pipelines);
  BuildContext context{.device = device,
                       .config = model.config,
                       .options = options,
                       .buffers = buffers,
                       .loader = loader,
                       .builder = builder,
                       .team = kernels::Team::of(device),
                       .workgroup = kernels::workgroup_size(device, 128)};
  WEFT_CO_OK(co_await out->load(context, model, source));
  co_return out;
}

}  // namespace weft::llm
