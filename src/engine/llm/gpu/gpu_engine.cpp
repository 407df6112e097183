#include "engine/llm/gpu/gpu_engine.h"

#include <bit>
#include <limits>
#include <utility>

#include "common/base/counted.h"
#include "engine/llm/gpu/gpu_engine_state.h"
#include "engine/llm/gpu/matrix_blocks.h"

namespace weft::llm {

std::string device_name(const gpu::Device& device) {
  const gpu::AdapterInfo& adapter = device.adapter();
  return (adapter.device.empty()
              ? adapter.description.empty() ? adapter.vendor : adapter.description
              : adapter.device) +
         " (" + adapter.backend + ")";
}

using kernels::RowPlace;
using kernels::Segment;

namespace {

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

// Pages of the cache: as many as the budget has room for, and one buffer of a layer can hold.
std::uint32_t pages_of(const gpu::Device& device, const Model& model, const EngineOptions& options,
                       const RowShape& shape) {
  const std::uint64_t all = std::uint64_t{options.sequences} * shape.table_pages;
  if (options.cache_bytes == 0) return static_cast<std::uint32_t>(all);
  RowShape one = shape;
  one.pages = 1;
  const std::uint64_t page = attention_spec(model.config, options, one).cache.bytes();
  std::uint64_t layers = 0;
  for (std::uint32_t i = options.layers.begin; i < options.layers.end; ++i)
    layers += std::holds_alternative<Attention>(model.layers[i].mixer) ? 1 : 0;
  const std::uint64_t bound =
      std::min(device.limits().storage_binding_bytes_max, device.limits().buffer_bytes_max);
  const std::uint64_t budget = options.cache_bytes / std::max<std::uint64_t>(1, 2 * layers * page);
  // A sequence of full length has room in any case.
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      std::min(budget, bound / page), std::min<std::uint64_t>(all, shape.table_pages), all));
}

}  // namespace

std::uint32_t sequences_that_fit(const gpu::Device& device, const Model& model,
                                 const EngineOptions& options) {
  const std::uint64_t bound =
      std::min(device.limits().storage_binding_bytes_max, device.limits().buffer_bytes_max);
  EngineOptions fitting = options;
  for (; fitting.sequences > 1; fitting.sequences /= 2) {
    RowShape shape = row_shape(model.config, fitting, 1, 1);
    shape.table_pages = (options.context + kv_page_positions - 1) / kv_page_positions;
    // A cache with a budget has as many pages as fit.
    shape.pages = options.cache_bytes == 0 ? fitting.sequences * shape.table_pages : 1;
    if (attention_spec(model.config, fitting, shape).cache.bytes() <= bound &&
        std::uint64_t{shape.logits_rows} * shape.vocabulary * 4 <= bound)
      break;
  }
  return fitting.sequences;
}

RowShape GpuEngine::shape_of(const gpu::Device& device, const Model& model,
                             const EngineOptions& options) {
  const Config& config = model.config;
  RowShape shape =
      row_shape(config, options, rows_max(device, options), decode_tuning(device, config).splits);
  shape.table_pages = (options.context + kv_page_positions - 1) / kv_page_positions;
  shape.pages = pages_of(device, model, options, shape);
  shape.tile_rows =
      flash_tuning_of(device, attention_spec(config, options, shape), options).tile_rows;
  return shape;
}

Async<Result<>> GpuEngine::load(const Model& model, const gguf::Source& source,
                                LoadProgress on_progress) {
  std::uint64_t total = 0, done = 0;
  const auto count = [&](Weight weight) { total += weight == nullptr ? 0 : weight->bytes; };
  count(model.token_embedding);
  if (model.output != model.token_embedding) count(model.output);
  for (std::uint32_t i = options_.layers.begin; i < options_.layers.end; ++i) {
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
  const auto on_bytes = [&](std::uint64_t bytes) {
    done = std::min(total, done + bytes);
    if (on_progress) on_progress(done, total);
  };
  device_.push_error_scope(gpu::Device::ErrorFilter::out_of_memory);
  auto program =
      co_await ModelProgram::create(device_, model, source, options_, buffers_,
                                    {.maker = maker_, .later = compiles_later_}, on_bytes);
  if (program && options_.layers.end == config_.layers) {
    auto sampler = co_await kernels::GpuSampler::create(
        device_, {.vocabulary = config_.vocabulary,
                  .rows = options_.sequences,
                  .slots = options_.sequences,
                  .steps = std::bit_ceil(static_cast<std::uint32_t>(draws_under_way_max)),
                  .later = compiles_later_});
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
                   "The device has no room for the model ({} MiB) and its cache: choose a smaller "
                   "model or context (--context).",
                   total >> 20);
  WEFT_CO_ASSIGN(program_, std::move(program));
  co_return check_device();
}

std::string GpuEngine::device() const { return device_name(device_); }

Result<> GpuEngine::check_device() const {
  if (const auto reason = device_.lost())
    return fail(ErrorCode::device_lost, "The GPU was lost: {}", *reason);
  return {};
}

Result<SequenceId> GpuEngine::open() {
  const auto free =
      std::ranges::find_if(sequences_, [](const auto& slot) { return !slot.has_value(); });
  if (free == sequences_.end())
    return fail(ErrorCode::resource_exhausted,
                "All {} sequences are in use (EngineOptions::sequences).", sequences_.size());
  free->emplace();
  const auto id = static_cast<SequenceId>(free - sequences_.begin());
  reset(id);
  return id;
}

void GpuEngine::close(SequenceId id) {
  end_stream();
  // Passes under way name the slot; their results are not taken any more.
  for (UnderWay& pass : under_way_) {
    for (std::size_t i = 0; i < pass.sequences.size(); ++i)
      if (pass.sequences[i] == id) pass.epochs[i] = ~std::uint64_t{0};
  }
  sequences_[index(id)].reset();
  pages_.shrink(static_cast<std::uint32_t>(id), 0);
}

bool GpuEngine::grow(SequenceId id, std::uint32_t positions) {
  const auto slot = static_cast<std::uint32_t>(id);
  if (positions <= pages_.room(slot)) return true;
  if (!pages_.grow(slot, positions)) return false;
  buffers_.write_table(device_, slot, pages_.of(slot));
  return true;
}

Result<> GpuEngine::grow_or_fail(SequenceId id, std::uint32_t positions) {
  if (grow(id, positions)) return {};
  return fail(ErrorCode::resource_exhausted,
              "The cache has {} of {} pages left, too few for {} of one sequence: end another one, "
              "or raise EngineOptions::cache_bytes.",
              pages_.free_pages(), pages_.options().pages, counted(positions, "position"));
}

Result<> GpuEngine::reserve(SequenceId id, std::uint32_t positions) {
  const GpuSequence& sequence = at(id);
  const std::uint32_t wanted =
      std::max(std::min(positions, options_.context), std::max(sequence.length, sequence.fed));
  WEFT_OK(grow_or_fail(id, wanted));
  pages_.shrink(static_cast<std::uint32_t>(id), wanted);
  return {};
}

std::uint32_t GpuEngine::share(SequenceId from, SequenceId to, std::uint32_t length) {
  GpuSequence& taker = at(to);
  const GpuSequence& giver = at(from);
  if (config_.delta_net || from == to || taker.length > 0 || giver.tokens.size() != giver.length)
    return 0;
  const auto slot = static_cast<std::uint32_t>(to);
  pages_.shrink(slot, 0);
  const std::uint32_t shared = pages_.share(static_cast<std::uint32_t>(from), slot,
                                            std::min({length, giver.length, giver.fed}));
  buffers_.write_table(device_, slot, pages_.of(slot));
  taker.tokens.assign(giver.tokens.begin(),
                      giver.tokens.begin() + static_cast<std::ptrdiff_t>(shared));
  taker.length = taker.fed = shared;
  taker.hidden_at.reset();
  return shared;
}

void GpuEngine::keep_hidden(SequenceId id, std::uint32_t from, std::uint32_t every) {
  GpuSequence& sequence = at(id);
  // What is drawn ahead was drawn without.
  settle(id);
  sequence.keep_from = from;
  sequence.keep_every = every;
  sequence.kept.clear();
  if (every > 0 && hidden_ring_ == nullptr)
    hidden_ring_ = std::make_unique<gpu::ReadbackRing>(
        device_, gpu::ReadbackRing::Options{
                     .slots = draws_under_way_max,
                     .slot_bytes = std::uint64_t{options_.sequences} * config_.embedding * 4});
}

std::optional<std::vector<float>> GpuEngine::take_hidden(SequenceId id, std::uint32_t length) {
  auto node = at(id).kept.extract(length);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

// An empty sequence: caches need no clearing, recurrent states do.
void GpuEngine::reset(SequenceId id) {
  GpuSequence& sequence = at(id);
  sequence.ahead.clear();
  sequence.kept.clear();
  sequence.under_way = 0;
  ++sequence.epoch;
  sequence.fed = 0;
  sequence.hidden_at.reset();
  bool any = false;
  gpu::Encoder encoder = device_.create_encoder("reset");
  for (const GpuLayer& part : program_->parts()) {
    for (const GpuLayer::Memory& memory : part.recurrent) {
      encoder.clear(memory.buffer, static_cast<std::uint64_t>(id) * memory.slot_bytes,
                    memory.slot_bytes);
      any = true;
    }
  }
  if (any) device_.submit(std::move(encoder));
}

// Forgets what was drawn ahead. A recurrent state that took it in begins from its start.
void GpuEngine::settle(SequenceId id) {
  GpuSequence& sequence = at(id);
  const bool behind = std::exchange(sequence.behind, false);
  if (!behind && sequence.ahead.empty() && sequence.under_way == 0 &&
      sequence.fed <= sequence.length)
    return;
  end_stream();
  // What was to be read again has been read.
  if (behind) sequence.fed = std::max(sequence.fed, sequence.length);
  sequence.ahead.clear();
  sequence.kept.erase(sequence.kept.upper_bound(sequence.length), sequence.kept.end());
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

// The row's token and place are written between passes: those that were submitted before still see
// the old ones, and what they draw for it is not taken.
bool GpuEngine::draw_again(SequenceId id) {
  GpuSequence& sequence = at(id);
  const auto row = std::ranges::find(stream_, id);
  // The token before the rows began was read in another pass; read again here, it could round
  // differently.
  if (config_.delta_net || row == stream_.end() || sequence.length <= sequence.joined_at ||
      sequence.fed < sequence.length)
    return false;
  sequence.ahead.clear();
  sequence.kept.erase(sequence.kept.upper_bound(sequence.length), sequence.kept.end());
  sequence.under_way = 0;
  ++sequence.epoch;
  sequence.fed = sequence.length - 1;
  sequence.hidden_at.reset();
  sequence.behind = true;
  remember_drawn(id);
  buffers_.write_row(
      device_, static_cast<std::uint32_t>(row - stream_.begin()),
      {.slot = static_cast<std::uint32_t>(id), .position = sequence.length - 1, .run = 0},
      sequence.tokens.back());
  return true;
}

std::uint32_t GpuEngine::rewind(SequenceId id, std::uint32_t wanted) {
  GpuSequence& sequence = at(id);
  if (wanted >= sequence.length) return sequence.length;
  settle(id);
  end_stream();
  if (!config_.delta_net) wanted = pages_.rewind(static_cast<std::uint32_t>(id), wanted);
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

void GpuEngine::set_mask(SequenceId id, std::span<const std::uint64_t> allowed) {
  // Rows that are read and wait for their draw take any mask.
  if (read_ ? drawn_ahead(id) > 0 : !draw_again(id)) settle(id);
  sampler_->set_mask(static_cast<std::uint32_t>(id), allowed);
}

Result<> GpuEngine::fits(const GpuSequence& sequence, std::size_t more) const {
  if (sequence.length + more > options_.context)
    return fail(ErrorCode::resource_exhausted,
                "{} behind {} {} not fit into the context of {} (--context).",
                counted(more, "token"), sequence.length, more == 1 ? "does" : "do",
                options_.context);
  return {};
}

Result<> GpuEngine::check_tokens(std::span<const Token> tokens) const {
  check(options_.layers.begin == 0, "tokens go to the engine with the first layer");
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= config_.vocabulary)
      return fail(ErrorCode::invalid_argument, "{} is not a token of the model, which has {}.",
                  token, config_.vocabulary);
  }
  return {};
}

// The rows of a pass are positions [first, first + count) of one sequence.
void GpuEngine::place_rows(SequenceId id, std::uint32_t first, std::uint32_t count) {
  end_stream();
  const auto slot = static_cast<std::uint32_t>(id);
  std::vector<RowPlace> places(count);
  for (std::uint32_t i = 0; i < count; ++i)
    places[i] = {.slot = slot, .position = first + i, .run = i};
  const Segment segment{.slot = slot, .first_row = 0, .rows = count};
  buffers_.write_rows(device_, places, std::span(&segment, 1));
}

Async<Result<>> GpuEngine::prepare_rows(std::uint32_t from, std::uint32_t to, bool embed) {
  while (!program_->is_whole() && from < to) {
    const std::uint32_t count = std::min(buffers_.shape.rows, to - from);
    from += count;
    WEFT_CO_OK(co_await program_->prepare(
        maker_, {.rows = count, .segments = 1, .positions = from, .positions_least = from},
        {.embed = embed, .layers = true}));
  }
  co_return Result<>();
}

Async<Result<>> GpuEngine::prepare_hidden(SequenceId id) {
  settle(id);
  if (read_) end_stream();
  const GpuSequence& sequence = at(id);
  const bool again = sequence.fed == sequence.length && sequence.hidden_at != sequence.length;
  return prepare_rows(sequence.fed - (again ? 1 : 0), sequence.length, true);
}

Async<Result<>> GpuEngine::prepare_head(std::size_t rows) {
  const auto count = static_cast<std::uint32_t>(rows);
  return program_->prepare(maker_, {.rows = count, .segments = count}, {.head = true});
}

void GpuEngine::record_layers(gpu::Encoder& encoder, const RowCount& rows, bool embed,
                              std::size_t& next, std::uint32_t most) {
  gpu::Pass pass = encoder.begin_pass("layers");
  if (embed && next == 0) counters_.dispatches += program_->embed().record(pass, rows);
  counters_.dispatches += program_->layers(rows).record_piece(pass, rows, next, most);
}

gpu::Encoder GpuEngine::begin_layers(const RowCount& rows, bool embed, const char* label) {
  // Recording and submitting a dispatch takes a third of what it runs with few rows: the device
  // begins behind the first of them.
  constexpr std::uint32_t first_piece = 12, piece = 48, few_rows = 16;
  const bool in_pieces = rows.rows <= few_rows;
  std::size_t next = 0;
  for (std::uint32_t most = first_piece;; most = piece) {
    gpu::Encoder encoder = device_.create_encoder(label);
    record_layers(encoder, rows, embed, next,
                  in_pieces ? most : std::numeric_limits<std::uint32_t>::max());
    if (next == program_->layers(rows).size()) return encoder;
    device_.submit(std::move(encoder));
    ++counters_.submits;
  }
}

void GpuEngine::feed(SequenceId id,
                     const std::function<void(gpu::Encoder&, std::uint32_t rows)>& record) {
  GpuSequence& sequence = at(id);
  const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
  while (sequence.fed < sequence.length) {
    const std::uint32_t count = std::min(buffers_.shape.rows, sequence.length - sequence.fed);
    place_rows(id, sequence.fed, count);
    buffers_.write_tokens(device_, std::span(sequence.tokens).subspan(sequence.fed, count));
    gpu::Encoder encoder = begin_layers({.rows = count,
                                         .segments = 1,
                                         .positions = sequence.fed + count,
                                         .positions_least = sequence.fed + count},
                                        true, "feed");
    encoder.copy(buffers_.hidden, (count - 1) * row_bytes, last_hidden_,
                 static_cast<std::uint64_t>(id) * row_bytes, row_bytes);
    if (record) record(encoder, count);
    device_.submit(std::move(encoder));
    ++counters_.submits;
    sequence.fed += count;
    sequence.hidden_at = sequence.fed;
  }
}

// The final hidden state behind the last position is in last_hidden_.
void GpuEngine::ensure_hidden(SequenceId id) {
  GpuSequence& sequence = at(id);
  settle(id);
  if (read_) end_stream();
  if (sequence.fed == sequence.length && sequence.hidden_at != sequence.length) {
    check(!config_.delta_net, "a recurrent state never lies behind its hidden state");
    --sequence.fed;
  }
  feed(id);
}

Async<Result<>> GpuEngine::append(SequenceId id, std::vector<Token> tokens) {
  GpuSequence& sequence = at(id);
  WEFT_CO_OK(check_device());
  WEFT_CO_OK(fits(sequence, tokens.size()));
  WEFT_CO_OK(check_tokens(tokens));
  settle(id);
  WEFT_CO_OK(grow_or_fail(id, sequence.length + static_cast<std::uint32_t>(tokens.size())));
  WEFT_CO_OK(co_await prepare_rows(
      sequence.fed, sequence.length + static_cast<std::uint32_t>(tokens.size()), true));
  sequence.tokens.insert(sequence.tokens.end(), tokens.begin(), tokens.end());
  sequence.length += static_cast<std::uint32_t>(tokens.size());
  feed(id);
  co_return Result<>();
}

std::uint32_t GpuEngine::record_head(gpu::Encoder& encoder,
                                     const std::vector<SequenceId>& sequences) {
  const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
  for (std::size_t i = 0; i < sequences.size(); ++i)
    encoder.copy(last_hidden_, static_cast<std::uint64_t>(sequences[i]) * row_bytes,
                 buffers_.hidden, i * row_bytes, row_bytes);
  gpu::Pass pass = encoder.begin_pass("head");
  const auto rows = static_cast<std::uint32_t>(sequences.size());
  const RowCount count{.rows = rows, .segments = rows};
  return program_->head(count).record(pass, count);
}

Async<Result<std::vector<float>>> GpuEngine::read_floats_back(const gpu::Buffer& buffer,
                                                              std::uint64_t count,
                                                              std::uint64_t first) {
  gpu::Encoder encoder = device_.create_encoder("readback");
  FloatReadback::Copy back = floats_.record(encoder, buffer, count, first);
  device_.submit(std::move(encoder));
  ++counters_.submits;
  return floats_.read(std::move(back));
}

Async<Result<std::vector<float>>> GpuEngine::logits(SequenceId id) {
  check(options_.layers.end == config_.layers, "logits come from the engine with the last layer");
  WEFT_CO_OK(check_device());
  if (at(id).length == 0)
    co_return fail(ErrorCode::invalid_argument, "There are no logits before the first token.");
  // A token that was drawn is read here: its position may be the first of a page.
  WEFT_CO_OK(grow_or_fail(id, at(id).length));
  WEFT_CO_OK(co_await prepare_hidden(id));
  WEFT_CO_OK(co_await prepare_head(1));
  ensure_hidden(id);
  place_rows(id, at(id).length, 1);
  gpu::Encoder encoder = device_.create_encoder("logits");
  std::vector<SequenceId> one{id};
  counters_.dispatches += record_head(encoder, one);
  FloatReadback::Copy back = floats_.record(encoder, buffers_.logits, config_.vocabulary);
  device_.submit(std::move(encoder));
  ++counters_.submits;
  co_return co_await floats_.read(std::move(back));
}

// As many rows at a time as draws have logits.
Async<Result<std::vector<float>>> GpuEngine::logits_along(SequenceId id,
                                                          std::vector<Token> tokens) {
  check(options_.layers.end == config_.layers, "logits come from the engine with the last layer");
  WEFT_CO_OK(check_device());
  WEFT_CO_OK(check_tokens(tokens));
  WEFT_CO_OK(fits(at(id), tokens.size()));
  const std::size_t rows = std::min(buffers_.shape.rows, buffers_.shape.logits_rows);
  std::vector<float> out;
  for (std::size_t done = 0; done < tokens.size(); done += rows) {
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(done);
    const std::size_t count = std::min(rows, tokens.size() - done);
    // What was drawn and not read goes before them, so that the pass has these rows alone.
    settle(id);
    WEFT_CO_OK(grow_or_fail(id, at(id).length));
    WEFT_CO_OK(co_await prepare_rows(at(id).fed, at(id).length, true));
    feed(id);
    WEFT_CO_OK(grow_or_fail(id, at(id).length + static_cast<std::uint32_t>(count)));
    WEFT_CO_OK(co_await prepare_rows(at(id).length,
                                     at(id).length + static_cast<std::uint32_t>(count), true));
    WEFT_CO_OK(co_await prepare_head(count));
    GpuSequence& sequence = at(id);
    sequence.tokens.insert(sequence.tokens.end(), from, from + static_cast<std::ptrdiff_t>(count));
    sequence.length += static_cast<std::uint32_t>(count);
    std::optional<FloatReadback::Copy> back;
    feed(id, [&](gpu::Encoder& encoder, std::uint32_t fed) {
      const RowCount head{.rows = fed, .segments = fed};
      {
        gpu::Pass pass = encoder.begin_pass("head");
        counters_.dispatches += program_->head(head).record(pass, head);
      }
      back.emplace(
          floats_.record(encoder, buffers_.logits, std::uint64_t{fed} * config_.vocabulary));
    });
    WEFT_CO_ASSIGN(const std::vector<float> logits, co_await floats_.read(std::move(*back)));
    out.insert(out.end(), logits.begin(), logits.end());
  }
  co_return out;
}

Async<Result<std::vector<float>>> GpuEngine::last_hidden(SequenceId id) {
  WEFT_CO_OK(check_device());
  if (at(id).length == 0)
    co_return fail(ErrorCode::invalid_argument, "There is no hidden state before the first token.");
  WEFT_CO_OK(grow_or_fail(id, at(id).length));
  WEFT_CO_OK(co_await prepare_hidden(id));
  ensure_hidden(id);
  co_return co_await read_floats_back(last_hidden_, config_.embedding,
                                      static_cast<std::uint64_t>(id) * config_.embedding);
}

Async<Result<std::unique_ptr<Engine>>> create_gpu_engine(gpu::Device& device, const Model& model,
                                                         const gguf::Source& source,
                                                         EngineOptions options,
                                                         LoadProgress on_progress,
                                                         CompileKernels compile) {
  // If there are no matrices, as the engine on the processor goes without int8.
  if (options.activations == Activations::f16 && !matrix_blocks_possible(device, model.config))
    options.activations = Activations::int8;
  WEFT_CO_ASSIGN(const EngineOptions completed, complete(options, model.config));
  auto engine = std::make_unique<GpuEngine>(device, model, completed, compile);
  WEFT_CO_OK(co_await engine->load(model, source, std::move(on_progress)));
  co_return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace weft::llm
