// Checks before any worker is asked: that the model and the network can serve a request. They
// concern the kind of output, the tokens of the prompts, and the workers that the client accepts.
//
// Pure. Threading: any. Errors: in the form for clients; a message begins with the wrong key of the
// request if there is one.
#pragma once

#include <cstddef>
#include <span>

#include "apps/coordinator/http/model_texts.h"
#include "apps/coordinator/http/openai.h"
#include "common/base/result.h"
#include "decisions/inference/desk.h"
#include "decisions/inference/model_card.h"

namespace weft::coordinator {

// Checks that the model produces the requested output: text, or vectors with at least the requested
// dimensions.
[[nodiscard]] Result<> check_modality(const OpenAiRequest& request,
                                      const inference::ModelCard& card);

// The workers that may answer. A request that names no trust gets all workers if newcomers may
// answer clients here, otherwise established workers. Fails with permission_denied if the client
// asks for newcomers and they may not answer.
[[nodiscard]] Result<AnswerTrust> trust_of(const OpenAiRequest& request, bool newcomers_answer);

struct TokenBounds {
  std::size_t context = 0;     // Context with which the model is served, in tokens.
  std::size_t vocabulary = 0;  // Number of tokens; every token id is below this number.
};
// Checks that each prompt has at least one token and fits into the context, and that all tokens,
// also those of biases, belong to the model.
[[nodiscard]] Result<> check_tokens(const OpenAiRequest& request,
                                    std::span<const ReadPrompt> prompts, const TokenBounds& bounds);

// Fails with unavailable if no connected worker could begin the request. Used if a fallback
// endpoint can answer, so that the client need not wait for a worker.
[[nodiscard]] Result<> check_served(const OpenAiRequest& request, AnswerTrust trust,
                                    std::span<const inference::ServedModel> served);

}  // namespace weft::coordinator
