// Layers of a model on this worker's device, with the tokenizer and the chat template where the first layer is among them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/worker/serving/meter.h"
#include "apps/worker/serving/serving_host.h"
#include "common/protocol/serving.h"
#include "engine/chat/chat_template.h"
#include "engine/gguf/file.h"
#include "engine/llm/engine.h"
#include "engine/tokenizer/tokenizer.h"

namespace weft::worker {

class Shard {
 public:
  // Fetches what is missing and puts it on the device. One sentence for whatever is wrong with the file or does not fit.
  [[nodiscard]] static Async<Result<std::shared_ptr<Shard>>> load(ServingHost& host, protocol::serving::Load order, std::string token);
  Shard(const Shard&) = delete;

  // Whether it is what `order` asks for.
  [[nodiscard]] bool serves(const protocol::serving::Load& order) const;

  [[nodiscard]] const std::shared_ptr<llm::Engine>& engine() const { return engine_; }
  [[nodiscard]] const tokenizer::Tokenizer* tokenizer() const { return tokenizer_.get(); }
  // What a prompt is read as; `chat`: `text` is what the chat template is rendered with; `now` in
  // seconds since 1970, 0: the time here.
  [[nodiscard]] Result<std::vector<llm::Token>> prompt(bool chat, std::string_view text, std::int64_t now = 0) const;
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
  [[nodiscard]] Meter& meter() const { return *meter_; }

 private:
  Shard() = default;

  protocol::serving::Load order_;
  std::unique_ptr<gguf::Source> source_;
  gguf::File file_;
  llm::Model model_;
  std::unique_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::optional<chat::ChatTemplate> chat_;
  const std::shared_ptr<Meter> meter_ = std::make_shared<Meter>();
  std::shared_ptr<llm::Engine> engine_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace weft::worker
