// What the page is told, as the JSON that README.md lists.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/llm/engine.h"
#include "engine/llm/generator.h"

namespace weft::llm_web {

// One token, with the text of the answer that became certain by it.
[[nodiscard]] std::string piece_json(const llm::GeneratedToken& token, std::string_view text);
[[nodiscard]] std::string done_json(const llm::Generation& generation);
[[nodiscard]] std::string tokens_json(std::span<const llm::Token> tokens);

// What a loaded model is and where it runs.
struct ModelInfo {
  const llm::Engine& engine;
  bool gpu = false;
  std::string device;
  std::string_view no_gpu;  // Why it is not a GPU although one was wanted if there is one.
  // Where its template is from; none where it has no way to chat.
  std::optional<std::string_view> chat_template;
  std::uint64_t file_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t parameters = 0;
};
[[nodiscard]] std::string info_json(const ModelInfo& info);

}  // namespace weft::llm_web
