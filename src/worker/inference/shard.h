// Layers of a model on this worker's device, with the tokenizer and template of the file if the
// first layer is included. A shard that weighs answers (protocol::serving::Load::beside) has a
// second engine with rounded weights.
#pragma once

#include <memory>
#include <string>

#include "common/protocol/serving.h"
#include "engine/chat/model_text.h"
#include "engine/gguf/file.h"
#include "engine/gguf/rounded_weights.h"
#include "engine/llm/encoders/encoder.h"
#include "engine/llm/engine.h"
#include "worker/inference/meter.h"
#include "worker/inference/serving_host.h"
#include "worker/inference/weights.h"

namespace weft::worker {

class Shard {
 public:
  // Fetches missing chunks and loads the layers on the device. Fails with one message if the file
  // is invalid or does not fit.
  [[nodiscard]] static Async<Result<std::shared_ptr<Shard>>> load(ServingHost& host,
                                                                  protocol::serving::Load order,
                                                                  std::string token);
  Shard(const Shard&) = delete;

  // True if this is the shard that `order` asks for.
  [[nodiscard]] bool serves(const protocol::serving::Load& order) const;

  // engine() is null for an embedding model, which has an encoder instead.
  [[nodiscard]] const std::shared_ptr<llm::Engine>& engine() const { return engine_; }
  [[nodiscard]] llm::Encoder* encoder() const { return encoder_.get(); }
  // The engine with rounded weights; null unless the shard weighs answers.
  [[nodiscard]] const std::shared_ptr<llm::Engine>& beside() const { return beside_; }
  [[nodiscard]] std::string device() const {
    return encoder_ ? encoder_->device() : engine_->device();
  }
  [[nodiscard]] std::uint32_t sequences() const {
    return encoder_ ? order_.sequences : engine_->options().sequences;
  }
  // Null unless the first layer is included and the model draws tokens.
  [[nodiscard]] chat::ModelText* text() const { return text_.get(); }
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
  [[nodiscard]] Meter& meter() const { return *meter_; }

 private:
  Shard() = default;
  [[nodiscard]] Async<Result<>> load_encoder(ServingHost& host, Weights& weights);
  [[nodiscard]] Async<Result<>> load_beside(ServingHost& host, llm::EngineOptions options);
  [[nodiscard]] std::shared_ptr<llm::Engine> metered(ServingHost& host,
                                                     std::unique_ptr<llm::Engine> engine) const;

  protocol::serving::Load order_;
  std::unique_ptr<gguf::Source> source_;
  gguf::File file_;
  llm::Model model_;
  gguf::RoundedFile rounded_file_;
  std::unique_ptr<gguf::RoundedSource> rounded_source_;
  llm::Model rounded_model_;
  std::unique_ptr<chat::ModelText> text_;
  const std::shared_ptr<Meter> meter_ = std::make_shared<Meter>();
  std::shared_ptr<llm::Engine> engine_;
  std::shared_ptr<llm::Engine> beside_;
  llm::EncoderModel encoder_model_;
  std::unique_ptr<llm::Encoder> encoder_;
  std::uint64_t memory_bytes_ = 0;
};

}  // namespace weft::worker
