// Whether a model and the network can serve a request, before any worker is asked: the kind of its
// output, its prompts' tokens, and which workers its client lets answer.
//
// Pure. Threading: any. Errors: as the client is told them; a message begins with the key that is
// wrong where there is one.
#pragma once

#include <cstddef>
#include <span>

#include "apps/coordinator/http/model_texts.h"
#include "apps/coordinator/http/openai.h"
#include "common/base/result.h"
#include "decisions/inference/desk.h"
#include "decisions/inference/model_card.h"

namespace weft::coordinator {

// Whether the model gives what is asked for: text of a model that writes, vectors of one that makes
// them, and vectors no longer than its own.
[[nodiscard]] Result<> check_modality(const OpenAiRequest& request,
                                      const inference::ModelCard& card);

// Which workers may answer. Without a wish of the client's: all, where newcomers answer clients
// here. permission_denied for a wish for newcomers where they do not.
[[nodiscard]] Result<AnswerTrust> trust_of(const OpenAiRequest& request, bool newcomers_answer);

struct TokenBounds {
  std::size_t context = 0;     // As the model is served.
  std::size_t vocabulary = 0;  // Tokens are numbers below it.
};
// Whether each prompt has a token and fits into the context, and all tokens, those of biases
// included, are the model's.
[[nodiscard]] Result<> check_tokens(const OpenAiRequest& request,
                                    std::span<const ReadPrompt> prompts, const TokenBounds& bounds);

// unavailable if no connected worker could begin: of use where another endpoint can answer, and
// need not be kept waiting for a worker that may never come.
[[nodiscard]] Result<> check_served(const OpenAiRequest& request, AnswerTrust trust,
                                    std::span<const inference::ServedModel> served);

}  // namespace weft::coordinator
