// The answers of llama.cpp with the small models, and the comparison of an engine with them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/test_data.h"
#include "common/json/json.h"
#include "engine/gguf/mapped_file.h"
#include "engine/llm/engine.h"
#include "engine/llm/sampler.h"

namespace weft::llm::test {

struct ExpectedToken {
  Token token = 0;
  float logprob = 0;
  std::vector<Drawn> top;  // The best candidates, in descending order.
};
struct ExpectedCase {
  std::string prompt;
  std::vector<Token> prompt_tokens;
  std::vector<ExpectedToken> tokens;  // The tokens, with the token that ends the text.
};

inline Result<std::vector<Token>> read_tokens(const json::Value& value) {
  std::vector<Token> tokens;
  const auto read = [&](const json::Value& element) -> Result<> {
    WEFT_ASSIGN(const Token token, element.integer_as<Token>());
    tokens.push_back(token);
    return {};
  };
  WEFT_OK(value.for_each({}, read));
  return tokens;
}

inline Result<ExpectedToken> read_expected_token(const json::Value& value) {
  ExpectedToken out;
  WEFT_ASSIGN(const json::Object object, value.object({"id", "logprob", "top"}));
  WEFT_ASSIGN(const json::Value id, object.get("id"));
  WEFT_ASSIGN(out.token, id.integer_as<Token>());
  WEFT_ASSIGN(const json::Value logprob, object.get("logprob"));
  WEFT_ASSIGN(const double number, logprob.number());
  out.logprob = static_cast<float>(number);
  WEFT_ASSIGN(const json::Value top, object.get("top"));
  const auto read_pair = [&](const json::Value& pair) -> Result<> {
    WEFT_ASSIGN(const auto both, pair.array());
    Drawn drawn;
    WEFT_ASSIGN(drawn.token, both.at(0).integer_as<Token>());
    WEFT_ASSIGN(const double value_of, both.at(1).number());
    drawn.logprob = static_cast<float>(value_of);
    out.top.push_back(drawn);
    return {};
  };
  WEFT_OK(top.for_each({}, read_pair));
  return out;
}

inline Result<ExpectedCase> read_case(const json::Value& value) {
  ExpectedCase one;
  WEFT_ASSIGN(const json::Object object,
              value.object({"messages", "prompt", "prompt_tokens", "text", "stop", "tokens"}));
  WEFT_ASSIGN(const json::Value prompt, object.get("prompt"));
  WEFT_ASSIGN(one.prompt, prompt.string());
  WEFT_ASSIGN(const json::Value prompt_tokens, object.get("prompt_tokens"));
  WEFT_ASSIGN(one.prompt_tokens, read_tokens(prompt_tokens));
  WEFT_ASSIGN(const json::Value tokens, object.get("tokens"));
  const auto read = [&](const json::Value& token) -> Result<> {
    WEFT_ASSIGN(ExpectedToken expected, read_expected_token(token));
    one.tokens.push_back(std::move(expected));
    return {};
  };
  WEFT_OK(tokens.for_each({}, read));
  return one;
}

inline Result<std::vector<ExpectedCase>> read_expected(const std::string& path) {
  std::vector<ExpectedCase> cases;
  const std::string text = weft::test::read_bytes(path);
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = std::size_t{1} << 26}));
  WEFT_ASSIGN(const json::Object document, root.object({"model", "oracle", "cases"}));
  WEFT_ASSIGN(const json::Value list, document.get("cases"));
  const auto read = [&](const json::Value& value) -> Result<> {
    WEFT_ASSIGN(ExpectedCase one, read_case(value));
    cases.push_back(std::move(one));
    return {};
  };
  WEFT_OK(list.for_each({}, read));
  return cases;
}

// A model and the mapped file that holds it.
struct OpenModel {
  std::unique_ptr<gguf::MappedFile> source;
  gguf::File file;
  Model model;
};
inline Result<std::unique_ptr<OpenModel>> open_model(const std::string& path) {
  auto out = std::make_unique<OpenModel>();
  WEFT_ASSIGN(out->source, gguf::MappedFile::open(path));
  WEFT_ASSIGN(out->file, gguf::read_file(*out->source));
  WEFT_ASSIGN(out->model, read_model(out->file));
  return out;
}

struct Agreement {
  double logprob_error_max = 0;
  std::size_t tokens = 0;  // The number of tokens that were compared.
  std::string text() const {
    return std::to_string(tokens) + " tokens, log-probabilities within " +
           std::to_string(logprob_error_max);
  }
};

// Checks that greedy answers agree with the expected answers. If the logits of the two best tokens
// are more than 0.05 apart, the drawn token must be the expected one. As long as the texts agree,
// the five best log-probabilities must be within 0.01.
inline Async<Result<Agreement>> compare_with_expected(Engine& engine,
                                                      std::vector<ExpectedCase> cases) {
  Agreement agreement;
  for (const ExpectedCase& one : cases) {
    WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
    WEFT_CO_OK(co_await engine.append(sequence, one.prompt_tokens));
    for (std::size_t i = 0; i < one.tokens.size(); ++i) {
      const ExpectedToken& expected = one.tokens[i];
      WEFT_CO_ASSIGN(const std::vector<float> logits, co_await engine.logits(sequence));
      const double total = log_sum_exp(logits);
      for (const Drawn& drawn : expected.top) {
        const double error =
            std::abs(logits[static_cast<std::size_t>(drawn.token)] - total - drawn.logprob);
        // A candidate with a log-probability of -12 or less has a larger bound and is not counted
        // in the maximum, because such a token is rarely drawn.
        agreement.logprob_error_max =
            std::max(agreement.logprob_error_max, drawn.logprob > -12 ? error : 0.0);
        EXPECT_LT(error, drawn.logprob > -12 ? 0.01 : 0.05)
            << one.prompt << " token " << i << ", candidate " << drawn.token;
      }
      WEFT_CO_ASSIGN(const std::vector<Drawn> drawn, co_await engine.draw({sequence}, 0));
      ++agreement.tokens;
      if (drawn[0].token == expected.token) continue;
      const double gap = expected.top.at(0).logprob - expected.top.at(1).logprob;
      EXPECT_LE(gap, 0.05) << one.prompt << " token " << i << " is " << drawn[0].token << ", not "
                           << expected.token;
      break;  // The two texts differ from here on.
    }
    engine.close(sequence);
  }
  co_return agreement;
}

}  // namespace weft::llm::test
