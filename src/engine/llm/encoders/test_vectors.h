// The data of the encoder tests: small models and the vectors that llama.cpp makes of texts
// (tests/data/tiny/make_random.py).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "common/base/test_data.h"
#include "common/json/json.h"
#include "engine/gguf/mapped_file.h"
#include "engine/llm/encoders/encoder.h"

namespace weft::llm::test {

struct ExpectedVector {
  std::string text;
  std::vector<Token> tokens;
  std::vector<double> vector;
};

inline std::vector<ExpectedVector> read_vectors(const std::string& path) {
  std::vector<ExpectedVector> out;
  const std::string text = weft::test::read_bytes(path);
  const auto root = json::parse(text, {.bytes_max = std::size_t{1} << 24}).value();
  const auto cases = root.object({"model", "oracle", "cases"}).value().get("cases").value();
  EXPECT_TRUE(cases.for_each({}, [&](const json::Value& one) -> Result<> {
    const auto object = one.object({"text", "tokens", "joined", "embedding"}).value();
    ExpectedVector& made = out.emplace_back();
    made.text = object.get("text")->string({.bytes_max = 1 << 16}).value();
    WEFT_OK(object.get("tokens")->for_each({}, [&](const json::Value& token) -> Result<> {
      WEFT_ASSIGN(made.tokens.emplace_back(), token.integer_as<Token>());
      return {};
    }));
    return object.get("embedding")->for_each({}, [&](const json::Value& number) -> Result<> {
      WEFT_ASSIGN(made.vector.emplace_back(), number.number());
      return {};
    });
  }));
  return out;
}

struct OpenEncoder {
  std::unique_ptr<gguf::MappedFile> source;
  gguf::File file;
  EncoderModel model;
  std::unique_ptr<Encoder> encoder;
};
inline std::unique_ptr<OpenEncoder> open_encoder(const std::string& name) {
  auto out = std::make_unique<OpenEncoder>();
  const auto path = weft::test::find_data("models/" + name + ".gguf");
  out->source = gguf::MappedFile::open(path->string()).value();
  out->file = gguf::read_file(*out->source).value();
  out->model = read_encoder(out->file).value();
  out->encoder = Encoder::create(out->model, *out->source, {.threads = 2}).value();
  return out;
}

// The dot product of a and b; of a vector of length 1 with itself it is 1.
inline double dot(const std::vector<float>& a, const auto& b) {
  double sum = 0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += double{a[i]} * b[i];
  return sum;
}

}  // namespace weft::llm::test
