#include "engine/llm/chain/chain_stage.h"

#include <algorithm>
#include <set>
#include <utility>

namespace weft::llm {
namespace {

// True if the frames can go through the layers in one pass: they are of different sequences, and
// each has one row, or no row if it only asks for a token after the rows of earlier frames.
bool are_rows(const std::vector<ChainFrame>& frames) {
  std::set<std::uint32_t> sequences;
  for (const ChainFrame& frame : frames) {
    if (frame.kind != ChainFrame::Kind::pass || frame.tokens.size() > 1) return false;
    sequences.insert(frame.sequence);
  }
  return frames.size() > 1 && sequences.size() == frames.size();
}

}  // namespace

std::shared_ptr<ChainStage> ChainStage::create(std::shared_ptr<Engine> engine, Options options,
                                               Lines lines) {
  return std::shared_ptr<ChainStage>(new ChainStage(std::move(engine), options, std::move(lines)));
}

ChainStage::ChainStage(std::shared_ptr<Engine> engine, Options options, Lines lines)
    : engine_(std::move(engine)), options_(options), lines_(std::move(lines)) {}

Result<> ChainStage::receive(ByteSpan bytes) {
  WEFT_ASSIGN(ChainFrame frame, decode_chain_frame(bytes));
  if (frame.kind != ChainFrame::Kind::pass && frame.kind != ChainFrame::Kind::sampling &&
      frame.kind != ChainFrame::Kind::close && frame.kind != ChainFrame::Kind::commit &&
      frame.kind != ChainFrame::Kind::together)
    return fail(ErrorCode::invalid_argument,
                "A stage of a chain receives a frame of a kind that only the first stage takes.");
  if (frame.kind == ChainFrame::Kind::together &&
      (frame.sequence < 2 || frame.sequence > engine_->options().sequences))
    return fail(ErrorCode::invalid_argument,
                "A stage of a chain with {} sequences is asked to take {} frames together.",
                engine_->options().sequences, frame.sequence);
  if (frame.values.size() != frame.tokens.size() * engine_->config().embedding)
    return fail(ErrorCode::invalid_argument,
                "A stage of a chain receives {} numbers for {} rows of {}.", frame.values.size(),
                frame.tokens.size(), engine_->config().embedding);
  if (waiting_.size() >= options_.frames_max)
    return fail(ErrorCode::resource_exhausted, "{} frames wait at a stage of the chain already.",
                waiting_.size());
  waiting_.push_back(std::move(frame));
  if (!working_ && may_work()) start(work(shared_from_this()));
  return {};
}

void ChainStage::stop(std::function<void()> done) {
  stopped_ = true;
  on_stop_ = std::move(done);
  waiting_.clear();
  if (!working_) finish();
}

void ChainStage::finish() {
  for (const auto& [number, sequence] : sequences_) engine_->close(sequence.id);
  sequences_.clear();
  if (const auto done = std::exchange(on_stop_, nullptr)) done();
}

void ChainStage::say(const std::function<void(ByteVector)>& line, const ChainFrame& frame) const {
  if (!stopped_) line(encode(frame, options_.wire));
}

// If a pass frame fails, it is sent on without its rows, so that the frames of all lines keep the
// same numbers.
void ChainStage::fail_frame(const ChainFrame& frame, const Error& error) {
  if (frame.kind == ChainFrame::Kind::pass && !options_.last)
    say(lines_.onwards, {.sequence = frame.sequence, .ticket = frame.ticket});
  say(lines_.to_first, {.kind = ChainFrame::Kind::fault,
                        .sequence = frame.sequence,
                        .ticket = frame.ticket,
                        .code = error.code,
                        .message = error.message});
}

bool ChainStage::may_work() const {
  if (waiting_.empty()) return false;
  const ChainFrame& next = waiting_.front();
  return next.kind != ChainFrame::Kind::together || waiting_.size() > next.sequence;
}

std::vector<ChainFrame> ChainStage::take_next() {
  std::size_t count = 1;
  if (waiting_.front().kind == ChainFrame::Kind::together) {
    count = waiting_.front().sequence;
    if (!options_.last) say(lines_.onwards, waiting_.front());
    waiting_.pop_front();
  }
  std::vector<ChainFrame> frames;
  for (; count > 0; --count) {
    frames.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return frames;
}

Async<> ChainStage::work(std::shared_ptr<ChainStage> self) {
  self->working_ = true;
  while (self->may_work()) {
    std::vector<ChainFrame> frames = self->take_next();
    if (are_rows(frames)) {
      co_await self->pass_together(std::move(frames));
      continue;
    }
    for (ChainFrame& frame : frames) {
      const ChainFrame head{.kind = frame.kind, .sequence = frame.sequence, .ticket = frame.ticket};
      if (const Result<> done = co_await self->handle(std::move(frame)); !done)
        self->fail_frame(head, done.error());
    }
  }
  self->working_ = false;
  if (self->stopped_) self->finish();
}

Result<ChainStage::Sequence*> ChainStage::sequence_of(std::uint32_t number) {
  auto found = sequences_.find(number);
  if (found == sequences_.end()) {
    WEFT_ASSIGN(const SequenceId id, engine_->open());
    found = sequences_.emplace(number, Sequence{.id = id, .tokens = {}}).first;
  }
  return &found->second;
}

Async<Result<>> ChainStage::handle(ChainFrame frame) {
  if (frame.kind == ChainFrame::Kind::pass) co_return co_await pass(std::move(frame));
  if (frame.kind == ChainFrame::Kind::together)
    co_return fail(
        ErrorCode::invalid_argument,
        "A group of frames to be taken together contains the beginning of another group.");
  if (frame.kind == ChainFrame::Kind::close) {
    if (const auto found = sequences_.find(frame.sequence); found != sequences_.end()) {
      engine_->close(found->second.id);
      sequences_.erase(found);
    }
  } else if (frame.kind == ChainFrame::Kind::commit) {
    if (options_.last) say(lines_.to_first, frame);
  } else if (options_.last) {
    WEFT_CO_OK(check_sampling(frame.sampling));
    WEFT_CO_ASSIGN(Sequence* const sequence, sequence_of(frame.sequence));
    sequence->sampling = frame.sampling;
  }
  if (!options_.last) say(lines_.onwards, frame);
  co_return Result<>();
}

Result<ChainStage::Sequence*> ChainStage::at_place(const ChainFrame& frame) {
  WEFT_ASSIGN(Sequence* const sequence, sequence_of(frame.sequence));
  if (engine_->length(sequence->id) < frame.at)
    return fail(ErrorCode::unavailable,
                "A stage has read {} positions of a sequence whose next frame begins at {}.",
                engine_->length(sequence->id), frame.at);
  if (const auto kept = engine_->rewind(sequence->id, frame.at); kept != frame.at)
    return fail(ErrorCode::unavailable, "A stage cannot go back to position {}.", frame.at);
  if (!frame.tokens.empty()) {
    sequence->tokens.resize(frame.at);
    sequence->tokens.insert(sequence->tokens.end(), frame.tokens.begin(), frame.tokens.end());
  }
  return sequence;
}

Async<Result<>> ChainStage::pass(ChainFrame frame) {
  WEFT_CO_ASSIGN(Sequence* const sequence, at_place(frame));
  if (!frame.tokens.empty()) {
    if (options_.last) {
      WEFT_CO_OK(co_await engine_->absorb(sequence->id, std::move(frame.values)));
    } else {
      WEFT_CO_ASSIGN(frame.values,
                     co_await engine_->forward(sequence->id, std::move(frame.values)));
    }
  }
  if (options_.last) co_return co_await answer(*sequence, frame);
  say(lines_.onwards, frame);
  co_return Result<>();
}

Async<> ChainStage::pass_together(std::vector<ChainFrame> frames) {
  struct One {
    Sequence* sequence = nullptr;
    std::optional<Error> error;
  };
  std::vector<One> ones(frames.size());
  Rows rows;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Result<Sequence*> sequence = at_place(frames[i]);
    if (!sequence) {
      ones[i].error = sequence.error();
      continue;
    }
    ones[i].sequence = *sequence;
    if (frames[i].tokens.empty()) continue;
    rows.sequences.push_back((*sequence)->id);
    rows.hidden.insert(rows.hidden.end(), frames[i].values.begin(), frames[i].values.end());
  }
  const auto fail_rest = [&](const Error& error) {
    for (One& one : ones)
      if (!one.error) one.error = error;
  };
  if (options_.last) {
    std::vector<DrawBehind> draws;
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (!ones[i].error && frames[i].want == ChainFrame::Want::draw)
        draws.push_back({.sequence = ones[i].sequence->id,
                         .sampling = ones[i].sequence->sampling,
                         .tokens = ones[i].sequence->tokens});
    std::vector<Drawn> drawn;
    if (!rows.sequences.empty()) {
      if (const Result<> done = co_await engine_->absorb_each(std::move(rows)); !done)
        fail_rest(done.error());
    }
    const bool absorbed = std::ranges::any_of(ones, [](const One& one) { return !one.error; });
    if (absorbed && !draws.empty()) {
      auto made = co_await engine_->draw_behind_each(std::move(draws));
      if (made) {
        drawn = std::move(*made);
      } else {
        for (std::size_t i = 0; i < frames.size(); ++i)
          if (!ones[i].error && frames[i].want == ChainFrame::Want::draw)
            ones[i].error = made.error();
      }
    }
    std::size_t next = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (ones[i].error) {
        fail_frame(frames[i], *ones[i].error);
      } else if (frames[i].want == ChainFrame::Want::draw) {
        say_drawn(frames[i], drawn[next++]);
      } else if (const Result<> done = co_await answer(*ones[i].sequence, frames[i]); !done) {
        fail_frame(frames[i], done.error());
      }
    }
    co_return;
  }
  std::vector<float> hidden;
  if (!rows.sequences.empty()) {
    auto done = co_await engine_->forward_each(std::move(rows));
    if (done) {
      hidden = std::move(*done);
    } else {
      fail_rest(done.error());
    }
  }
  const std::size_t width = engine_->config().embedding;
  std::size_t next = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (ones[i].error) {
      fail_frame(frames[i], *ones[i].error);
      continue;
    }
    if (!frames[i].tokens.empty()) {
      const auto from = hidden.begin() + static_cast<std::ptrdiff_t>(next++ * width);
      frames[i].values.assign(from, from + static_cast<std::ptrdiff_t>(width));
    }
    say(lines_.onwards, frames[i]);
  }
}

void ChainStage::say_drawn(const ChainFrame& frame, const Drawn& drawn) const {
  say(lines_.to_first, {.kind = ChainFrame::Kind::drawn,
                        .sequence = frame.sequence,
                        .ticket = frame.ticket,
                        .tokens = {drawn.token},
                        .values = {drawn.logprob}});
}

Async<Result<>> ChainStage::answer(Sequence& sequence, const ChainFrame& frame) {
  if (frame.want == ChainFrame::Want::nothing) co_return Result<>();
  if (frame.want == ChainFrame::Want::hidden) {
    ChainFrame state{
        .kind = ChainFrame::Kind::hidden, .sequence = frame.sequence, .ticket = frame.ticket};
    WEFT_CO_ASSIGN(state.values, co_await engine_->last_hidden(sequence.id));
    say(lines_.to_first, state);
    co_return Result<>();
  }
  ChainFrame out{.sequence = frame.sequence, .ticket = frame.ticket};
  if (frame.want == ChainFrame::Want::logits) {
    out.kind = ChainFrame::Kind::logits;
    WEFT_CO_ASSIGN(out.values, co_await engine_->logits(sequence.id));
  } else {
    WEFT_CO_ASSIGN(const Drawn drawn,
                   co_await engine_->draw_behind(sequence.id, sequence.sampling, sequence.tokens));
    say_drawn(frame, drawn);
    co_return Result<>();
  }
  say(lines_.to_first, out);
  co_return Result<>();
}

}  // namespace weft::llm
