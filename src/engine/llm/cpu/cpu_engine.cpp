#include "engine/llm/cpu/cpu_engine.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "common/base/check.h"
#include "common/base/counted.h"
#include "engine/kernels/reference/norm.h"
#include "engine/llm/cpu/layers.h"
#include "engine/llm/cpu/matrix.h"
#include "engine/llm/cpu/workers.h"
#include "engine/llm/sampler.h"

namespace weft::llm {
namespace {

// The number of positions that go through a layer together; it bounds the scratch memory.
constexpr std::size_t chunk_max = 64;

struct Sequence {
  std::vector<Token> tokens;  // Empty if hidden states are the input.
  std::uint32_t length = 0;   // The number of positions in the layers' states.
  std::vector<LayerState> layers;
  std::optional<Token> pending;    // A drawn token that the layers have not read yet.
  std::vector<float> last_hidden;  // The last position's state after the last layer.
  std::vector<float> logits;       // The head's result for last_hidden; empty until it is needed.
  Sampling sampling;
};

// Large: it has the methods of Engine.
class CpuEngine final : public Engine {
 public:
  CpuEngine(const Model& model, EngineOptions options, std::size_t threads)
      : config_(model.config),
        options_(options),
        workers_(threads),
        sequences_(options.sequences) {}

  [[nodiscard]] Result<> load(const Model& model, const gguf::Source& source);

  const Config& config() const override { return config_; }
  const EngineOptions& options() const override { return options_; }
  std::string device() const override { return "cpu"; }
  EngineCounters counters() const override { return counters_; }

  Result<SequenceId> open() override;
  void close(SequenceId id) override { sequences_[index(id)].reset(); }
  std::uint32_t length(SequenceId id) const override;
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override;
  Async<Result<>> append(SequenceId id, std::vector<Token> tokens) override;
  Async<Result<std::vector<float>>> logits(SequenceId id) override;
  Async<Result<std::vector<float>>> logits_along(SequenceId id, std::vector<Token> tokens) override;
  Async<Result<std::vector<float>>> last_hidden(SequenceId id) override;
  Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> sequences,
                                         std::uint32_t more) override;
  void set_sampling(SequenceId id, const Sampling& sampling) override {
    at(id).sampling = sampling;
  }
  Async<Result<std::vector<float>>> forward(SequenceId id, std::vector<float> hidden) override;
  Async<Result<std::vector<float>>> forward_tokens(SequenceId id,
                                                   std::vector<Token> tokens) override;

 private:
  [[nodiscard]] std::size_t index(SequenceId id) const {
    const auto i = static_cast<std::size_t>(id);
    check(i < sequences_.size() && sequences_[i].has_value(), "the sequence is open");
    return i;
  }
  [[nodiscard]] Sequence& at(SequenceId id) { return *sequences_[index(id)]; }
  [[nodiscard]] Result<> fits(const Sequence& sequence, std::size_t more) const;
  [[nodiscard]] Result<std::vector<float>> embed(std::span<const Token> tokens) const;
  void run_layers(Sequence& sequence, std::span<float> hidden);
  [[nodiscard]] Result<> feed(Sequence& sequence, std::span<const Token> tokens);
  [[nodiscard]] Result<std::vector<float>> logits_of(Sequence& sequence);
  void head(std::span<const float> hidden, std::span<float> logits);
  void reset(Sequence& sequence) const;

  const Config config_;
  const EngineOptions options_;
  Workers workers_;
  EngineCounters counters_;
  std::vector<double> frequencies_;
  std::optional<Matrix> token_embedding_, output_;
  std::vector<float> output_norm_;
  std::vector<std::unique_ptr<CpuLayer>> layers_;
  std::vector<std::optional<Sequence>> sequences_;
  Sampler sampler_;
};

Result<> CpuEngine::load(const Model& model, const gguf::Source& source) {
  WEFT_ASSIGN(frequencies_, rope_frequencies(model, source));
  if (options_.layers.begin == 0) {
    WEFT_ASSIGN(token_embedding_, Matrix::load(source, *model.token_embedding));
  }
  for (std::uint32_t i = options_.layers.begin; i < options_.layers.end; ++i) {
    WEFT_ASSIGN(auto layer, CpuLayer::load(source, config_, model.layers[i]));
    layers_.push_back(std::move(layer));
  }
  if (options_.layers.end == config_.layers) {
    WEFT_ASSIGN(output_norm_, read_floats(source, *model.output_norm));
    WEFT_ASSIGN(output_, Matrix::load(source, *model.output));
  }
  return {};
}

void CpuEngine::reset(Sequence& sequence) const {
  sequence.length = 0;
  sequence.tokens.clear();
  sequence.pending.reset();
  sequence.last_hidden.clear();
  sequence.logits.clear();
  sequence.layers.clear();
  for (const auto& layer : layers_) sequence.layers.push_back(layer->create_state());
}

Result<SequenceId> CpuEngine::open() {
  const auto free =
      std::ranges::find_if(sequences_, [](const auto& slot) { return !slot.has_value(); });
  if (free == sequences_.end())
    return fail(ErrorCode::resource_exhausted,
                "All {} sequences are in use (EngineOptions::sequences).", sequences_.size());
  reset(free->emplace());
  return static_cast<SequenceId>(free - sequences_.begin());
}

std::uint32_t CpuEngine::length(SequenceId id) const {
  const Sequence& sequence = *sequences_[index(id)];
  return sequence.length + (sequence.pending ? 1 : 0);
}

std::uint32_t CpuEngine::rewind(SequenceId id, std::uint32_t wanted) {
  Sequence& sequence = at(id);
  if (wanted >= length(id)) return length(id);
  if (wanted == sequence.length) {  // Only the pending token is removed.
    sequence.pending.reset();
    sequence.tokens.resize(wanted);
    return wanted;
  }
  if (config_.delta_net || wanted == 0) {
    reset(sequence);
    return 0;
  }
  sequence.pending.reset();
  sequence.length = wanted;
  if (!sequence.tokens.empty()) sequence.tokens.resize(wanted);
  sequence.last_hidden.clear();
  sequence.logits.clear();
  return wanted;
}

Result<> CpuEngine::fits(const Sequence& sequence, std::size_t more) const {
  const std::size_t used = sequence.length + (sequence.pending ? 1 : 0);
  if (used + more > options_.context)
    return fail(ErrorCode::resource_exhausted,
                "{} after {} {} not fit into the context of {} (--context).",
                counted(more, "token"), used, more == 1 ? "does" : "do", options_.context);
  return {};
}

Result<std::vector<float>> CpuEngine::embed(std::span<const Token> tokens) const {
  check(token_embedding_.has_value(), "tokens go to the engine with the first layer");
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= config_.vocabulary)
      return fail(ErrorCode::invalid_argument, "The token {} is not one of the model's {} tokens.",
                  token, config_.vocabulary);
  }
  std::vector<float> hidden(tokens.size() * config_.embedding);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    token_embedding_->row(static_cast<std::size_t>(tokens[i]),
                          std::span(hidden).subspan(i * config_.embedding, config_.embedding));
  if (config_.embedding_scale != 1)
    for (float& value : hidden) value *= config_.embedding_scale;
  return hidden;
}

void CpuEngine::run_layers(Sequence& sequence, std::span<float> hidden) {
  const std::size_t width = config_.embedding, count = hidden.size() / width;
  for (std::size_t begin = 0; begin < count; begin += chunk_max) {
    const std::size_t part = std::min(chunk_max, count - begin);
    const Pass pass{config_, frequencies_, options_.kv, workers_, sequence.length, part};
    const std::span<float> rows = hidden.subspan(begin * width, part * width);
    for (std::size_t i = 0; i < layers_.size(); ++i)
      layers_[i]->run(pass, sequence.layers[i], rows);
    sequence.length += static_cast<std::uint32_t>(part);
  }
  sequence.logits.clear();
  sequence.last_hidden.assign(hidden.end() - static_cast<std::ptrdiff_t>(width), hidden.end());
}

// Takes the pending token and these tokens through the layers.
Result<> CpuEngine::feed(Sequence& sequence, std::span<const Token> tokens) {
  std::vector<Token> all;
  if (sequence.pending) all.push_back(*sequence.pending);
  all.insert(all.end(), tokens.begin(), tokens.end());
  if (all.empty()) return {};
  WEFT_ASSIGN(std::vector<float> hidden, embed(all));
  run_layers(sequence, hidden);
  sequence.pending.reset();
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  return {};
}

Async<Result<>> CpuEngine::append(SequenceId id, std::vector<Token> tokens) {
  Sequence& sequence = at(id);
  WEFT_CO_OK(fits(sequence, tokens.size()));
  WEFT_CO_OK(feed(sequence, tokens));
  co_return Result<>();
}

Result<std::vector<float>> CpuEngine::logits_of(Sequence& sequence) {
  check(output_.has_value(), "logits come from the engine with the last layer");
  WEFT_OK(feed(sequence, {}));
  if (sequence.last_hidden.empty())
    return fail(ErrorCode::invalid_argument, "There are no logits before the first token.");
  if (!sequence.logits.empty()) return sequence.logits;
  sequence.logits.resize(config_.vocabulary);
  head(sequence.last_hidden, sequence.logits);
  return sequence.logits;
}

void CpuEngine::head(std::span<const float> hidden, std::span<float> logits) {
  std::vector<float> x(config_.embedding);
  kernels::reference::rms_norm(hidden, output_norm_, config_.norm_epsilon, x);
  output_->multiply(x, logits, workers_);
}

Async<Result<std::vector<float>>> CpuEngine::logits(SequenceId id) { co_return logits_of(at(id)); }

Async<Result<std::vector<float>>> CpuEngine::logits_along(SequenceId id,
                                                          std::vector<Token> tokens) {
  check(output_.has_value(), "logits come from the engine with the last layer");
  Sequence& sequence = at(id);
  WEFT_CO_OK(fits(sequence, tokens.size()));
  WEFT_CO_OK(feed(sequence, {}));
  if (tokens.empty()) co_return std::vector<float>();
  WEFT_CO_ASSIGN(std::vector<float> hidden, embed(tokens));
  run_layers(sequence, hidden);
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  std::vector<float> out(tokens.size() * config_.vocabulary);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    head(std::span(hidden).subspan(i * config_.embedding, config_.embedding),
         std::span(out).subspan(i * config_.vocabulary, config_.vocabulary));
  co_return out;
}

Async<Result<std::vector<float>>> CpuEngine::last_hidden(SequenceId id) {
  Sequence& sequence = at(id);
  WEFT_CO_OK(feed(sequence, {}));
  if (sequence.last_hidden.empty())
    co_return fail(ErrorCode::invalid_argument, "There is no hidden state before the first token.");
  co_return sequence.last_hidden;
}

Async<Result<std::vector<Drawn>>> CpuEngine::draw(std::vector<SequenceId> sequences,
                                                  std::uint32_t) {
  std::vector<Drawn> drawn;
  for (const SequenceId id : sequences) {
    Sequence& sequence = at(id);
    WEFT_CO_OK(fits(sequence, 1));
    WEFT_CO_ASSIGN(const std::vector<float> logits, logits_of(sequence));
    drawn.push_back(sampler_.draw(sequence.sampling, logits, sequence.tokens, sequence.length));
    sequence.pending = drawn.back().token;
    sequence.tokens.push_back(drawn.back().token);
  }
  ++counters_.decode_steps;
  co_return drawn;
}

Async<Result<std::vector<float>>> CpuEngine::forward(SequenceId id, std::vector<float> hidden) {
  Sequence& sequence = at(id);
  if (hidden.empty() || hidden.size() % config_.embedding != 0)
    co_return fail(ErrorCode::invalid_argument,
                   "{} numbers cannot be divided into hidden states of {} numbers.", hidden.size(),
                   config_.embedding);
  WEFT_CO_OK(fits(sequence, hidden.size() / config_.embedding));
  run_layers(sequence, hidden);
  co_return hidden;
}

Async<Result<std::vector<float>>> CpuEngine::forward_tokens(SequenceId id,
                                                            std::vector<Token> tokens) {
  Sequence& sequence = at(id);
  check(!sequence.pending, "a sequence that is drawn from has all layers");
  if (tokens.empty()) co_return std::vector<float>();
  WEFT_CO_OK(fits(sequence, tokens.size()));
  WEFT_CO_ASSIGN(std::vector<float> hidden, embed(tokens));
  run_layers(sequence, hidden);
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  co_return hidden;
}

}  // namespace

Result<std::unique_ptr<Engine>> create_cpu_engine(const Model& model, const gguf::Source& source,
                                                  const EngineOptions& options,
                                                  std::size_t threads) {
  WEFT_ASSIGN(const EngineOptions completed, complete(options, model.config));
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  auto engine = std::make_unique<CpuEngine>(model, completed, threads);
  WEFT_OK(engine->load(model, source));
  return engine;
}

}  // namespace weft::llm
