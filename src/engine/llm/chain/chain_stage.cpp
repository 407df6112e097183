#include "engine/llm/chain/chain_stage.h"

#include <utility>

namespace weft::llm {

std::shared_ptr<ChainStage> ChainStage::create(std::shared_ptr<Engine> engine, Options options,
                                               Lines lines) {
  return std::shared_ptr<ChainStage>(new ChainStage(std::move(engine), options, std::move(lines)));
}

ChainStage::ChainStage(std::shared_ptr<Engine> engine, Options options, Lines lines)
    : engine_(std::move(engine)), options_(options), lines_(std::move(lines)) {}

Result<> ChainStage::receive(ByteSpan bytes) {
  WEFT_ASSIGN(ChainFrame frame, decode_chain_frame(bytes));
  if (frame.kind != ChainFrame::Kind::pass && frame.kind != ChainFrame::Kind::sampling &&
      frame.kind != ChainFrame::Kind::close && frame.kind != ChainFrame::Kind::commit)
    return fail(ErrorCode::invalid_argument, "A stage of a chain gets an answer.");
  if (frame.values.size() != frame.tokens.size() * engine_->config().embedding)
    return fail(ErrorCode::invalid_argument,
                "A stage of a chain gets {} numbers for {} rows of {}.", frame.values.size(),
                frame.tokens.size(), engine_->config().embedding);
  if (waiting_.size() >= options_.frames_max)
    return fail(ErrorCode::resource_exhausted, "{} frames wait at a stage of the chain already.",
                waiting_.size());
  waiting_.push_back(std::move(frame));
  if (!working_) start(work(shared_from_this()));
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

Async<> ChainStage::work(std::shared_ptr<ChainStage> self) {
  self->working_ = true;
  while (!self->waiting_.empty()) {
    ChainFrame frame = std::move(self->waiting_.front());
    self->waiting_.pop_front();
    const std::uint32_t sequence = frame.sequence, ticket = frame.ticket;
    const bool is_pass = frame.kind == ChainFrame::Kind::pass;
    const Result<> done = co_await self->handle(std::move(frame));
    if (!done) {
      // One without rows goes on in its place: the frames of all lines have the same numbers.
      if (is_pass && !self->options_.last)
        self->say(self->lines_.onwards, {.sequence = sequence, .ticket = ticket});
      self->say(self->lines_.to_first, {.kind = ChainFrame::Kind::fault,
                                        .sequence = sequence,
                                        .ticket = ticket,
                                        .code = done.error().code,
                                        .message = done.error().message});
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

Async<Result<>> ChainStage::pass(ChainFrame frame) {
  WEFT_CO_ASSIGN(Sequence* const sequence, sequence_of(frame.sequence));
  if (engine_->length(sequence->id) < frame.at)
    co_return fail(ErrorCode::unavailable,
                   "A stage has read {} positions of a sequence whose next frame begins at {}.",
                   engine_->length(sequence->id), frame.at);
  if (const auto kept = engine_->rewind(sequence->id, frame.at); kept != frame.at)
    co_return fail(ErrorCode::unavailable, "A stage cannot go back to position {}.", frame.at);
  if (!frame.tokens.empty()) {
    sequence->tokens.resize(frame.at);
    sequence->tokens.insert(sequence->tokens.end(), frame.tokens.begin(), frame.tokens.end());
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
    out.kind = ChainFrame::Kind::drawn;
    out.tokens = {drawn.token};
    out.values = {drawn.logprob};
  }
  say(lines_.to_first, out);
  co_return Result<>();
}

}  // namespace weft::llm
