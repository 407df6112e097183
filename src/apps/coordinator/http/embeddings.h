// POST /v1/embeddings: turns each input text into one vector. Source of the formats: OpenAI's API
// reference, "Embeddings". Each text is a separate request to the network, so that workers can
// batch texts of many clients, and is paid, checked and retried like an answer. under_way_max
// bounds the texts of one request that run at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/http/answer_form.h"

namespace weft::coordinator {

// The part of an OpenAiRequest that only /v1/embeddings has.
struct EmbeddingRequest {
  static constexpr std::size_t texts_max = 2048;     // OpenAI's limit of texts.
  static constexpr std::size_t under_way_max = 128;  // Most texts that run at a time.
  static constexpr std::uint32_t dimensions_max = protocol::serving::vector_numbers_max;

  bool base64 = false;
  std::uint32_t dimensions = 0;  // Length of the vectors; 0: the model's own.
  // Texts that the client gives as tokens, instead of prompts.
  std::vector<std::vector<std::int32_t>> tokens{};
};

[[nodiscard]] Result<OpenAiRequest> read_embedding_request(std::string_view body);

class EmbeddingText final : public AnswerForm {
 public:
  explicit EmbeddingText(const OpenAiRequest& request);

  [[nodiscard]] std::string begin() override { return {}; }
  [[nodiscard]] std::string tokens(std::size_t, const std::vector<SaidToken>&) override {
    return {};
  }
  [[nodiscard]] std::string end(std::size_t choice, const inference::AnswerEnd& end) override;
  [[nodiscard]] std::string close() override { return {}; }
  [[nodiscard]] std::string document() override;
  [[nodiscard]] std::size_t choices() const override { return vectors_.size(); }

 private:
  const std::string model_;
  const std::shared_ptr<const EmbeddingRequest> request_;
  std::vector<std::string> vectors_;  // The finished vectors as JSON.
  std::uint64_t tokens_ = 0;
  inference::AnswerEnd first_{};
};

}  // namespace weft::coordinator
