#include "engine/llm/gpu/token_draws.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/check.h"

namespace weft::llm {

Async<Result<>> TokenDraws::prepare_draw(const std::vector<SequenceId>& ids) {
  const std::size_t rows = ids.size();
  WEFT_CO_OK(co_await sampling_.prepare(ids));
  co_return co_await passes_.prepare_head(rows);
}

Async<Result<>> TokenDraws::draw_first(const std::vector<SequenceId>& ids) {
  std::vector<SequenceId> order, ready;
  rows_.end();
  for (const SequenceId id : ids) {
    GpuSequence& sequence = sequences_.at(id);
    rows_.settle(id);
    prompts_.read_last_again(sequence);
    if (sequence.length - sequence.fed > 1) {
      WEFT_CO_OK(co_await passes_.prepare_run(sequence.fed, sequence.length, true));
      prompts_.feed(id);
    }
    (sequence.fed == sequence.length ? ready : order).push_back(id);
  }
  RowCount behind{.rows = static_cast<std::uint32_t>(order.size()),
                  .segments = static_cast<std::uint32_t>(order.size()),
                  .positions_least = setup_.options.context};
  for (const SequenceId id : order) {
    const std::uint32_t length = sequences_.at(id).length;
    behind.positions = std::max(behind.positions, length);
    behind.positions_least = std::min(behind.positions_least, length);
  }
  order.insert(order.end(), ready.begin(), ready.end());
  if (behind.rows > 0)
    WEFT_CO_OK(co_await passes_.prepare(behind, {.embed = true, .layers = true}));
  WEFT_CO_OK(co_await prepare_draw(order));
  record_first(behind, order);
  rows_.begin(std::move(order));
  co_return Result<>();
}

void TokenDraws::record_first(const RowCount& behind, const std::vector<SequenceId>& order) {
  std::vector<RowPasses::Row> rows;
  std::vector<Token> tokens;
  for (const SequenceId id : order) {
    GpuSequence& sequence = sequences_.at(id);
    if (rows.size() < behind.rows) {
      tokens.push_back(sequence.tokens.back());
      sequence.fed = sequence.length;
      sequence.hidden_at.reset();
    }
    // The position is one too small, because the sampler advances the rows after the draw, to the
    // place of the drawn token.
    rows.push_back({.id = id, .position = sequence.length - 1});
    // The sampler itself adds the tokens that these rows draw later to the penalty window.
    sampling_.remember(id, sequence.sampling, sequence.tokens, sequence.length);
    sequence.joined_at = sequence.length;
    sequence.behind = false;
  }
  passes_.place_each(rows);
  passes_.write_tokens(tokens);
  gpu::Encoder encoder =
      behind.rows > 0 ? passes_.begin_layers(behind, true, "draw") : passes_.encoder("draw");
  // The last rows only need their hidden state. It is copied after the layers ran, because the
  // kernels that compute the other rows may write over it.
  for (std::size_t i = behind.rows; i < order.size(); ++i) last_hidden_.put(encoder, order[i], i);
  {
    gpu::Pass pass = encoder.begin_pass("draw");
    const auto count = static_cast<std::uint32_t>(order.size());
    passes_.count_decode(passes_.record_head(pass, {.rows = count, .segments = count}));
    draws_.record(pass, order);
  }
  auto keep =
      draws_.rows_to_keep(order, [&](std::size_t i) { return sequences_.at(order[i]).length; });
  if (!keep.empty()) draws_.record_hidden(encoder, std::move(keep));
  draws_.submit(std::move(encoder), order);
}

Async<Result<bool>> TokenDraws::prepare_further(std::size_t steps) {
  if (!passes_.compiles_later()) co_return true;
  const std::vector<SequenceId> before = rows_.ids();
  WEFT_CO_OK(co_await passes_.prepare(rows_.next(), {.embed = true, .layers = true, .head = true},
                                      static_cast<std::uint32_t>(steps) - 1));
  WEFT_CO_OK(co_await prepare_draw(before));
  co_return rows_.ids() == before;
}

void TokenDraws::draw_further(std::size_t steps) {
  const std::vector<SequenceId>& ids = rows_.ids();
  gpu::Encoder encoder = passes_.encoder("decode");
  std::optional<gpu::Pass> pass;
  RowCount count = rows_.next();
  for (std::uint32_t step = 1; step <= steps; ++step, ++count.positions, ++count.positions_least) {
    if (!pass) pass.emplace(encoder.begin_pass("decode"));
    passes_.count_decode(passes_.record_whole(*pass, count));
    draws_.record(*pass, ids);
    auto keep =
        draws_.rows_to_keep(ids, [&](std::size_t i) { return sequences_.at(ids[i]).fed + step; });
    if (keep.empty()) continue;
    pass.reset();
    draws_.record_hidden(encoder, std::move(keep));
  }
  pass.reset();
  draws_.submit(std::move(encoder), ids);
  rows_.fed(static_cast<std::uint32_t>(steps));
}

void TokenDraws::read_rows(std::size_t next) {
  // The dispatches are submitted in pieces: each piece is recorded while the previous one runs.
  constexpr std::uint32_t piece = 96;
  const RowCount count = rows_.next();
  EngineCounters& counters = passes_.counters();
  const EngineCounters before = counters;
  for (bool whole = false; !whole;) {
    gpu::Encoder encoder = passes_.encoder("read");
    whole = passes_.record_layers(encoder, count, true, next, piece);
    if (whole) {
      gpu::Pass pass = encoder.begin_pass("head");
      passes_.count(passes_.record_head(pass, count));
    }
    passes_.submit(std::move(encoder));
  }
  counters.decode_dispatches += counters.dispatches - before.dispatches;
  counters.decode_submits += counters.submits - before.submits;
  rows_.fed(1);
  rows_.set_read(true);
}

void TokenDraws::choose_read(bool reads) {
  const std::vector<SequenceId>& ids = rows_.ids();
  gpu::Encoder encoder = passes_.encoder("choose");
  {
    gpu::Pass pass = encoder.begin_pass("choose");
    draws_.record(pass, ids);
  }
  auto keep = draws_.rows_to_keep(ids, [&](std::size_t i) { return sequences_.at(ids[i]).fed; });
  if (!keep.empty()) draws_.record_hidden(encoder, std::move(keep));
  rows_.set_read(false);
  std::size_t next = 0;
  if (reads) {
    // The first piece is long enough to record the rest while it runs, and short enough for the
    // drawn token to come back long before the rest has run.
    constexpr std::uint32_t first_piece = 32;
    EngineCounters& counters = passes_.counters();
    const std::uint64_t before = counters.dispatches;
    passes_.record_layers(encoder, rows_.next(), true, next, first_piece);
    counters.decode_dispatches += counters.dispatches - before;
  }
  draws_.submit(std::move(encoder), ids);
  if (reads) read_rows(next);
}

Async<Result<>> TokenDraws::read_last(const std::vector<SequenceId>& ids) {
  if (rows_.is_read() || !rows_.can_be_read(ids, 1)) co_return Result<>();
  WEFT_CO_ASSIGN(const bool same, co_await prepare_further(1));
  if (same) read_rows();
  co_return Result<>();
}

Result<> TokenDraws::check_draw(const std::vector<SequenceId>& ids) {
  WEFT_OK(passes_.check_device());
  for (const SequenceId id : ids) {
    GpuSequence& sequence = sequences_.at(id);
    WEFT_OK(sequences_.fits(sequence, 1));
    if (sequence.length == 0)
      return fail(ErrorCode::invalid_argument, "There are no logits before the first token.");
    WEFT_OK(sequences_.grow_or_fail(id, sequence.length));
    sequence.behind = false;
  }
  return {};
}

std::vector<SequenceId> TokenDraws::without_drawn(const std::vector<SequenceId>& ids) const {
  std::vector<SequenceId> out;
  for (const SequenceId id : ids)
    if (sequences_.at(id).ahead.empty()) out.push_back(id);
  return out;
}

Async<Result<>> TokenDraws::draw_needed(const std::vector<SequenceId>& ids, Ahead ahead) {
  std::vector<SequenceId> needed = without_drawn(ids);
  if (std::ranges::all_of(needed, [&](SequenceId id) { return sequences_.at(id).under_way > 0; }))
    co_return Result<>();
  if (rows_.is_read() && rows_.are_of(needed)) {
    WEFT_CO_ASSIGN(const bool same, co_await prepare_further(1));
    if (!same) co_return co_await draw_needed(ids, ahead);
    choose_read(ahead.reads && rows_.can_be_read(ids, 0));
  } else if (!rows_.are_of(needed) || rows_.room() == 0) {
    // draw_first() writes the rows, so that all draws under way are awaited first.
    while (draws_.size() > 0) WEFT_CO_OK(co_await draws_.take_oldest());
    needed = without_drawn(ids);
    if (!needed.empty()) WEFT_CO_OK(co_await draw_first(needed));
  } else {
    for (const SequenceId id : needed)
      WEFT_CO_OK(sequences_.grow_or_fail(id, sequences_.at(id).fed + 1));
    WEFT_CO_ASSIGN(const bool same, co_await prepare_further(1));
    if (!same) co_return co_await draw_needed(ids, ahead);
    draw_further(1);
  }
  co_return Result<>();
}

Async<Result<>> TokenDraws::draw_ahead(const std::vector<SequenceId>& ids, std::size_t wanted) {
  while (rows_.are_of(ids) &&
         draws_.size() < std::min(wanted, DrawsUnderWay::submits_ahead * draws_.steps()) &&
         rows_.room() > 0) {
    const std::size_t steps =
        std::min<std::size_t>({draws_.steps(), wanted - draws_.size(), rows_.room()});
    WEFT_CO_ASSIGN(const bool same, co_await prepare_further(steps));
    if (same) draw_further(steps);
  }
  co_return Result<>();
}

Async<Result<std::vector<Drawn>>> TokenDraws::draw(std::vector<SequenceId> ids, Ahead ahead) {
  check(setup_.options.layers.end == setup_.config.layers && setup_.options.layers.begin == 0,
        "tokens are drawn by the engine with all layers");
  WEFT_CO_OK(check_draw(ids));
  std::uint32_t room = setup_.options.context;
  for (const SequenceId id : ids)
    room = std::min(room, setup_.options.context - sequences_.at(id).length);
  const std::size_t wanted = std::min<std::size_t>(std::size_t{ahead.more} + 1, room);
  while (!without_drawn(ids).empty()) {
    WEFT_CO_OK(co_await draw_needed(ids, ahead));
    if (without_drawn(ids).empty()) break;
    WEFT_CO_OK(co_await draw_ahead(ids, wanted));
    if (ahead.reads) WEFT_CO_OK(co_await read_last(ids));
    WEFT_CO_OK(co_await draws_.take_oldest());
  }
  if (ahead.reads) WEFT_CO_OK(co_await read_last(ids));
  std::vector<Drawn> out;
  for (const SequenceId id : ids) {
    GpuSequence& sequence = sequences_.at(id);
    out.push_back(sequence.ahead.front());
    sequence.ahead.pop_front();
    sequence.tokens.push_back(out.back().token);
    ++sequence.length;
  }
  co_return out;
}

}  // namespace weft::llm
