#include "engine/llm/chain/chain_engine.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/counted.h"

namespace weft::llm {

ChainEngine::ChainEngine(Engine& first, Options options, Send send)
    : first_(first),
      options_(std::move(options)),
      engine_options_(first.options()),
      send_(std::move(send)) {
  check(first.options().layers.begin == 0, "a chain begins with the first layer");
  engine_options_.layers = {0, first.config().layers};
}

ChainEngine::~ChainEngine() {
  for (const auto& [id, sequence] : sequences_) first_.close(id);
}

void ChainEngine::send(const ChainFrame& frame) {
  if (!lost_) send_(encode(frame, options_.wire));
}

Result<> ChainEngine::receive(ByteSpan bytes) {
  WEFT_ASSIGN(ChainFrame frame, decode_chain_frame(bytes));
  if (frame.kind == ChainFrame::Kind::commit) return {};
  const bool drawn = frame.kind == ChainFrame::Kind::drawn && frame.tokens.size() == 1 &&
                     frame.values.size() == 1 && frame.tokens[0] >= 0 &&
                     static_cast<std::uint32_t>(frame.tokens[0]) < config().vocabulary;
  const bool logits =
      frame.kind == ChainFrame::Kind::logits && frame.values.size() == config().vocabulary;
  const bool hidden =
      frame.kind == ChainFrame::Kind::hidden && frame.values.size() == config().embedding;
  const bool fault = frame.kind == ChainFrame::Kind::fault;
  if (!drawn && !logits && !hidden && !fault)
    return fail(ErrorCode::invalid_argument, "The chain's last stage sends what is not an answer.");
  const auto found = waiting_.find(frame.ticket);
  if (found == waiting_.end()) {
    // A fault of rows that nothing was asked of: what follows on them is wrong.
    if (fault) lose({frame.code, frame.message});
    return {};
  }
  const Answer answer = std::move(found->second);
  waiting_.erase(found);
  if (fault) {
    answer.set(std::unexpected(Error{frame.code, std::move(frame.message)}));
  } else {
    answer.set(std::move(frame));
  }
  return {};
}

void ChainEngine::commit() { send({.kind = ChainFrame::Kind::commit}); }

void ChainEngine::lose(Error error) {
  if (lost_) return;
  lost_ = std::move(error);
  // Those who are resumed may ask again at once; they hear of lost_.
  for (auto waiting = std::exchange(waiting_, {}); auto& [ticket, answer] : waiting)
    answer.set(std::unexpected(*lost_));
}

Result<SequenceId> ChainEngine::open() {
  WEFT_ASSIGN(const SequenceId id, first_.open());
  sequences_[id] = {};
  return id;
}

void ChainEngine::close(SequenceId id) {
  first_.close(id);
  sequences_.erase(id);
  send({.kind = ChainFrame::Kind::close, .sequence = static_cast<std::uint32_t>(id)});
}

std::uint32_t ChainEngine::length(SequenceId id) const {
  const Sequence& sequence = sequences_.at(id);
  return sequence.fed + (sequence.drawn ? 1 : 0);
}

std::uint32_t ChainEngine::rewind(SequenceId id, std::uint32_t length) {
  Sequence& sequence = sequences_.at(id);
  if (length > sequence.fed) return this->length(id);
  sequence.drawn.reset();
  // The other stages forget when the next rows come.
  if (length < sequence.fed) sequence.fed = first_.rewind(id, length);
  return sequence.fed;
}

Async<Result<>> ChainEngine::pass_on(SequenceId id, std::vector<Token> tokens,
                                     ChainFrame::Want want, std::uint32_t ticket) {
  if (lost_) co_return std::unexpected(*lost_);
  ChainFrame frame{.sequence = static_cast<std::uint32_t>(id),
                   .ticket = ticket,
                   .at = sequences_.at(id).fed,
                   .want = want,
                   .tokens = tokens};
  if (!tokens.empty()) {
    WEFT_CO_ASSIGN(frame.values, co_await first_.forward_tokens(id, std::move(tokens)));
    if (lost_) co_return std::unexpected(*lost_);
    sequences_.at(id).fed += static_cast<std::uint32_t>(frame.tokens.size());
  }
  send(frame);
  co_return Result<>();
}

// Passes on what was drawn last, and asks the last stage.
Async<Result<ChainEngine::Answer>> ChainEngine::ask(SequenceId id, ChainFrame::Want want) {
  const std::uint32_t ticket = ++tickets_;
  const Answer answer;
  std::vector<Token> tokens;
  if (const auto drawn = std::exchange(sequences_.at(id).drawn, {})) tokens.push_back(*drawn);
  waiting_.emplace(ticket, answer);
  if (auto passed = co_await pass_on(id, std::move(tokens), want, ticket); !passed) {
    waiting_.erase(ticket);
    co_return std::unexpected(passed.error());
  }
  co_return answer;
}

Async<Result<>> ChainEngine::append(SequenceId id, std::vector<Token> tokens) {
  if (const auto room = engine_options_.context - std::min(length(id), engine_options_.context);
      tokens.size() > room)
    co_return fail(ErrorCode::resource_exhausted,
                   "{} behind {} {} not fit into the context of {} (--context).",
                   counted(tokens.size(), "token"), length(id), tokens.size() == 1 ? "does" : "do",
                   engine_options_.context);
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= config().vocabulary)
      co_return fail(ErrorCode::invalid_argument, "{} is not a token of the model, which has {}.",
                     token, config().vocabulary);
  }
  if (tokens.empty()) co_return Result<>();
  if (const auto drawn = std::exchange(sequences_.at(id).drawn, {}))
    tokens.insert(tokens.begin(), *drawn);
  for (std::size_t done = 0; done < tokens.size();) {
    const std::size_t rows = std::min<std::size_t>(options_.rows_max, tokens.size() - done);
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(done);
    WEFT_CO_OK(co_await pass_on(id, {from, from + static_cast<std::ptrdiff_t>(rows)},
                                ChainFrame::Want::nothing, 0));
    done += rows;
  }
  co_return Result<>();
}

Async<Result<std::vector<float>>> ChainEngine::logits(SequenceId id) {
  WEFT_CO_ASSIGN(const Answer answer, co_await ask(id, ChainFrame::Want::logits));
  WEFT_CO_ASSIGN(ChainFrame frame, co_await answer);
  if (frame.kind != ChainFrame::Kind::logits)
    co_return fail(ErrorCode::invalid_argument,
                   "The chain's last stage draws where logits are wanted.");
  co_return std::move(frame.values);
}

Async<Result<std::vector<float>>> ChainEngine::last_hidden(SequenceId id) {
  WEFT_CO_ASSIGN(const Answer answer, co_await ask(id, ChainFrame::Want::hidden));
  WEFT_CO_ASSIGN(ChainFrame frame, co_await answer);
  if (frame.kind != ChainFrame::Kind::hidden)
    co_return fail(ErrorCode::invalid_argument,
                   "The chain's last stage was asked for a hidden state and sent none.");
  co_return std::move(frame.values);
}

Async<Result<std::vector<Drawn>>> ChainEngine::draw(std::vector<SequenceId> sequences,
                                                    std::uint32_t) {
  for (const SequenceId id : sequences) {
    if (length(id) >= engine_options_.context)
      co_return fail(ErrorCode::resource_exhausted,
                     "1 token behind {} does not fit into the context of {} (--context).",
                     length(id), engine_options_.context);
  }
  std::vector<Answer> answers;
  for (const SequenceId id : sequences) {
    WEFT_CO_ASSIGN(Answer answer, co_await ask(id, ChainFrame::Want::draw));
    answers.push_back(std::move(answer));
  }
  std::vector<Drawn> drawn;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    WEFT_CO_ASSIGN(const ChainFrame frame, co_await answers[i]);
    if (frame.kind != ChainFrame::Kind::drawn)
      co_return fail(ErrorCode::invalid_argument, "The chain's last stage draws nothing.");
    drawn.push_back({.token = frame.tokens[0], .logprob = frame.values[0]});
    sequences_.at(sequences[i]).drawn = frame.tokens[0];
  }
  co_return drawn;
}

void ChainEngine::set_sampling(SequenceId id, const Sampling& sampling) {
  send({.kind = ChainFrame::Kind::sampling,
        .sequence = static_cast<std::uint32_t>(id),
        .sampling = sampling});
}

Async<Result<std::vector<float>>> ChainEngine::forward(SequenceId, std::vector<float>) {
  co_return fail(ErrorCode::unsupported, "A chain takes tokens, no hidden states.");
}
Async<Result<std::vector<float>>> ChainEngine::forward_tokens(SequenceId, std::vector<Token>) {
  co_return fail(ErrorCode::unsupported, "A chain gives tokens, no hidden states.");
}

}  // namespace weft::llm
