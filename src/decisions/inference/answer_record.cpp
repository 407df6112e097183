#include "decisions/inference/answer_record.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/proof/fingerprint.h"
#include "decisions/inference/vectors.h"

namespace weft::inference {

namespace wire = protocol::serving;

void keep_prints(Prints& prints, const std::vector<wire::Print>& told, std::size_t answered) {
  for (const wire::Print& print : told) {
    if (!prints.contains(print.at) && prints.size() >= answered / 16 + 16) continue;
    if (auto bytes = from_base64(print.data)) prints[print.at] = std::move(*bytes);
  }
}

bool AnswerRecord::take(const wire::Tokens& message, const wire::Ask& ask,
                        std::uint32_t vocabulary) {
  const bool are_tokens = std::ranges::all_of(message.tokens, [&](const wire::Token& token) {
    return token.id >= 0 && static_cast<std::uint32_t>(token.id) < vocabulary;
  });
  if (message.first != tokens_.size() || !are_tokens ||
      tokens_.size() + message.tokens.size() > ask.tokens_max)
    return false;
  for (const wire::Token& token : message.tokens) tokens_.push_back(token.id);
  keep_prints(prints_, message.prints, tokens_.size());
  prompt_tokens_ = static_cast<std::uint32_t>(ask.prompt.size());
  return true;
}

bool AnswerRecord::take_vector(const std::string& text, std::uint32_t width) {
  auto vector = read_vector(text, width);
  if (!vector) {
    log_warning("A worker sends no vector of its model: {}", vector.error().message);
    return false;
  }
  if (const auto print = proof::fingerprint(*vector)) prints_ = {{0, *print}};
  vector_ = std::move(*vector);
  return true;
}

void AnswerRecord::ended(const wire::Answered& message, std::size_t prompt_tokens) {
  prompt_tokens_ = static_cast<std::uint32_t>(prompt_tokens);
  cached_tokens_ = message.reused_tokens;
  sequence_ = message.sequence;
}

std::uint64_t AnswerRecord::work_of(std::uint64_t drawn) {
  if (prompt_counted_ || prompt_tokens_ == 0) return drawn;
  prompt_counted_ = true;
  return drawn + prompt_tokens_;
}

AnswerEnd AnswerRecord::end(std::string reason, Error error) const {
  AnswerEnd out{.reason = std::move(reason),
                .error = std::move(error),
                .prompt_tokens = prompt_tokens_,
                .cached_tokens = std::min(cached_tokens_, prompt_tokens_),
                .answer_tokens = static_cast<std::uint32_t>(tokens_.size()),
                .answered = tokens_,
                .prints = prints_,
                .vector = vector_};
  for (const auto& [worker, work] : work_) out.work.push_back({.worker = worker, .work = work});
  return out;
}

}  // namespace weft::inference
