// POST /v1/embeddings: texts in, one vector each out. Source of the shapes: OpenAI's API reference,
// "Embeddings". Each text is asked of the network by itself, so that workers share a batch, and is
// paid, checked and asked again like an answer; only so many are under way at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/coordinator/http/answer_form.h"

namespace weft::coordinator {

// What is peculiar to the route, in OpenAiRequest.
struct EmbeddingRequest {
  static constexpr std::size_t texts_max = 2048;     // OpenAI's.
  static constexpr std::size_t under_way_max = 128;  // Texts of one request.
  static constexpr std::uint32_t dimensions_max = protocol::serving::vector_numbers_max;

  bool base64 = false;
  std::uint32_t dimensions = 0;  // 0: all.
  // Instead of prompts: texts as tokens.
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
  std::vector<std::string> vectors_;  // As JSON.
  std::uint64_t tokens_ = 0;
  inference::AnswerEnd first_{};
};

}  // namespace weft::coordinator
