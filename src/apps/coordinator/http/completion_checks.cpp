#include "apps/coordinator/http/completion_checks.h"

#include <algorithm>

#include "apps/coordinator/http/embeddings.h"
#include "common/base/format.h"
#include "decisions/inference/modality.h"

namespace weft::coordinator {

Result<> check_modality(const OpenAiRequest& request, const inference::ModelCard& card) {
  const bool vectors = inference::makes_vectors(card);
  if (request.embedding && !vectors)
    return fail(ErrorCode::invalid_argument,
                "model: '{}' writes text and makes no vectors; ask a model whose output is "
                "\"embedding\" in /v1/models.",
                card.name);
  if (request.embedding && request.embedding->dimensions > card.embedding)
    return fail(ErrorCode::invalid_argument, "dimensions: is {}; the vectors of '{}' have {}.",
                request.embedding->dimensions, card.name, card.embedding);
  if (!request.embedding && request.look.kind == TextLook::Kind::none && vectors)
    return fail(ErrorCode::invalid_argument,
                "model: '{}' makes vectors and writes no text; ask /v1/embeddings.", card.name);
  return {};
}

Result<AnswerTrust> trust_of(const OpenAiRequest& request, bool newcomers_answer) {
  const AnswerTrust trust =
      request.trust.value_or(newcomers_answer ? AnswerTrust::all : AnswerTrust::established);
  if (trust == AnswerTrust::all && !newcomers_answer)
    return fail(ErrorCode::permission_denied,
                "The header x-weft-trust asks for answers of new workers, which this coordinator "
                "does not allow; its operator can (`weft serve --allow-anyone`).");
  return trust;
}

Result<> check_tokens(const OpenAiRequest& request, std::span<const ReadPrompt> prompts,
                      const TokenBounds& bounds) {
  // A generated answer needs room for at least one token; a vector needs none.
  const std::size_t tokens_max =
      std::min(bounds.context, protocol::serving::prompt_tokens_max) - (request.embedding ? 0 : 1);
  const auto is_known = [&](std::int32_t token) {
    return token >= 0 && static_cast<std::size_t>(token) < bounds.vocabulary;
  };
  for (const ReadPrompt& prompt : prompts) {
    if (prompt.tokens.empty())
      return fail(ErrorCode::invalid_argument,
                  "The prompt is empty; a text begins with at least one token.");
    if (prompt.tokens.size() > tokens_max && request.embedding)
      return fail(ErrorCode::resource_exhausted,
                  "A text has {} tokens; at most {} fit into the model's context: shorten it.",
                  prompt.tokens.size(), tokens_max);
    if (prompt.tokens.size() > tokens_max)
      return fail(ErrorCode::resource_exhausted,
                  "The prompt has {} tokens; at most {} fit into the context of {}, which "
                  "the answer shares: shorten it.",
                  prompt.tokens.size(), tokens_max, bounds.context);
    const auto unknown = std::ranges::find_if_not(prompt.tokens, is_known);
    if (unknown != prompt.tokens.end())
      return fail(ErrorCode::invalid_argument, "The token {} is not one of the model's {} tokens.",
                  *unknown, bounds.vocabulary);
  }
  for (const protocol::serving::Bias& one : request.ask.bias) {
    if (!is_known(one.token))
      return fail(ErrorCode::invalid_argument,
                  "A bias is given for the token {}, which is not one of the model's {} tokens.",
                  one.token, bounds.vocabulary);
  }
  return {};
}

Result<> check_served(const OpenAiRequest& request, AnswerTrust trust,
                      std::span<const inference::ServedModel> served) {
  const auto found = std::ranges::find(served, request.model, &inference::ServedModel::name);
  const bool none = found == served.end() || found->state == inference::ModelState::no_worker ||
                    (found->state == inference::ModelState::newcomers && trust != AnswerTrust::all);
  if (none) return fail(ErrorCode::unavailable, "No worker serves {} now.", request.model);
  return {};
}

}  // namespace weft::coordinator
