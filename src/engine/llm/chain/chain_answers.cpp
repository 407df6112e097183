#include "engine/llm/chain/chain_answers.h"

#include <utility>

namespace weft::llm {

ChainAnswers::Answer ChainAnswers::wait(std::uint32_t ticket) {
  const Answer answer = waiting_.emplace(ticket, Answer()).first->second;
  if (lost_) {
    waiting_.erase(ticket);
    answer.set(std::unexpected(*lost_));
  }
  return answer;
}

Result<> ChainAnswers::receive(ChainFrame frame) {
  if (frame.kind == ChainFrame::Kind::commit) return {};
  const bool drawn = frame.kind == ChainFrame::Kind::drawn && frame.tokens.size() == 1 &&
                     frame.values.size() == 1 && frame.tokens[0] >= 0 &&
                     static_cast<std::uint32_t>(frame.tokens[0]) < config_.vocabulary;
  const bool logits =
      frame.kind == ChainFrame::Kind::logits && frame.values.size() == config_.vocabulary;
  const bool hidden =
      frame.kind == ChainFrame::Kind::hidden && frame.values.size() == config_.embedding;
  const bool fault = frame.kind == ChainFrame::Kind::fault;
  if (!drawn && !logits && !hidden && !fault)
    return fail(ErrorCode::invalid_argument,
                "The chain's last stage sends a frame that is not an answer.");
  const auto found = waiting_.find(frame.ticket);
  if (found == waiting_.end()) {
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

void ChainAnswers::lose(Error error) {
  if (lost_) return;
  lost_ = std::move(error);
  // A resumed coroutine may call wait() at once; that call fails because lost_ is set.
  for (auto waiting = std::exchange(waiting_, {}); auto& [ticket, answer] : waiting)
    answer.set(std::unexpected(*lost_));
}

}  // namespace weft::llm
