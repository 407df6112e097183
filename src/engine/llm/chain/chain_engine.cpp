#include "engine/llm/chain/chain_engine.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/counted.h"

namespace weft::llm {
namespace {

// The number of tokens that are drawn ahead if there are several groups. With 3, the stages wait
// for one another only once in four steps.
constexpr std::uint32_t steps_ahead = 3;

}  // namespace

ChainEngine::ChainEngine(Engine& first, Options options, Send send)
    : first_(first),
      options_(std::move(options)),
      engine_options_(first.options()),
      send_(std::move(send)),
      sequences_(first),
      answers_(first.config()) {
  check(first.options().layers.begin == 0, "a chain begins with the first layer");
  engine_options_.layers = {0, first.config().layers};
  if (options_.sequences > 0)
    engine_options_.sequences = std::min(engine_options_.sequences, options_.sequences);
}

void ChainEngine::send(const ChainFrame& frame) {
  if (!answers_.lost()) send_(encode(frame, options_.wire));
}

Result<> ChainEngine::receive(ByteSpan bytes) {
  WEFT_ASSIGN(ChainFrame frame, decode_chain_frame(bytes));
  return answers_.receive(std::move(frame));
}

void ChainEngine::commit() { send({.kind = ChainFrame::Kind::commit}); }

Result<SequenceId> ChainEngine::open() {
  if (sequences_.count() >= engine_options_.sequences)
    return fail(ErrorCode::resource_exhausted,
                "All {} sequences of the chain are in use (EngineOptions::sequences).",
                engine_options_.sequences);
  return sequences_.open();
}

void ChainEngine::close(SequenceId id) {
  sequences_.close(id);
  send({.kind = ChainFrame::Kind::close, .sequence = static_cast<std::uint32_t>(id)});
}

Async<Result<>> ChainEngine::pass_on(SequenceId id, std::vector<Token> tokens,
                                     ChainFrame::Want want, std::uint32_t ticket) {
  if (answers_.lost()) co_return std::unexpected(*answers_.lost());
  ChainFrame frame{.sequence = static_cast<std::uint32_t>(id),
                   .ticket = ticket,
                   .at = sequences_.fed(id),
                   .want = want,
                   .tokens = tokens};
  if (!tokens.empty()) {
    WEFT_CO_ASSIGN(frame.values, co_await first_.forward_tokens(id, std::move(tokens)));
    if (answers_.lost()) co_return std::unexpected(*answers_.lost());
  }
  send(frame);
  co_return Result<>();
}

Async<Result<ChainEngine::Answer>> ChainEngine::ask(SequenceId id, ChainFrame::Want want) {
  sequences_.settle(id);
  const std::uint32_t ticket = answers_.ticket();
  const Answer answer = answers_.wait(ticket);
  std::vector<Token> tokens;
  if (const auto drawn = sequences_.take_row(id)) tokens.push_back(*drawn);
  const bool row = !tokens.empty();
  if (auto passed = co_await pass_on(id, std::move(tokens), want, ticket); !passed) {
    answers_.forget(ticket);
    co_return std::unexpected(passed.error());
  }
  if (row) sequences_.passed(id);
  co_return answer;
}

Async<Result<>> ChainEngine::ask_each(Group& group) {
  if (answers_.lost()) co_return std::unexpected(*answers_.lost());
  std::vector<ChainFrame> frames;
  Rows rows;
  for (const SequenceId id : group.ids) {
    ChainFrame frame{.sequence = static_cast<std::uint32_t>(id),
                     .ticket = answers_.ticket(),
                     .at = sequences_.fed(id),
                     .want = ChainFrame::Want::draw};
    if (const auto drawn = sequences_.take_row(id)) {
      frame.tokens = {*drawn};
      rows.sequences.push_back(id);
      rows.tokens.push_back(*drawn);
    }
    frames.push_back(std::move(frame));
  }
  std::vector<float> hidden;
  if (!rows.sequences.empty()) {
    WEFT_CO_ASSIGN(hidden, co_await first_.forward_each(std::move(rows)));
    if (answers_.lost()) co_return std::unexpected(*answers_.lost());
  }
  if (group.ids.size() > 1)
    send({.kind = ChainFrame::Kind::together,
          .sequence = static_cast<std::uint32_t>(group.ids.size())});
  auto from = hidden.begin();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!frames[i].tokens.empty()) {
      const auto to = from + static_cast<std::ptrdiff_t>(config().embedding);
      frames[i].values.assign(from, to);
      from = to;
      sequences_.passed(group.ids[i]);
    }
    group.answers.push_back(answers_.wait(frames[i].ticket));
    send(frames[i]);
  }
  co_return Result<>();
}

Async<Result<>> ChainEngine::append(SequenceId id, std::vector<Token> tokens) {
  if (const auto room = engine_options_.context - std::min(length(id), engine_options_.context);
      tokens.size() > room)
    co_return fail(ErrorCode::resource_exhausted,
                   "{} after {} {} not fit into the context of {} (--context).",
                   counted(tokens.size(), "token"), length(id), tokens.size() == 1 ? "does" : "do",
                   engine_options_.context);
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= config().vocabulary)
      co_return fail(ErrorCode::invalid_argument,
                     "The token {} is not one of the model's {} tokens.", token,
                     config().vocabulary);
  }
  if (tokens.empty()) co_return Result<>();
  sequences_.settle(id);
  if (const auto drawn = sequences_.take_row(id)) tokens.insert(tokens.begin(), *drawn);
  for (std::size_t done = 0; done < tokens.size();) {
    const std::size_t rows = std::min<std::size_t>(options_.rows_max, tokens.size() - done);
    const auto from = tokens.begin() + static_cast<std::ptrdiff_t>(done);
    const std::vector<Token> part(from, from + static_cast<std::ptrdiff_t>(rows));
    WEFT_CO_OK(co_await pass_on(id, part, ChainFrame::Want::nothing, 0));
    sequences_.read(id, part);
    done += rows;
  }
  co_return Result<>();
}

Async<Result<std::vector<float>>> ChainEngine::logits(SequenceId id) {
  WEFT_CO_ASSIGN(const Answer answer, co_await ask(id, ChainFrame::Want::logits));
  WEFT_CO_ASSIGN(ChainFrame frame, co_await answer);
  if (frame.kind != ChainFrame::Kind::logits)
    co_return fail(
        ErrorCode::invalid_argument,
        "The chain's last stage was asked for logits and sent a drawn token or another answer.");
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

Async<Result<>> ChainEngine::take_drawn(Group& group) {
  for (std::size_t i = 0; i < group.answers.size(); ++i) {
    WEFT_CO_ASSIGN(const ChainFrame frame, co_await group.answers[i]);
    if (frame.kind != ChainFrame::Kind::drawn)
      co_return fail(ErrorCode::invalid_argument,
                     "The chain's last stage was asked for a drawn token and sent none.");
    sequences_.drew(group.ids[i], {.token = frame.tokens[0], .logprob = frame.values[0]});
  }
  group.answers.clear();
  co_return Result<>();
}

Async<Result<std::vector<Drawn>>> ChainEngine::draw(std::vector<SequenceId> sequences,
                                                    std::uint32_t more) {
  std::vector<SequenceId> needed;
  std::uint32_t room = engine_options_.context;
  for (const SequenceId id : sequences) {
    if (length(id) >= engine_options_.context)
      co_return fail(ErrorCode::resource_exhausted,
                     "1 token after {} does not fit into the context of {} (--context).",
                     length(id), engine_options_.context);
    if (sequences_.ahead(id) > 0) continue;
    needed.push_back(id);
    room = std::min(room, engine_options_.context - length(id));
  }
  const std::size_t count = std::min<std::size_t>(std::max(options_.stages, 1u), needed.size());
  // A single group draws no tokens ahead, because its next token would not come earlier, and
  // neither does a model with a recurrent state, which cannot go back.
  const bool ahead = count > 1 && !config().delta_net;
  const std::uint32_t steps = ahead ? std::min({1 + std::min(more, steps_ahead), room}) : 1;
  std::vector<Group> groups(count);
  for (std::size_t i = 0; i < needed.size(); ++i)
    groups[i * count / needed.size()].ids.push_back(needed[i]);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (Group& group : groups) {
      WEFT_CO_OK(co_await take_drawn(group));
      WEFT_CO_OK(co_await ask_each(group));
    }
  }
  for (Group& group : groups) WEFT_CO_OK(co_await take_drawn(group));
  std::vector<Drawn> drawn;
  for (const SequenceId id : sequences) drawn.push_back(sequences_.hand_out(id));
  co_return drawn;
}

void ChainEngine::set_sampling(SequenceId id, const Sampling& sampling) {
  sequences_.settle(id);  // Drops the tokens that were drawn ahead with the old settings.
  send({.kind = ChainFrame::Kind::sampling,
        .sequence = static_cast<std::uint32_t>(id),
        .sampling = sampling});
}

Async<Result<std::vector<float>>> ChainEngine::forward(SequenceId, std::vector<float>) {
  co_return fail(ErrorCode::unsupported, "A chain takes tokens, not hidden states.");
}
Async<Result<std::vector<float>>> ChainEngine::forward_tokens(SequenceId, std::vector<Token>) {
  co_return fail(ErrorCode::unsupported, "A chain gives tokens, not hidden states.");
}

}  // namespace weft::llm
