// The first stage of a chain: an engine with the layers from 0 on that has the others behind it.
// A caller uses it as an engine with all layers.
//
//   ChainEngine chain(first, {.stages = 2, .sequences = 8},
//                     [&](ByteVector frame) { ... });  // To the second stage.
//   chain.receive(frame);  // From the last stage.
//   chain.lose(error);     // A stage is gone: what waits fails, and what is asked later.
//
// Sequences that are drawn from together go through the first stage in as many groups as the chain
// has stages: while one group is in the second stage, the next is in the first.
//
// Threading: one thread; receive() and lose() resume what waits. Lifetime: `first` outlives it; not
// to be destroyed while a call is under way, which lose() ends.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/llm/chain/chain_answers.h"
#include "engine/llm/chain/chain_frame.h"
#include "engine/llm/chain/chain_sequences.h"
#include "engine/llm/engine.h"

namespace weft::llm {

class ChainEngine final : public Engine {
 public:
  using Send = std::function<void(ByteVector frame)>;
  struct Options {
    Wire wire = Wire::f32;
    std::uint32_t rows_max = 64;  // Rows of a prompt in one frame.
    std::uint32_t stages = 2;     // With the first.
    std::uint32_t sequences =
        0;  // Open at a time; what the stage with the fewest has. 0: as first.
    std::string device = "chain";
  };

  ChainEngine(Engine& first, Options options, Send send);
  ChainEngine(const ChainEngine&) = delete;

  // From the last stage; ChainAnswers::receive.
  [[nodiscard]] Result<> receive(ByteSpan frame);
  // An answer has ended: each stage's block of frames does (worker/inference/frame_logs.h).
  void commit();
  void lose(Error error) { answers_.lose(std::move(error)); }

  [[nodiscard]] const Config& config() const override { return first_.config(); }
  [[nodiscard]] const EngineOptions& options() const override { return engine_options_; }
  [[nodiscard]] std::string device() const override { return options_.device; }
  [[nodiscard]] EngineCounters counters() const override { return first_.counters(); }
  [[nodiscard]] Result<SequenceId> open() override;
  void close(SequenceId id) override;
  [[nodiscard]] std::uint32_t length(SequenceId id) const override { return sequences_.length(id); }
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override {
    return sequences_.rewind(id, length);
  }
  [[nodiscard]] Async<Result<>> append(SequenceId id, std::vector<Token> tokens) override;
  [[nodiscard]] Async<Result<std::vector<float>>> logits(SequenceId id) override;
  [[nodiscard]] Async<Result<std::vector<float>>> last_hidden(SequenceId id) override;
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> sequences,
                                                       std::uint32_t more) override;
  [[nodiscard]] std::uint32_t drawn_ahead(SequenceId id) const override {
    return sequences_.ahead(id);
  }
  void set_sampling(SequenceId id, const Sampling& sampling) override;
  [[nodiscard]] Async<Result<std::vector<float>>> forward(SequenceId id,
                                                          std::vector<float> hidden) override;
  [[nodiscard]] Async<Result<std::vector<float>>> forward_tokens(
      SequenceId id, std::vector<Token> tokens) override;

 private:
  using Answer = ChainAnswers::Answer;
  // Sequences that are in the same stage at a time, and the answers that they wait for.
  struct Group {
    std::vector<SequenceId> ids;
    std::vector<Answer> answers;
  };

  // Runs the first stage's layers over rows, and sends them on.
  [[nodiscard]] Async<Result<>> pass_on(SequenceId id, std::vector<Token> tokens,
                                        ChainFrame::Want want, std::uint32_t ticket);
  // Passes on what was drawn last, and asks the last stage.
  [[nodiscard]] Async<Result<Answer>> ask(SequenceId id, ChainFrame::Want want);
  // The same for each sequence of a group, together: the last stage draws a token of each.
  [[nodiscard]] Async<Result<>> ask_each(Group& group);
  [[nodiscard]] Async<Result<>> take_drawn(Group& group);
  void send(const ChainFrame& frame);

  Engine& first_;
  const Options options_;
  EngineOptions engine_options_;
  Send send_;
  ChainSequences sequences_;
  ChainAnswers answers_;
};

}  // namespace weft::llm
