#include "engine/llm/gpu/gpu_engine.h"

#include <algorithm>
#include <utility>

#include "engine/llm/gpu/layer_ranges.h"
#include "engine/llm/gpu/matrix_blocks.h"

namespace weft::llm {

std::string device_name(const gpu::Device& device) {
  const gpu::AdapterInfo& adapter = device.adapter();
  return (adapter.device.empty()
              ? adapter.description.empty() ? adapter.vendor : adapter.description
              : adapter.device) +
         " (" + adapter.backend + ")";
}

namespace {

// Bytes of the matrices that are loaded for these layers.
std::uint64_t matrix_bytes(const Model& model, LayerRange layers) {
  std::uint64_t total = 0;
  const auto count = [&](Weight weight) { total += weight == nullptr ? 0 : weight->bytes; };
  count(model.token_embedding);
  if (model.output != model.token_embedding) count(model.output);
  for (std::uint32_t i = layers.begin; i < layers.end; ++i) {
    const Layer& layer = model.layers[i];
    if (const auto* feed_forward = std::get_if<FeedForward>(&layer.feed_forward)) {
      for (const Weight weight : {feed_forward->gate, feed_forward->up, feed_forward->down})
        count(weight);
    } else {
      const auto& experts = std::get<Experts>(layer.feed_forward);
      for (const Weight weight : {experts.router, experts.gate, experts.up, experts.down})
        count(weight);
    }
    if (const auto* attention = std::get_if<Attention>(&layer.mixer)) {
      for (const Weight weight : {attention->q, attention->k, attention->v, attention->output})
        count(weight);
    } else {
      const auto& delta = std::get<DeltaNet>(layer.mixer);
      for (const Weight weight : {delta.qkv, delta.gate, delta.output}) count(weight);
    }
  }
  return total;
}

bool compiles_later(const gpu::Device& device, CompileKernels compile) {
  return device.adapter().kind == gpu::AdapterKind::cpu && compile == CompileKernels::at_first_use;
}

// Large: it has the methods of Engine.
class GpuEngine final : public Engine {
 public:
  GpuEngine(gpu::Device& device, const Model& model, EngineOptions options, CompileKernels compile)
      : setup_(device, model, options), passes_(setup_, compiles_later(device, compile)) {}

  [[nodiscard]] Async<Result<>> load(const Model& model, const gguf::Source& source,
                                     LoadProgress on_progress);

  const Config& config() const override { return setup_.config; }
  const EngineOptions& options() const override { return setup_.options; }
  std::string device() const override { return device_name(setup_.device); }
  EngineCounters counters() const override { return passes_.counters(); }

  Result<SequenceId> open() override { return sequences_.open(); }
  void close(SequenceId id) override {
    rows_.end();
    draws_.forget(id);
    sequences_.close(id);
  }
  std::uint32_t length(SequenceId id) const override { return sequences_.at(id).length; }
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override;
  Result<> reserve(SequenceId id, std::uint32_t positions) override {
    return sequences_.reserve(id, positions);
  }
  std::uint32_t share(SequenceId from, SequenceId to, std::uint32_t length) override {
    return sequences_.share(from, to, length);
  }

  Async<Result<>> append(SequenceId id, std::vector<Token> tokens) override {
    return prompts_.append(id, std::move(tokens));
  }
  Async<Result<std::vector<float>>> logits(SequenceId id) override { return outputs_.logits(id); }
  Async<Result<std::vector<float>>> logits_along(SequenceId id,
                                                 std::vector<Token> tokens) override {
    return outputs_.logits_along(id, std::move(tokens));
  }
  Async<Result<std::vector<float>>> last_hidden(SequenceId id) override {
    return outputs_.last_hidden(id);
  }

  Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> ids, std::uint32_t more) override {
    return token_draws_.draw(std::move(ids), {.more = more});
  }
  Async<Result<std::vector<Drawn>>> draw_and_read(std::vector<SequenceId> ids) override {
    return token_draws_.draw(std::move(ids), {.reads = true});
  }
  std::uint32_t drawn_ahead(SequenceId id) const override {
    return sequences_.at(id).drawn_ahead();
  }
  void set_sampling(SequenceId id, const Sampling& sampling) override {
    rows_.set_sampling(id, sampling);
  }
  bool takes_masks() const override { return sampling_.is_loaded(); }
  void set_mask(SequenceId id, std::span<const std::uint64_t> allowed) override {
    rows_.set_mask(id, allowed);
  }
  bool keeps_hidden() const override { return true; }
  void keep_hidden(SequenceId id, std::uint32_t from, std::uint32_t every) override;
  std::optional<std::vector<float>> take_hidden(SequenceId id, std::uint32_t length) override {
    return sequences_.at(id).kept.take(length);
  }

  Async<Result<std::vector<float>>> forward(SequenceId id, std::vector<float> hidden) override {
    return ranges_.forward(id, std::move(hidden));
  }
  Async<Result<std::vector<float>>> forward_tokens(SequenceId id,
                                                   std::vector<Token> tokens) override {
    return ranges_.forward_tokens(id, std::move(tokens));
  }
  Async<Result<>> absorb(SequenceId id, std::vector<float> hidden) override {
    return ranges_.absorb(id, std::move(hidden));
  }
  Async<Result<Drawn>> draw_behind(SequenceId id, Sampling sampling,
                                   std::vector<Token> tokens) override;
  Async<Result<std::vector<float>>> forward_each(Rows rows) override {
    return ranges_.forward_each(std::move(rows));
  }
  Async<Result<>> absorb_each(Rows rows) override { return ranges_.absorb_each(std::move(rows)); }
  Async<Result<std::vector<Drawn>>> draw_behind_each(std::vector<DrawBehind> draws) override {
    return ranges_.draw_behind_each(std::move(draws));
  }

 private:
  const EngineSetup setup_;
  GpuSequences sequences_{setup_};
  RowPasses passes_;
  TokenSampling sampling_{setup_};
  DrawsUnderWay draws_{setup_, sequences_, sampling_, passes_};
  const LastHidden last_hidden_{setup_};
  FloatReadback floats_{setup_.device};
  DrawnRows rows_{setup_, sequences_, last_hidden_, sampling_, passes_};
  PromptReader prompts_{setup_, sequences_, last_hidden_, rows_, passes_};
  OutputReader outputs_{setup_, sequences_, last_hidden_, rows_, prompts_, floats_, passes_};
  TokenDraws token_draws_{setup_, sequences_, last_hidden_, sampling_,
                          draws_, rows_,      prompts_,     passes_};
  LayerRanges ranges_{setup_,   sequences_,   last_hidden_, sampling_, draws_, rows_,
                      prompts_, token_draws_, outputs_,     floats_,   passes_};
};

Async<Result<>> GpuEngine::load(const Model& model, const gguf::Source& source,
                                LoadProgress on_progress) {
  const std::uint64_t total = matrix_bytes(model, setup_.options.layers);
  std::uint64_t done = 0;
  const auto on_bytes = [&](std::uint64_t bytes) {
    done = std::min(total, done + bytes);
    if (on_progress) on_progress(done, total);
  };
  setup_.device.push_error_scope(gpu::Device::ErrorFilter::out_of_memory);
  Result<> loaded = co_await passes_.load(model, source, on_bytes);
  if (loaded && setup_.options.layers.end == setup_.config.layers)
    loaded = co_await sampling_.load(
        {.draws_max = DrawsUnderWay::under_way_max, .compiles_later = passes_.compiles_later()});
  const auto memory = co_await setup_.device.pop_error_scope();
  if (!memory)
    co_return fail(ErrorCode::out_of_memory,
                   "The device has no room for the model ({} MiB) and its cache: choose a smaller "
                   "model or context (--context).",
                   total >> 20);
  WEFT_CO_OK(loaded);
  std::vector<GpuSequences::RecurrentMemory> recurrent;
  for (const GpuLayer& layer : passes_.program().parts())
    for (const GpuLayer::Memory& one : layer.recurrent)
      recurrent.push_back({.buffer = &one.buffer, .slot_bytes = one.slot_bytes});
  sequences_.set_recurrent_memory(std::move(recurrent));
  co_return passes_.check_device();
}

std::uint32_t GpuEngine::rewind(SequenceId id, std::uint32_t length) {
  if (const std::uint32_t all = sequences_.at(id).length; length >= all) return all;
  rows_.settle(id);
  rows_.end();
  return sequences_.rewind(id, length);
}

void GpuEngine::keep_hidden(SequenceId id, std::uint32_t from, std::uint32_t every) {
  // Tokens that were drawn ahead did not keep their hidden states, so they are drawn again.
  rows_.settle(id);
  sequences_.at(id).kept.begin(from, every);
  if (every > 0) draws_.make_room_for_hidden();
}

Async<Result<Drawn>> GpuEngine::draw_behind(SequenceId id, Sampling sampling,
                                            std::vector<Token> tokens) {
  std::vector<DrawBehind> one;
  one.push_back({.sequence = id, .sampling = sampling, .tokens = std::move(tokens)});
  WEFT_CO_ASSIGN(const std::vector<Drawn> drawn, co_await draw_behind_each(std::move(one)));
  co_return drawn.front();
}

}  // namespace

Async<Result<std::unique_ptr<Engine>>> create_gpu_engine(gpu::Device& device, const Model& model,
                                                         const gguf::Source& source,
                                                         EngineOptions options,
                                                         LoadProgress on_progress,
                                                         CompileKernels compile) {
  // A device without subgroup matrices for this model computes in int8 instead of f16.
  if (options.activations == Activations::f16 && !matrix_blocks_possible(device, model.config))
    options.activations = Activations::int8;
  WEFT_CO_ASSIGN(const EngineOptions completed, complete(options, model.config));
  auto engine = std::make_unique<GpuEngine>(device, model, completed, compile);
  WEFT_CO_OK(co_await engine->load(model, source, std::move(on_progress)));
  co_return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace weft::llm
