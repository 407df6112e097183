// Tokens drawn by the engine with all layers, ahead of the caller's request.
#include <cstring>

#include "engine/llm/gpu/gpu_engine_state.h"

namespace weft::llm {

using kernels::RowPlace;
using kernels::Segment;

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
  if (pass.hidden) {
    WEFT_CO_ASSIGN(const ByteSpan states, co_await under_way_.front().hidden->bytes());
    const std::size_t row_bytes = std::size_t{config_.embedding} * 4;
    for (std::size_t i = 0; i < pass.rows.size(); ++i) {
      const auto slot = static_cast<std::size_t>(pass.sequences[pass.rows[i].row]);
      if (!sequences_[slot] || sequences_[slot]->epoch != pass.epochs[pass.rows[i].row]) continue;
      std::vector<float> state(config_.embedding);
      std::memcpy(state.data(), states.data() + i * row_bytes, row_bytes);
      sequences_[slot]->kept[pass.rows[i].length] = std::move(state);
    }
  }
  for (std::size_t i = 0; i < pass.sequences.size(); ++i) {
    const auto slot = static_cast<std::size_t>(pass.sequences[i]);
    if (!sequences_[slot] || sequences_[slot]->epoch != pass.epochs[i]) continue;
    sequences_[slot]->ahead.push_back(drawn_of(bytes.subspan(i * 8)));
    --sequences_[slot]->under_way;
  }
  under_way_.pop_front();
  pacer_.taken(under_way_.size(), StepPacer::Clock::now());
  co_return Result<>();
}

// One draw of a pass that is being recorded.
void GpuEngine::record_draw(gpu::Pass& pass, const std::vector<SequenceId>& sequences) {
  std::vector<std::uint32_t> slots;
  for (const SequenceId id : sequences) slots.push_back(static_cast<std::uint32_t>(id));
  steps_.push_back({.number = sampler_->record(pass, *sampled_rows_, slots)});
  count_decode(sampler_->dispatches(slots));
  ++counters_.decode_steps;
}

void GpuEngine::count_decode(std::uint32_t dispatches) {
  counters_.dispatches += dispatches;
  counters_.decode_dispatches += dispatches;
}

std::vector<GpuEngine::HiddenRow> GpuEngine::rows_to_keep(
    const std::vector<SequenceId>& sequences,
    const std::function<std::uint32_t(std::size_t)>& length) const {
  std::vector<HiddenRow> rows;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const GpuSequence& sequence = *sequences_[index(sequences[i])];
    const std::uint32_t behind = length(i);
    if (sequence.keep_every > 0 && behind >= sequence.keep_from &&
        (behind - sequence.keep_from) % sequence.keep_every == 0)
      rows.push_back({.row = static_cast<std::uint32_t>(i), .length = behind});
  }
  return rows;
}

void GpuEngine::record_hidden(gpu::Encoder& encoder, std::vector<HiddenRow> rows) {
  const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
  std::vector<std::uint64_t> offsets;
  for (const HiddenRow& row : rows) offsets.push_back(row.row * row_bytes);
  auto read = hidden_ring_->record_parts(encoder, buffers_.hidden, offsets, row_bytes);
  check(read.has_value(), "there are as many slots as draws under way");
  steps_.back().rows = std::move(rows);
  steps_.back().hidden.emplace(std::move(*read));
}

// What was drawn goes on its way back to the CPU.
void GpuEngine::finish_draws(gpu::Encoder encoder, const std::vector<SequenceId>& sequences) {
  const std::size_t first = under_way_.size();
  for (Step& step : steps_) {
    auto read = drawn_ring_.record(encoder, sampler_->drawn(), sampler_->drawn_offset(step.number),
                                   std::uint64_t{sequences.size()} * 8);
    check(read.has_value(), "there are as many slots as draws under way");
    UnderWay draw{.read = std::move(*read),
                  .sequences = sequences,
                  .epochs = {},
                  .rows = std::move(step.rows)};
    if (step.hidden) draw.hidden.emplace(std::move(*step.hidden));
    for (const SequenceId id : sequences) {
      draw.epochs.push_back(at(id).epoch);
      ++at(id).under_way;
    }
    under_way_.push_back(std::move(draw));
  }
  steps_.clear();
  device_.submit(std::move(encoder));
  for (std::size_t i = first; i < under_way_.size(); ++i) {
    under_way_[i].read.begin();
    if (under_way_[i].hidden) under_way_[i].hidden->begin();
  }
  ++counters_.submits;
  ++counters_.decode_submits;
}

void GpuEngine::remember_drawn(SequenceId id) {
  const GpuSequence& sequence = at(id);
  if (!sequence.sampling.has_penalties()) return;
  const std::size_t count =
      std::min<std::size_t>(sequence.sampling.penalty_window, sequence.tokens.size());
  std::vector<std::uint32_t> last(sequence.tokens.end() - static_cast<std::ptrdiff_t>(count),
                                  sequence.tokens.end());
  sampler_->remember(static_cast<std::uint32_t>(id),
                     sequence.length - static_cast<std::uint32_t>(count), last);
}

// The first draw of these sequences together. Those whose last token was not read yet read it here,
// a row each in one pass; the others draw from the final hidden states that they have.
Async<Result<>> GpuEngine::draw_first(const std::vector<SequenceId>& sequences) {
  std::vector<SequenceId> order, ready;
  end_stream();
  for (const SequenceId id : sequences) {
    GpuSequence& sequence = at(id);
    settle(id);
    if (sequence.fed == sequence.length && sequence.hidden_at != sequence.length) {
      check(!config_.delta_net, "a recurrent state never lies behind its hidden state");
      --sequence.fed;
    }
    if (sequence.length - sequence.fed > 1) {
      WEFT_CO_OK(co_await prepare_rows(sequence.fed, sequence.length, true));
      feed(id);
    }
    (sequence.fed == sequence.length ? ready : order).push_back(id);
  }
  RowCount behind{.rows = static_cast<std::uint32_t>(order.size()),
                  .segments = static_cast<std::uint32_t>(order.size()),
                  .positions_least = options_.context};
  for (const SequenceId id : order) {
    behind.positions = std::max(behind.positions, at(id).length);
    behind.positions_least = std::min(behind.positions_least, at(id).length);
  }
  order.insert(order.end(), ready.begin(), ready.end());
  if (behind.rows > 0)
    WEFT_CO_OK(co_await program_->prepare(maker_, behind, {.embed = true, .layers = true}));
  WEFT_CO_OK(co_await prepare_draw(order));
  std::vector<RowPlace> places;
  std::vector<Segment> segments;
  std::vector<Token> tokens;
  for (const SequenceId id : order) {
    GpuSequence& sequence = at(id);
    const auto slot = static_cast<std::uint32_t>(id),
               row = static_cast<std::uint32_t>(places.size());
    // One position early: what advances the rows after a draw puts them where the drawn token
    // stands.
    places.push_back({.slot = slot, .position = sequence.length - 1, .run = 0});
    segments.push_back({.slot = slot, .first_row = row, .rows = 1});
    if (row < behind.rows) {
      tokens.push_back(sequence.tokens.back());
      sequence.fed = sequence.length;
      sequence.hidden_at.reset();
    }
    // A stream remembers what it draws by itself.
    remember_drawn(id);
    sequence.joined_at = sequence.length;
    sequence.behind = false;
  }
  buffers_.write_rows(device_, places, segments);
  buffers_.write_tokens(device_, tokens);
  gpu::Encoder encoder =
      behind.rows > 0 ? begin_layers(behind, true, "draw") : device_.create_encoder("draw");
  // Those that are ready are behind the others, whose kernels may have written over their rows.
  const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
  for (std::size_t i = behind.rows; i < order.size(); ++i)
    encoder.copy(last_hidden_, static_cast<std::uint64_t>(order[i]) * row_bytes, buffers_.hidden,
                 i * row_bytes, row_bytes);
  {
    gpu::Pass pass = encoder.begin_pass("draw");
    const auto rows = static_cast<std::uint32_t>(order.size());
    const RowCount count{.rows = rows, .segments = rows};
    count_decode(program_->head(count).record(pass, count));
    record_draw(pass, order);
  }
  auto keep = rows_to_keep(order, [&](std::size_t i) { return at(order[i]).length; });
  if (!keep.empty()) record_hidden(encoder, std::move(keep));
  finish_draws(std::move(encoder), order);
  stream_ = std::move(order);
  co_return Result<>();
}

Async<Result<>> GpuEngine::prepare_draw(const std::vector<SequenceId>& sequences) {
  std::vector<std::uint32_t> slots;
  for (const SequenceId id : sequences) slots.push_back(static_cast<std::uint32_t>(id));
  const std::size_t rows = slots.size();
  WEFT_CO_OK(co_await sampler_->prepare(std::move(slots)));
  co_return co_await prepare_head(rows);
}

RowCount GpuEngine::stream_rows() const {
  const auto rows = static_cast<std::uint32_t>(stream_.size());
  RowCount count{.rows = rows, .segments = rows, .positions_least = options_.context};
  for (const SequenceId id : stream_) {
    const std::uint32_t fed = sequences_[index(id)]->fed;
    count.positions = std::max(count.positions, fed);
    count.positions_least = std::min(count.positions_least, fed);
  }
  return count;
}

Async<Result<>> GpuEngine::prepare_further(std::size_t steps) {
  RowCount count = stream_rows();
  ++count.positions;
  ++count.positions_least;
  WEFT_CO_OK(co_await program_->prepare(maker_, count,
                                        {.embed = true, .layers = true, .head = true},
                                        static_cast<std::uint32_t>(steps) - 1));
  co_return co_await prepare_draw(stream_);
}

// Further draws, in one submit, for the sequences whose last drawn tokens are in the rows.
void GpuEngine::draw_further(std::size_t steps) {
  gpu::Encoder encoder = device_.create_encoder("decode");
  std::optional<gpu::Pass> pass;
  RowCount count = stream_rows();
  for (std::uint32_t step = 1; step <= steps; ++step) {
    ++count.positions;
    ++count.positions_least;
    if (!pass) pass.emplace(encoder.begin_pass("decode"));
    count_decode(program_->embed().record(*pass, count) +
                 program_->layers(count).record(*pass, count) +
                 program_->head(count).record(*pass, count));
    record_draw(*pass, stream_);
    auto keep = rows_to_keep(stream_, [&](std::size_t i) { return at(stream_[i]).fed + step; });
    if (keep.empty()) continue;
    pass.reset();
    record_hidden(encoder, std::move(keep));
  }
  pass.reset();
  finish_draws(std::move(encoder), stream_);
  for (const SequenceId id : stream_) {
    at(id).fed += static_cast<std::uint32_t>(steps);
    at(id).hidden_at.reset();
  }
}

void GpuEngine::read_rows(std::size_t next) {
  // A piece is recorded while the one before it runs.
  constexpr std::uint32_t piece = 96;
  RowCount count = stream_rows();
  ++count.positions;
  ++count.positions_least;
  const EngineCounters before = counters_;
  while (true) {
    gpu::Encoder encoder = device_.create_encoder("read");
    record_layers(encoder, count, true, next, piece);
    const bool whole = next == program_->layers(count).size();
    if (whole) {
      gpu::Pass pass = encoder.begin_pass("head");
      counters_.dispatches += program_->head(count).record(pass, count);
    }
    device_.submit(std::move(encoder));
    ++counters_.submits;
    if (whole) break;
  }
  counters_.decode_dispatches += counters_.dispatches - before.dispatches;
  counters_.decode_submits += counters_.submits - before.submits;
  for (const SequenceId id : stream_) {
    ++at(id).fed;
    at(id).hidden_at.reset();
  }
  read_ = true;
}

void GpuEngine::choose_read(bool reads) {
  gpu::Encoder encoder = device_.create_encoder("choose");
  {
    gpu::Pass pass = encoder.begin_pass("choose");
    record_draw(pass, stream_);
  }
  auto keep = rows_to_keep(stream_, [&](std::size_t i) { return at(stream_[i]).fed; });
  if (!keep.empty()) record_hidden(encoder, std::move(keep));
  read_ = false;
  std::size_t next = 0;
  if (reads) {
    // So much that the rest is recorded while it runs, and that the token comes back long before
    // the rest has run.
    constexpr std::uint32_t first_piece = 32;
    RowCount count = stream_rows();
    ++count.positions;
    ++count.positions_least;
    const std::uint64_t before = counters_.dispatches;
    record_layers(encoder, count, true, next, first_piece);
    counters_.decode_dispatches += counters_.dispatches - before;
  }
  finish_draws(std::move(encoder), stream_);
  if (reads) read_rows(next);
}

bool GpuEngine::may_read(const std::vector<SequenceId>& sequences, std::uint32_t ahead) {
  return streams(sequences) &&
         std::ranges::all_of(stream_,
                             [&](SequenceId id) {
                               return drawn_ahead(id) ==
                                      (std::ranges::contains(sequences, id) ? ahead : 0);
                             }) &&
         may_feed() > 0;
}

Async<Result<>> GpuEngine::read_last(const std::vector<SequenceId>& sequences) {
  if (read_ || !may_read(sequences, 1)) co_return Result<>();
  if (compiles_later_) WEFT_CO_OK(co_await prepare_further(1));
  read_rows();
  co_return Result<>();
}

// Final hidden states that were not drawn from are kept, so that none of the rows is read again.
void GpuEngine::end_stream() {
  if (std::exchange(read_, false)) {
    const std::uint64_t row_bytes = std::uint64_t{config_.embedding} * 4;
    gpu::Encoder encoder = device_.create_encoder("rows end");
    for (std::size_t i = 0; i < stream_.size(); ++i) {
      encoder.copy(buffers_.hidden, i * row_bytes, last_hidden_,
                   static_cast<std::uint64_t>(stream_[i]) * row_bytes, row_bytes);
      at(stream_[i]).hidden_at = at(stream_[i]).fed;
    }
    device_.submit(std::move(encoder));
    ++counters_.submits;
  }
  stream_.clear();
}

Async<Result<std::vector<Drawn>>> GpuEngine::draw_tokens(std::vector<SequenceId> sequences,
                                                         Ahead ahead) {
  check(options_.layers.end == config_.layers && options_.layers.begin == 0,
        "tokens are drawn by the engine with all layers");
  WEFT_CO_OK(check_device());
  std::uint32_t room = options_.context;
  for (const SequenceId id : sequences) {
    GpuSequence& sequence = at(id);
    WEFT_CO_OK(fits(sequence, 1));
    if (sequence.length == 0)
      co_return fail(ErrorCode::invalid_argument, "There are no logits before the first token.");
    WEFT_CO_OK(grow_or_fail(id, sequence.length));
    room = std::min(room, options_.context - sequence.length);
    sequence.behind = false;
  }
  const auto lacking = [&] {
    std::vector<SequenceId> ids;
    for (const SequenceId id : sequences)
      if (at(id).ahead.empty()) ids.push_back(id);
    return ids;
  };
  for (std::vector<SequenceId> needed = lacking(); !needed.empty(); needed = lacking()) {
    const bool coming =
        std::ranges::all_of(needed, [&](SequenceId id) { return at(id).under_way > 0; });
    if (!coming) {
      if (read_ && streams(needed)) {
        if (compiles_later_) WEFT_CO_OK(co_await prepare_further(1));
        choose_read(ahead.reads && may_read(sequences, 0));
      } else if (!streams(needed) || may_feed() == 0) {
        // Rows are about to be written again: what is under way comes in first.
        while (!under_way_.empty()) WEFT_CO_OK(co_await take_oldest());
        needed = lacking();
        if (needed.empty()) break;
        WEFT_CO_OK(co_await draw_first(needed));
      } else {
        for (const SequenceId id : needed) WEFT_CO_OK(grow_or_fail(id, at(id).fed + 1));
        if (compiles_later_) WEFT_CO_OK(co_await prepare_further(1));
        draw_further(1);
      }
    }
    // Work ahead, as long as it is likely to be wanted and fits: where steps are quick, several in
    // a submit.
    const std::size_t wanted = std::min<std::size_t>({std::size_t{ahead.more} + 1, room});
    while (streams(sequences) &&
           under_way_.size() < std::min(wanted, submits_ahead * pacer_.steps()) && may_feed() > 0) {
      const std::size_t steps =
          std::min<std::size_t>({pacer_.steps(), wanted - under_way_.size(), may_feed()});
      if (compiles_later_) WEFT_CO_OK(co_await prepare_further(steps));
      draw_further(steps);
    }
    if (ahead.reads) WEFT_CO_OK(co_await read_last(sequences));
    WEFT_CO_OK(co_await take_oldest());
  }
  if (ahead.reads) WEFT_CO_OK(co_await read_last(sequences));
  std::vector<Drawn> out;
  for (const SequenceId id : sequences) {
    GpuSequence& sequence = at(id);
    out.push_back(sequence.ahead.front());
    sequence.ahead.pop_front();
    sequence.tokens.push_back(out.back().token);
    ++sequence.length;
  }
  co_return out;
}

}  // namespace weft::llm
