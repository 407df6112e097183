#include "apps/coordinator/http/answer_writer.h"

#include <utility>

namespace weft::coordinator {

AnswerWriter::AnswerWriter(std::shared_ptr<const TokenTexts> tokens, Options options)
    : tokens_(std::move(tokens)),
      shows_calls_(options.shows_calls),
      begins_in_thought_(options.begins_in_thought),
      stops_(std::move(options.stop)) {}

std::string AnswerWriter::text_of(std::int32_t token) {
  const TokenTexts::Kind kind = tokens_->kind(token);
  if (kind.ends_answer) return {};
  if (!kind.is_control) return whole_.push(tokens_->text(token));
  if (!shows_calls_ || !kind.marks_a_call) return {};
  return whole_.finish() + std::string(tokens_->text(token));
}

std::vector<SaidToken> AnswerWriter::write(std::span<const protocol::serving::Token> tokens) {
  std::vector<SaidToken> out;
  out.reserve(tokens.size());
  for (const protocol::serving::Token& token : tokens) {
    SaidToken said{.id = token.id, .logprob = token.logprob};
    // The template has begun the thought in the prompt, so the answer's text gets the mark that it
    // lacks.
    if (std::exchange(begins_in_thought_, false)) said.text = "<think>";
    said.text += stops_.push(text_of(token.id));
    at_end_ = tokens_->kind(token.id).ends_answer;
    if (!at_end_) said.piece = tokens_->text(token.id);
    for (const protocol::serving::TopToken& other : token.top)
      said.top.push_back({.logprob = other.logprob, .piece = std::string(tokens_->text(other.id))});
    out.push_back(std::move(said));
  }
  return out;
}

std::string AnswerWriter::finish() {
  std::string out = stops_.push(whole_.finish());
  return out + stops_.finish();
}

}  // namespace weft::coordinator
