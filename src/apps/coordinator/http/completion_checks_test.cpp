// Tests of the requests that are refused before any worker is asked, and of their messages.
#include "apps/coordinator/http/completion_checks.h"

#include <gtest/gtest.h>

#include "apps/coordinator/http/embeddings.h"
#include "decisions/inference/test_model_card.h"

namespace weft::coordinator {
namespace {

OpenAiRequest request_for(bool vectors, std::uint32_t dimensions = 0) {
  OpenAiRequest out;
  out.model = "m";
  if (vectors) {
    out.embedding = std::make_shared<EmbeddingRequest>();
    out.embedding->dimensions = dimensions;
  }
  return out;
}

// The message of a refusal; empty if the check passed.
std::string refusal(const Result<>& checked) {
  return checked ? std::string() : checked.error().message;
}

TEST(CompletionChecks, AskAModelOnlyForWhatItMakes) {
  inference::ModelCard writes = inference::card("m"), embeds = inference::card("m");
  embeds.architecture = "bert";
  OpenAiRequest look = request_for(false);
  look.look.kind = TextLook::Kind::tokens;

  EXPECT_EQ(refusal(check_modality(request_for(false), writes)), "");
  EXPECT_EQ(refusal(check_modality(request_for(true, 64), embeds)), "");
  EXPECT_EQ(refusal(check_modality(look, embeds)), "") << "its tokenizer can be asked";
  EXPECT_TRUE(refusal(check_modality(request_for(true), writes)).starts_with("model: "));
  EXPECT_TRUE(refusal(check_modality(request_for(false), embeds)).starts_with("model: "));
  EXPECT_EQ(refusal(check_modality(request_for(true, 65), embeds)),
            "dimensions: is 65; the vectors of 'm' have 64.");
}

TEST(CompletionChecks, LetNewcomersAnswerOnlyWhereTheyDoSo) {
  OpenAiRequest request = request_for(false);
  EXPECT_EQ(trust_of(request, true), AnswerTrust::all);
  EXPECT_EQ(trust_of(request, false), AnswerTrust::established);

  request.trust = AnswerTrust::verified;
  EXPECT_EQ(trust_of(request, true), AnswerTrust::verified);

  request.trust = AnswerTrust::all;
  EXPECT_EQ(trust_of(request, true), AnswerTrust::all);
  EXPECT_EQ(trust_of(request, false).error().code, ErrorCode::permission_denied);
}

TEST(CompletionChecks, BoundPromptsByTheContextThatTheAnswerShares) {
  const auto refused = [](bool vectors, std::size_t tokens) {
    const std::vector<ReadPrompt> prompts{{.tokens = std::vector<std::int32_t>(tokens, 1)}};
    return refusal(check_tokens(request_for(vectors), prompts, {.context = 8, .vocabulary = 10}));
  };

  EXPECT_EQ(refused(false, 7), "");
  EXPECT_EQ(refused(false, 8),
            "The prompt has 8 tokens; at most 7 fit into the context of 8, which the answer "
            "shares: shorten it.");
  EXPECT_EQ(refused(true, 8), "") << "a vector needs no room for a token";
  EXPECT_EQ(refused(true, 9),
            "A text has 9 tokens; at most 8 fit into the model's context: shorten it.");
  EXPECT_EQ(refused(false, 0), "The prompt is empty; a text begins with at least one token.");
}

TEST(CompletionChecks, KnowTheModelsTokens) {
  const auto refused = [](std::int32_t token, std::int32_t bias) {
    OpenAiRequest request = request_for(false);
    request.ask.bias = {{.token = bias}};
    const std::vector<ReadPrompt> prompts{{.tokens = {0}}, {.tokens = {token}}};
    return refusal(check_tokens(request, prompts, {.context = 8, .vocabulary = 10}));
  };

  EXPECT_EQ(refused(9, 9), "");
  EXPECT_EQ(refused(10, 9), "The token 10 is not one of the model's 10 tokens.");
  EXPECT_EQ(refused(-1, 9), "The token -1 is not one of the model's 10 tokens.");
  EXPECT_EQ(refused(9, 10),
            "A bias is given for the token 10, which is not one of the model's 10 tokens.");
}

TEST(CompletionChecks, FindAWorkerThatMayAnswer) {
  using State = inference::ModelState;
  const auto refused = [](State state, AnswerTrust trust, const std::string& name) {
    const std::vector<inference::ServedModel> served{{.name = name, .state = state, .wire = {}}};
    return !check_served(request_for(false), trust, served);
  };

  EXPECT_FALSE(refused(State::ready, AnswerTrust::established, "m"));
  EXPECT_FALSE(refused(State::loading, AnswerTrust::established, "m"));
  EXPECT_FALSE(refused(State::newcomers, AnswerTrust::all, "m"));
  EXPECT_TRUE(refused(State::newcomers, AnswerTrust::established, "m"));
  EXPECT_TRUE(refused(State::no_worker, AnswerTrust::all, "m"));
  EXPECT_TRUE(refused(State::ready, AnswerTrust::all, "another"));
}

}  // namespace
}  // namespace weft::coordinator
