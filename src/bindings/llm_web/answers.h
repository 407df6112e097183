// Writes the answers for the page: the JSON that README.md lists.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/llm/engine.h"
#include "engine/llm/generator.h"

namespace weft::llm_web {

// Writes one token and `text`, the part of the answer that this token completes, as JSON.
[[nodiscard]] std::string piece_json(const llm::GeneratedToken& token, std::string_view text);
[[nodiscard]] std::string done_json(const llm::Generation& generation);
[[nodiscard]] std::string tokens_json(std::span<const llm::Token> tokens);

// The properties of a loaded model and of its device.
struct ModelInfo {
  const llm::Engine& engine;
  bool gpu = false;
  std::string device;
  std::string_view no_gpu;  // The reason that no GPU is used; empty if none was tried.
  // The origin of the chat template; nothing if the model has no chat template.
  std::optional<std::string_view> chat_template;
  std::uint64_t file_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::uint64_t parameters = 0;
};
[[nodiscard]] std::string info_json(const ModelInfo& info);

}  // namespace weft::llm_web
