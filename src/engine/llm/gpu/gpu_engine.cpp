#include "engine/llm/gpu/gpu_engine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "common/base/check.h"
#include "common/base/counted.h"
#include "engine/gpu/readback.h"
#include "engine/kernels/sampling/gpu_sampler.h"
#include "engine/llm/gpu/model_program.h"

namespace weft::llm {
namespace {

using gpu::BufferUsage;
using kernels::RowPlace;
using kernels::Segment;

// Submits that are under way at a time, so that the device never waits for somebody to read a token, and tokens in one of them:
// more than one only where that many are quicker than a listener notices.
constexpr std::size_t submits_ahead = 4;
constexpr std::size_t steps_max = 4;
constexpr auto submit_time_max = std::chrono::milliseconds(8);
constexpr std::size_t draws_under_way_max = submits_ahead * steps_max + steps_max;

struct Sequence {
  std::vector<Token> tokens;  // Handed in and handed out; empty where hidden states come in.
  std::uint32_t length = 0;   // Positions that were handed in and out.
  std::uint32_t fed = 0;      // Positions in the device's caches. What it drew ahead is among them.
  std::deque<Drawn> ahead;    // Drawn and not yet handed out.
  std::uint32_t under_way = 0;
  std::uint64_t epoch = 0;                 // Goes up when what is under way no longer counts.
  std::optional<std::uint32_t> hidden_at;  // The final hidden state in last_hidden_ is the one behind so many positions.
  Sampling sampling;
};

kernels::RowSampling row_sampling(const Sampling& sampling) {
  return {.temperature = sampling.temperature,
          .top_k = sampling.top_k,
          .top_p = sampling.top_p,
          .min_p = sampling.min_p,
          .repetition_penalty = sampling.repetition_penalty,
          .presence_penalty = sampling.presence_penalty,
          .frequency_penalty = sampling.frequency_penalty,
          .penalty_window = sampling.penalty_window,
          .seed = sampling.seed};
}

class GpuEngine final : public Engine {
 public:
  GpuEngine(gpu::Device& device, const Model& model, EngineOptions options)
      : device_(device),
        config_(model.config),
        options_(options),
        buffers_(device, shape_of(device, config_, options_)),
        pipelines_(device),
        drawn_ring_(device, {.slots = draws_under_way_max, .slot_bytes = std::uint64_t{options.sequences} * 8}),
        last_hidden_(device.create_buffer({.size = std::uint64_t{options.sequences} * config_.embedding * 4,
                                           .usage = BufferUsage::storage | BufferUsage::copy_source | BufferUsage::copy_destination,
                                           .label = "last hidden"})),
        sequences_(options.sequences) {}

  [[nodiscard]] Async<Result<>> load(const Model& model, const gguf::Source& source, LoadProgress on_progress);

  const Config& config() const override { return config_; }
  const EngineOptions& options() const override { return options_; }
  std::string device() const override;
  EngineCounters counters() const override { return counters_; }

  Result<SequenceId> open() override;
  void close(SequenceId id) override;
  std::uint32_t length(SequenceId id) const override { return sequences_[index(id)]->length; }
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override;
  Async<Result<>> append(SequenceId id, std::vector<Token> tokens) override;
  Async<Result<std::vector<float>>> logits(SequenceId id) override;
  Async<Result<std::vector<float>>> last_hidden(SequenceId id) override;
  Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> sequences, std::uint32_t more) override;
  void set_sampling(SequenceId id, const Sampling& sampling) override;
  Async<Result<std::vector<float>>> forward(SequenceId id, std::vector<float> hidden) override;
  Async<Result<std::vector<float>>> forward_tokens(SequenceId id, std::vector<Token> tokens) override;
  Async<Result<>> absorb(SequenceId id, std::vector<float> hidden) override;
  Async<Result<Drawn>> draw_behind(SequenceId id, Sampling sampling, std::vector<Token> tokens) override;

 private:
  static RowShape shape_of(const gpu::Device& device, const Config& config, const EngineOptions& options) {
    RowShape shape = row_shape(config, options, rows_max(device, options), decode_tuning(device, config).splits);
    shape.tile_rows = flash_tuning_of(device, attention_spec(config, options, shape.projected), options).tile_rows;
    return shape;
  }
  static std::uint32_t rows_max(const gpu::Device& device, const EngineOptions& options) {
    constexpr std::uint32_t rows_cpu = 64, rows_gpu = 512;
    return std::max(options.sequences, device.adapter().kind == gpu::AdapterKind::cpu ? rows_cpu : rows_gpu);
  }
  [[nodiscard]] std::size_t index(SequenceId id) const {
    const auto i = static_cast<std::size_t>(id);
    check(i < sequences_.size() && sequences_[i].has_value(), "the sequence is open");
    return i;
  }
  [[nodiscard]] Sequence& at(SequenceId id) { return *sequences_[index(id)]; }

  // Passes that were submitted, oldest first.
  struct UnderWay {
    gpu::Readback read;
    std::vector<SequenceId> sequences;
    std::vector<std::uint64_t> epochs;
  };

  // Memory that the CPU reads, kept for the next read: making some takes 0.1 ms, and giving it back may wait for the device.
  struct Staging {
    gpu::Buffer buffer;
    bool taken = false;
  };
  struct FloatsBack {
    std::shared_ptr<Staging> staging;
    std::uint64_t count = 0;
  };

  [[nodiscard]] Result<> fits(const Sequence& sequence, std::size_t more) const;
  [[nodiscard]] Result<> check_tokens(std::span<const Token> tokens) const;
  void reset(SequenceId id);
  void settle(SequenceId id);
  void place_rows(SequenceId id, std::uint32_t first, std::uint32_t count);
  // Records a pass of rows through the layers, and hands it to the device in pieces while more is being recorded, so that it does not
  // wait for all of it; the last piece is the caller's to submit.
  [[nodiscard]] gpu::Encoder begin_layers(const RowCount& rows, bool embed, const char* label);
  // Everything that was handed in goes through the layers; what comes out of the last rows can be recorded along with them.
  void feed(SequenceId id, const std::function<void(gpu::Encoder&, std::uint32_t rows)>& record = {});
  [[nodiscard]] Result<> takes_hidden(const Sequence& sequence, const std::vector<float>& hidden) const;
  // These rows of hidden states through the layers, in one submit with what `record` adds behind them.
  void pass_hidden(SequenceId id, std::span<const float> states, const std::function<void(gpu::Encoder&)>& record);
  void ensure_hidden(SequenceId id);
  // Copies final hidden states to the first rows and makes logits of them.
  std::uint32_t record_head(gpu::Encoder& encoder, const std::vector<SequenceId>& sequences);
  // A copy of floats on its way back: recorded, then, when its encoder is submitted, awaited.
  [[nodiscard]] FloatsBack record_floats(gpu::Encoder& encoder, const gpu::Buffer& buffer, std::uint64_t count, std::uint64_t first = 0);
  [[nodiscard]] Async<Result<std::vector<float>>> floats_of(FloatsBack back);
  [[nodiscard]] Async<Result<std::vector<float>>> read_floats_back(const gpu::Buffer& buffer, std::uint64_t count, std::uint64_t first = 0);
  [[nodiscard]] Async<Result<>> take_oldest();
  void measure_steps();
  [[nodiscard]] Async<Result<>> draw_first(const std::vector<SequenceId>& sequences);
  void record_draw(gpu::Pass& pass, const std::vector<SequenceId>& sequences);
  void count_decode(std::uint32_t dispatches);
  void finish_draws(gpu::Encoder encoder, const std::vector<SequenceId>& sequences);
  void draw_further(std::size_t steps);
  // Positions that still fit behind what was fed, of all the sequences, with a token to be drawn behind each.
  [[nodiscard]] std::size_t may_feed(const std::vector<SequenceId>& sequences) {
    std::uint32_t left = options_.context;
    for (const SequenceId id : sequences) left = std::min(left, options_.context - 1 - std::min(options_.context - 1, at(id).fed));
    return left;
  }
  void end_stream() { stream_.clear(); }
  [[nodiscard]] Result<> check_device() const;

  gpu::Device& device_;
  const Config config_;
  const EngineOptions options_;
  const RowBuffers buffers_;
  gpu::PipelineCache pipelines_;
  std::unique_ptr<ModelProgram> program_;
  gpu::ReadbackRing drawn_ring_;
  gpu::Buffer last_hidden_;  // [slot][embedding]
  std::vector<std::shared_ptr<Staging>> stagings_;
  std::vector<std::optional<Sequence>> sequences_;
  std::deque<UnderWay> under_way_;
  std::vector<SequenceId> stream_;                // Whose last drawn tokens are in the device's rows; empty when the rows were used otherwise.
  std::unique_ptr<kernels::GpuSampler> sampler_;  // Null without the last layer.
  std::optional<kernels::GpuSampler::Rows> sampled_rows_;
  std::vector<std::uint32_t> steps_;  // Of the sampler, recorded and not yet submitted.
  std::size_t steps_a_submit_ = 1;
  std::int64_t steps_taken_ = 0;                   // Since then:
  std::chrono::steady_clock::time_point taken_{};  // When the last draw came back.
  EngineCounters counters_;
};

Async<Result<>> GpuEngine::load(const Model& model, const gguf::Source& source, LoadProgress on_progress) {
  std::uint64_t total = 0, done = 0;
  const auto count = [&](Weight weight) { total += weight == nullptr ? 0 : weight->bytes; };
  count(model.token_embedding);
  if (model.output != model.token_embedding) count(model.output);
  for (std::uint32_t i = options_.layers.begin; i < options_.layers.end; ++i) {
    const Layer& layer = model.layers[i];
    for (const Weight weight : {layer.feed_forward.gate, layer.feed_forward.up, layer.feed_forward.down}) count(weight);
    if (const auto* attention = std::get_if<Attention>(&layer.mixer)) {
      for (const Weight weight : {attention->q, attention->k, attention->v, attention->output}) count(weight);
    } else {
      const auto& delta = std::get<DeltaNet>(layer.mixer);
      for (const Weight weight : {delta.qkv, delta.gate, delta.output}) count(weight);
    }
  }
  const auto on_bytes = [&](std::uint64_t bytes) {
    done = std::min(total, done + bytes);
    if (on_progress) on_progress(done, total);
  };
  device_.push_error_scope(gpu::Device::ErrorFilter::out_of_memory);
  auto program = co_await ModelProgram::create(device_, model, source, options_, buffers_, pipelines_, on_bytes);
  if (program && options_.layers.end == config_.layers) {
    auto sampler = co_await kernels::GpuSampler::create(device_, {.vocabulary = config_.vocabulary,
                                                                  .rows = options_.sequences,
                                                                  .slots = options_.sequences,
                                                                  .steps = std::bit_ceil(static_cast<std::uint32_t>(draws_under_way_max))});
    if (sampler) {
      sampler_ = std::move(*sampler);
      sampled_rows_ = sampler_->bind(buffers_.logits, buffers_.tokens, buffers_.places);
    } else {
      program = std::unexpected(sampler.error());
    }
  }
  const auto memory = co_await device_.pop_error_scope();
  if (!memory)
    co_return fail(ErrorCode::out_of_memory,
                   "The device has no room for the model ({} MiB) and its cache: choose a smaller model or context (--context).", total >> 20);
  WEFT_CO_ASSIGN(program_, std::move(program));
  co_return check_device();
}

std::string GpuEngine::device() const {
  const gpu::AdapterInfo& adapter = device_.adapter();
  return (adapter.device.empty() ? adapter.description.empty() ? adapter.vendor : adapter.description : adapter.device) + " (" + adapter.backend +
         ")";
}

Result<> GpuEngine::check_device() const {
  if (const auto reason = device_.lost()) return fail(ErrorCode::device_lost, "The GPU was lost: {}", *reason);
  return {};
}

Result<SequenceId> GpuEngine::open() {
  const auto free = std::ranges::find_if(sequences_, [](const auto& slot) { return !slot.has_value(); });
  if (free == sequences_.end())
    return fail(ErrorCode::resource_exhausted, "All {} sequences are in use (EngineOptions::sequences).", sequences_.size());
  free->emplace();
  const auto id = static_cast<SequenceId>(free - sequences_.begin());
  reset(id);
  return id;
}

void GpuEngine::close(SequenceId id) {
  end_stream();
  // What is under way names the slot; nobody takes it any more.
  for (UnderWay& pass : under_way_) {
    for (std::size_t i = 0; i < pass.sequences.size(); ++i)
      if (pass.sequences[i] == id) pass.epochs[i] = ~std::uint64_t{0};
  }
  sequences_[index(id)].reset();
}

// An empty sequence: caches need no clearing, recurrent states do.
void GpuEngine::reset(SequenceId id) {
  Sequence& sequence = at(id);
  sequence.ahead.clear();
  sequence.under_way = 0;
  ++sequence.epoch;
  sequence.fed = 0;
  sequence.hidden_at.reset();
  bool any = false;
  gpu::Encoder encoder = device_.create_encoder("reset");
  for (const GpuLayer& part : program_->parts()) {
    for (const GpuLayer::Memory& memory : part.recurrent) {
      encoder.clear(memory.buffer, static_cast<std::uint64_t>(id) * memory.slot_bytes, memory.slot_bytes);
      any = true;
    }
  }
  if (any) device_.submit(std::move(encoder));
}

// Forgets what was drawn ahead. A recurrent state that took it in begins anew.
void GpuEngine::settle(SequenceId id) {
  Sequence& sequence = at(id);
  if (sequence.ahead.empty() && sequence.under_way == 0 && sequence.fed <= sequence.length) return;
  end_stream();
  sequence.ahead.clear();
  sequence.under_way = 0;
  ++sequence.epoch;
  if (sequence.fed <= sequence.length) return;
  if (config_.delta_net) {
    reset(id);
  } else {
    sequence.fed = sequence.length;
    sequence.hidden_at.reset();
  }
}

std::uint32_t GpuEngine::rewind(SequenceId id, std::uint32_t wanted) {
  Sequence& sequence = at(id);
  if (wanted >= sequence.length) return sequence.length;
  settle(id);
  end_stream();
  if (wanted < sequence.fed) {
    if (config_.delta_net || wanted == 0) {
      reset(id);
      sequence.tokens.clear();
      sequence.length = 0;
      return 0;
    }
    sequence.fed = wanted;
    sequence.hidden_at.reset();
  }
  sequence.length = wanted;
  if (!sequence.tokens.empty()) sequence.tokens.resize(wanted);
  return wanted;
}

void GpuEngine::set_sampling(SequenceId id, const Sampling& sampling) {
  settle(id);
  at(id).sampling = sampling;
  if (sampler_) sampler_->set_sampling(static_cast<std::uint32_t>(id), row_sampling(sampling));
}

Result<> GpuEngine::fits(const Sequence& sequence, std::size_t more) const {
  if (sequence.length + more > options_.context)
    return fail(ErrorCode::resource_exhausted, "{} behind {} {} not fit into the context of {} (--context).", counted(more, "token"), sequence.length,
                more == 1 ? "does" : "do", options_.context);
  return {};
}

Result<> GpuEngine::check_tokens(std::span<const Token> tokens) const {
  check(options_.layers.begin == 0, "tokens go to the engine with the first layer");
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= config_.vocabulary)
      return fail(ErrorCode::invalid_argument, "{} is no token of the model, which has {}.", token, config_.vocabulary);
  }
  return {};
}

// The rows of a pass are positions [first, first + count) of one sequence.
void GpuEngine::place_rows(SequenceId id, std::uint32_t first, std::uint32_t count) {
  end_stream();
  const auto slot = static_cast<std::uint32_t>(id);
  std::vector<RowPlace> places(count);
  for (std::uint32_t i = 0; i < count; ++i) places[i] = {.slot = slot, .position = first + i, .run = i};
  const Segment segment{.slot = slot, .first_row = 0, .rows = count};
  buffers_.write_rows(device_, places, std::span(&segment, 1));
}

gpu::Encoder GpuEngine::begin_layers(const RowCount& rows, bool embed, const char* label) {
  // Recording and submitting a dispatch takes a third of what it runs with few rows: the device begins behind the first of them.
  constexpr std::uint32_t first_piece = 12, piece = 48, few_rows = 16;
  const Program& layers = program_->layers(rows);
  const bool in_pieces = rows.rows <= few_rows;
  std::size_t next = 0;
  for (std::uint32_t most = first_piece;; most = piece) {
    gpu::Encoder encoder = device_.create_encoder(label);
    {
      gpu::Pass pass = encoder.begin_pass(label);
      if (embed && next == 0) counters_.dispatches += program_->embed().record(pass, rows);
      counters_.dispatches += layers.record_piece(pass, rows, next, in_pieces ? most : std::numeric_limits<std::uint32_t>::max());
    }
    if (next == layers.size()) return encoder;
    device_.submit(std::move(encoder));
    ++counters_.submits;
  }
}

void GpuEngine::feed(SequenceId id, const std::function<void(gpu::Encoder&, std::uint32_t rows)>& record) {
  Sequence& sequence = at(id);
  const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
  while (sequence.fed < sequence.length) {
    const std::uint32_t count = std::min(buffers_.shape.rows, sequence.length - sequence.fed);
    place_rows(id, sequence.fed, count);
    buffers_.write_tokens(device_, std::span(sequence.tokens).subspan(sequence.fed, count));
    gpu::Encoder encoder = begin_layers({.rows = count, .segments = 1, .positions = sequence.fed + count}, true, "feed");
    encoder.copy(buffers_.hidden, (count - 1) * row_bytes, last_hidden_, static_cast<std::uint64_t>(id) * row_bytes, row_bytes);
    if (record) record(encoder, count);
    device_.submit(std::move(encoder));
    ++counters_.submits;
    sequence.fed += count;
    sequence.hidden_at = sequence.fed;
  }
}

// The final hidden state behind the last position is in last_hidden_.
void GpuEngine::ensure_hidden(SequenceId id) {
  Sequence& sequence = at(id);
  settle(id);
  if (sequence.fed == sequence.length && sequence.hidden_at != sequence.length) {
    check(!config_.delta_net, "a recurrent state never lies behind its hidden state");
    --sequence.fed;
  }
  feed(id);
}

Async<Result<>> GpuEngine::append(SequenceId id, std::vector<Token> tokens) {
  Sequence& sequence = at(id);
  WEFT_CO_OK(check_device());
  WEFT_CO_OK(fits(sequence, tokens.size()));
  WEFT_CO_OK(check_tokens(tokens));
  settle(id);
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  sequence.length += static_cast<std::uint32_t>(tokens.size());
  feed(id);
  co_return Result<>();
}

std::uint32_t GpuEngine::record_head(gpu::Encoder& encoder, const std::vector<SequenceId>& sequences) {
  const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
  for (std::size_t i = 0; i < sequences.size(); ++i)
    encoder.copy(last_hidden_, static_cast<std::uint64_t>(sequences[i]) * row_bytes, buffers_.hidden, i * row_bytes, row_bytes);
  gpu::Pass pass = encoder.begin_pass("head");
  const auto rows = static_cast<std::uint32_t>(sequences.size());
  const RowCount count{.rows = rows, .segments = rows, .positions = 0};
  return program_->head(count).record(pass, count);
}

GpuEngine::FloatsBack GpuEngine::record_floats(gpu::Encoder& encoder, const gpu::Buffer& buffer, std::uint64_t count, std::uint64_t first) {
  const std::uint64_t bytes = count * 4;
  auto free = std::ranges::find_if(stagings_, [&](const auto& staging) { return !staging->taken && staging->buffer.size() >= bytes; });
  if (free == stagings_.end()) {
    // Those that are too small now would be so again.
    std::erase_if(stagings_, [](const auto& staging) { return !staging->taken; });
    stagings_.push_back(std::make_shared<Staging>(
        Staging{.buffer = device_.create_buffer(
                    {.size = std::bit_ceil(bytes), .usage = BufferUsage::map_read | BufferUsage::copy_destination, .label = "readback"})}));
    free = stagings_.end() - 1;
  }
  (*free)->taken = true;
  encoder.copy(buffer, first * 4, (*free)->buffer, 0, bytes);
  return {.staging = *free, .count = count};
}

Async<Result<std::vector<float>>> GpuEngine::floats_of(FloatsBack back) {
  std::vector<float> out(back.count);
  const Result<> read = co_await device_.read(back.staging->buffer, 0, {reinterpret_cast<std::uint8_t*>(out.data()), out.size() * 4});
  back.staging->taken = false;
  if (!read) co_return std::unexpected(read.error());
  co_return out;
}

Async<Result<std::vector<float>>> GpuEngine::read_floats_back(const gpu::Buffer& buffer, std::uint64_t count, std::uint64_t first) {
  gpu::Encoder encoder = device_.create_encoder("readback");
  FloatsBack back = record_floats(encoder, buffer, count, first);
  device_.submit(std::move(encoder));
  ++counters_.submits;
  return floats_of(std::move(back));
}

Async<Result<std::vector<float>>> GpuEngine::logits(SequenceId id) {
  check(options_.layers.end == config_.layers, "logits come from the engine with the last layer");
  WEFT_CO_OK(check_device());
  if (at(id).length == 0) co_return fail(ErrorCode::invalid_argument, "There are no logits before the first token.");
  ensure_hidden(id);
  place_rows(id, at(id).length, 1);
  gpu::Encoder encoder = device_.create_encoder("logits");
  std::vector<SequenceId> one{id};
  counters_.dispatches += record_head(encoder, one);
  FloatsBack back = record_floats(encoder, buffers_.logits, config_.vocabulary);
  device_.submit(std::move(encoder));
  ++counters_.submits;
  co_return co_await floats_of(std::move(back));
}

Async<Result<std::vector<float>>> GpuEngine::last_hidden(SequenceId id) {
  WEFT_CO_OK(check_device());
  if (at(id).length == 0) co_return fail(ErrorCode::invalid_argument, "There is no hidden state before the first token.");
  ensure_hidden(id);
  co_return co_await read_floats_back(last_hidden_, config_.embedding, static_cast<std::uint64_t>(id) * config_.embedding);
}

// As the sampler leaves it (GpuDrawn).
Drawn drawn_of(ByteSpan bytes) {
  std::uint32_t token = 0;
  Drawn drawn;
  std::memcpy(&token, bytes.data(), 4);
  std::memcpy(&drawn.logprob, bytes.data() + 4, 4);
  drawn.token = static_cast<Token>(token);
  return drawn;
}

// Waits for the oldest pass that is under way and keeps what it drew.
Async<Result<>> GpuEngine::take_oldest() {
  WEFT_CO_ASSIGN(const ByteSpan bytes, co_await under_way_.front().read.bytes());
  const UnderWay& pass = under_way_.front();
  for (std::size_t i = 0; i < pass.sequences.size(); ++i) {
    const auto slot = static_cast<std::size_t>(pass.sequences[i]);
    if (!sequences_[slot] || sequences_[slot]->epoch != pass.epochs[i]) continue;
    sequences_[slot]->ahead.push_back(drawn_of(bytes.subspan(i * 8)));
    --sequences_[slot]->under_way;
  }
  under_way_.pop_front();
  ++steps_taken_;
  if (under_way_.size() % steps_a_submit_ == 0) measure_steps();
  co_return Result<>();
}

// How quick steps are while there is always one behind decides how many go into a submit.
void GpuEngine::measure_steps() {
  const auto now = std::chrono::steady_clock::now();
  if (taken_ != std::chrono::steady_clock::time_point{} && !under_way_.empty() && steps_taken_ > 0) {
    const auto step = (now - taken_) / steps_taken_;
    steps_a_submit_ = step * steps_max < submit_time_max ? steps_max : 1;
  }
  taken_ = under_way_.empty() ? std::chrono::steady_clock::time_point{} : now;
  steps_taken_ = 0;
}

// One draw of a pass that is being recorded.
void GpuEngine::record_draw(gpu::Pass& pass, const std::vector<SequenceId>& sequences) {
  std::vector<std::uint32_t> slots;
  for (const SequenceId id : sequences) slots.push_back(static_cast<std::uint32_t>(id));
  steps_.push_back(sampler_->record(pass, *sampled_rows_, slots));
  count_decode(sampler_->dispatches(slots));
  ++counters_.decode_steps;
}

void GpuEngine::count_decode(std::uint32_t dispatches) {
  counters_.dispatches += dispatches;
  counters_.decode_dispatches += dispatches;
}

// What was drawn goes on its way back to the CPU.
void GpuEngine::finish_draws(gpu::Encoder encoder, const std::vector<SequenceId>& sequences) {
  const std::size_t first = under_way_.size();
  for (const std::uint32_t step : steps_) {
    auto read = drawn_ring_.record(encoder, sampler_->drawn(), sampler_->drawn_offset(step), std::uint64_t{sequences.size()} * 8);
    check(read.has_value(), "there are as many slots as draws under way");
    UnderWay draw{.read = std::move(*read), .sequences = sequences, .epochs = {}};
    for (const SequenceId id : sequences) {
      draw.epochs.push_back(at(id).epoch);
      ++at(id).under_way;
    }
    under_way_.push_back(std::move(draw));
  }
  steps_.clear();
  device_.submit(std::move(encoder));
  for (std::size_t i = first; i < under_way_.size(); ++i) under_way_[i].read.begin();
  ++counters_.submits;
  ++counters_.decode_submits;
}

// The first draw of these sequences together: from their final hidden states.
Async<Result<>> GpuEngine::draw_first(const std::vector<SequenceId>& sequences) {
  for (const SequenceId id : sequences) ensure_hidden(id);
  std::vector<RowPlace> places;
  std::vector<Segment> segments;
  for (const SequenceId id : sequences) {
    const auto slot = static_cast<std::uint32_t>(id), row = static_cast<std::uint32_t>(places.size());
    // One position early: what advances the rows after a draw puts them where the drawn token stands.
    places.push_back({.slot = slot, .position = at(id).length - 1, .run = 0});
    segments.push_back({.slot = slot, .first_row = row, .rows = 1});
    // What penalties look back at; a stream remembers what it draws by itself.
    const Sequence& sequence = at(id);
    if (sequence.sampling.has_penalties()) {
      const std::size_t count = std::min<std::size_t>(sequence.sampling.penalty_window, sequence.tokens.size());
      std::vector<std::uint32_t> last(sequence.tokens.end() - static_cast<std::ptrdiff_t>(count), sequence.tokens.end());
      sampler_->remember(slot, sequence.length - static_cast<std::uint32_t>(count), last);
    }
  }
  buffers_.write_rows(device_, places, segments);
  gpu::Encoder encoder = device_.create_encoder("draw");
  count_decode(record_head(encoder, sequences));
  {
    gpu::Pass pass = encoder.begin_pass("draw");
    record_draw(pass, sequences);
  }
  finish_draws(std::move(encoder), sequences);
  stream_ = sequences;
  co_return Result<>();
}

// Further draws, in one submit, for the sequences whose last drawn tokens are in the rows.
void GpuEngine::draw_further(std::size_t steps) {
  const auto rows = static_cast<std::uint32_t>(stream_.size());
  gpu::Encoder encoder = device_.create_encoder("decode");
  {
    gpu::Pass pass = encoder.begin_pass("decode");
    RowCount count{.rows = rows, .segments = rows, .positions = 0};
    for (const SequenceId id : stream_) count.positions = std::max(count.positions, at(id).fed);
    for (std::size_t step = 0; step < steps; ++step) {
      ++count.positions;
      count_decode(program_->embed().record(pass, count) + program_->layers(count).record(pass, count) + program_->head(count).record(pass, count));
      record_draw(pass, stream_);
    }
  }
  finish_draws(std::move(encoder), stream_);
  for (const SequenceId id : stream_) {
    at(id).fed += static_cast<std::uint32_t>(steps);
    at(id).hidden_at.reset();
  }
}

Async<Result<std::vector<Drawn>>> GpuEngine::draw(std::vector<SequenceId> sequences, std::uint32_t more) {
  check(options_.layers.end == config_.layers && options_.layers.begin == 0, "tokens are drawn by the engine with all layers");
  WEFT_CO_OK(check_device());
  std::uint32_t room = options_.context;
  for (const SequenceId id : sequences) {
    Sequence& sequence = at(id);
    WEFT_CO_OK(fits(sequence, 1));
    if (sequence.length == 0) co_return fail(ErrorCode::invalid_argument, "There are no logits before the first token.");
    room = std::min(room, options_.context - sequence.length);
  }
  const auto lacking = [&] {
    std::vector<SequenceId> ids;
    for (const SequenceId id : sequences)
      if (at(id).ahead.empty()) ids.push_back(id);
    return ids;
  };
  for (std::vector<SequenceId> needed = lacking(); !needed.empty(); needed = lacking()) {
    const bool coming = std::ranges::all_of(needed, [&](SequenceId id) { return at(id).under_way > 0; });
    if (!coming) {
      if (stream_ != needed) {
        // Rows are about to be written anew: what is under way comes in first.
        while (!under_way_.empty()) WEFT_CO_OK(co_await take_oldest());
        needed = lacking();
        if (needed.empty()) break;
        WEFT_CO_OK(co_await draw_first(needed));
      } else {
        draw_further(1);
      }
    }
    // Work ahead, as long as it is likely to be wanted and fits: where steps are quick, several in a submit.
    const std::size_t wanted = std::min<std::size_t>({std::size_t{more} + 1, room});
    while (stream_ == sequences && under_way_.size() < std::min(wanted, submits_ahead * steps_a_submit_) && may_feed(sequences) > 0)
      draw_further(std::min<std::size_t>({steps_a_submit_, wanted - under_way_.size(), may_feed(sequences)}));
    WEFT_CO_OK(co_await take_oldest());
  }
  std::vector<Drawn> out;
  for (const SequenceId id : sequences) {
    Sequence& sequence = at(id);
    out.push_back(sequence.ahead.front());
    sequence.ahead.pop_front();
    sequence.tokens.push_back(out.back().token);
    ++sequence.length;
  }
  co_return out;
}

Result<> GpuEngine::takes_hidden(const Sequence& sequence, const std::vector<float>& hidden) const {
  WEFT_OK(check_device());
  const std::uint32_t width = config_.embedding;
  if (hidden.empty() || hidden.size() % width != 0)
    return fail(ErrorCode::invalid_argument, "{} numbers are no hidden states of {} each.", hidden.size(), width);
  return fits(sequence, hidden.size() / width);
}

void GpuEngine::pass_hidden(SequenceId id, std::span<const float> states, const std::function<void(gpu::Encoder&)>& record) {
  Sequence& sequence = at(id);
  const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
  const auto count = static_cast<std::uint32_t>(states.size() / config_.embedding);
  place_rows(id, sequence.fed, count);
  device_.write(buffers_.hidden, 0, as_bytes(states));
  gpu::Encoder encoder = begin_layers({.rows = count, .segments = 1, .positions = sequence.fed + count}, false, "forward");
  encoder.copy(buffers_.hidden, (count - 1) * row_bytes, last_hidden_, static_cast<std::uint64_t>(id) * row_bytes, row_bytes);
  if (record) record(encoder);
  device_.submit(std::move(encoder));
  ++counters_.submits;
  sequence.fed += count;
  sequence.length = sequence.fed;
  sequence.hidden_at = sequence.fed;
}

Async<Result<std::vector<float>>> GpuEngine::forward(SequenceId id, std::vector<float> hidden) {
  WEFT_CO_OK(takes_hidden(at(id), hidden));
  const std::size_t rows_max = std::size_t{buffers_.shape.rows} * config_.embedding;
  for (std::size_t done = 0; done < hidden.size();) {
    const std::span<float> states = std::span(hidden).subspan(done, std::min(rows_max, hidden.size() - done));
    FloatsBack back;
    pass_hidden(id, states, [&](gpu::Encoder& encoder) { back = record_floats(encoder, buffers_.hidden, states.size()); });
    WEFT_CO_ASSIGN(const std::vector<float> out, co_await floats_of(std::move(back)));
    std::ranges::copy(out, states.begin());
    done += states.size();
  }
  co_return hidden;
}

Async<Result<>> GpuEngine::absorb(SequenceId id, std::vector<float> hidden) {
  WEFT_CO_OK(takes_hidden(at(id), hidden));
  const std::size_t rows_max = std::size_t{buffers_.shape.rows} * config_.embedding;
  for (std::size_t done = 0; done < hidden.size(); done += rows_max)
    pass_hidden(id, std::span<const float>(hidden).subspan(done, std::min(rows_max, hidden.size() - done)), {});
  co_return Result<>();
}

Async<Result<Drawn>> GpuEngine::draw_behind(SequenceId id, Sampling sampling, std::vector<Token> tokens) {
  check(options_.layers.end == config_.layers && options_.layers.begin > 0, "the engine with the last layers draws behind hidden states");
  WEFT_CO_OK(check_device());
  Sequence& sequence = at(id);
  if (sequence.length == 0 || sequence.hidden_at != sequence.length || tokens.size() != sequence.length)
    co_return fail(ErrorCode::unavailable, "A stage has no hidden state behind position {} to draw from.", sequence.length);
  if (drawn_ring_.free_slots() == 0) co_return co_await Engine::draw_behind(id, sampling, std::move(tokens));  // Others' draws are on their way.
  const auto slot = static_cast<std::uint32_t>(id);
  set_sampling(id, sampling);
  if (sampling.has_penalties()) {
    const std::size_t count = std::min<std::size_t>(sampling.penalty_window, tokens.size());
    const std::vector<std::uint32_t> last(tokens.end() - static_cast<std::ptrdiff_t>(count), tokens.end());
    sampler_->remember(slot, sequence.length - static_cast<std::uint32_t>(count), last);
  }
  end_stream();
  // One position early, as in draw_first().
  const RowPlace place{.slot = slot, .position = sequence.length - 1, .run = 0};
  const Segment segment{.slot = slot, .first_row = 0, .rows = 1};
  buffers_.write_rows(device_, std::span(&place, 1), std::span(&segment, 1));
  gpu::Encoder encoder = device_.create_encoder("draw behind");
  count_decode(record_head(encoder, {id}));
  std::uint32_t step = 0;
  {
    gpu::Pass pass = encoder.begin_pass("draw behind");
    const std::array<std::uint32_t, 1> slots{slot};
    step = sampler_->record(pass, *sampled_rows_, slots);
    count_decode(sampler_->dispatches(slots));
    ++counters_.decode_steps;
  }
  WEFT_CO_ASSIGN(gpu::Readback read, drawn_ring_.record(encoder, sampler_->drawn(), sampler_->drawn_offset(step), 8));
  device_.submit(std::move(encoder));
  read.begin();
  ++counters_.submits;
  ++counters_.decode_submits;
  WEFT_CO_ASSIGN(const ByteSpan bytes, co_await read.bytes());
  co_return drawn_of(bytes);
}

Async<Result<std::vector<float>>> GpuEngine::forward_tokens(SequenceId id, std::vector<Token> tokens) {
  Sequence& sequence = at(id);
  if (tokens.empty()) co_return std::vector<float>();
  WEFT_CO_OK(check_device());
  WEFT_CO_OK(fits(sequence, tokens.size()));
  WEFT_CO_OK(check_tokens(tokens));
  const std::uint32_t width = config_.embedding;
  std::vector<float> hidden;
  hidden.reserve(tokens.size() * width);
  for (std::size_t done = 0; done < tokens.size();) {
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(buffers_.shape.rows, tokens.size() - done));
    sequence.tokens.insert(sequence.tokens.end(), tokens.begin() + static_cast<std::ptrdiff_t>(done),
                           tokens.begin() + static_cast<std::ptrdiff_t>(done + count));
    sequence.length += count;
    FloatsBack back;
    feed(id, [&](gpu::Encoder& encoder, std::uint32_t rows) { back = record_floats(encoder, buffers_.hidden, std::uint64_t{rows} * width); });
    WEFT_CO_ASSIGN(const std::vector<float> out, co_await floats_of(std::move(back)));
    hidden.insert(hidden.end(), out.begin(), out.end());
    done += count;
  }
  co_return hidden;
}

}  // namespace

Async<Result<std::unique_ptr<Engine>>> create_gpu_engine(gpu::Device& device, const Model& model, const gguf::Source& source, EngineOptions options,
                                                         LoadProgress on_progress) {
  WEFT_CO_ASSIGN(const EngineOptions completed, complete(options, model.config));
  auto engine = std::make_unique<GpuEngine>(device, model, completed);
  WEFT_CO_OK(co_await engine->load(model, source, std::move(on_progress)));
  co_return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace weft::llm
