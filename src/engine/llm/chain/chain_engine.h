// The first stage of a chain: an engine with the first layers, which sends its rows to the stages
// with the other layers. A caller uses it as an engine with all layers.
//
//   ChainEngine chain(first, {.stages = 2, .sequences = 8},
//                     [&](ByteVector frame) { ... });  // To the second stage.
//   chain.receive(frame);  // From the last stage.
//   chain.lose(error);     // A stage is gone: all waiting calls fail, and all later ones.
//
// Sequences that are drawn together go through the first stage in as many groups as the chain has
// stages: while one group is in the second stage, the next group is in the first.
//
// Threading: one thread; receive() and lose() resume the waiting coroutines. Lifetime: `first`
// outlives the ChainEngine, which must not be destroyed while a call is under way; lose() ends such
// a call.
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
    std::uint32_t rows_max = 64;  // The most rows of a prompt in one frame.
    std::uint32_t stages = 2;     // The number of stages, the first included.
    // The number of sequences that may be open at a time: that of the stage with the fewest. 0
    // takes the number of the first stage.
    std::uint32_t sequences = 0;
    std::string device = "chain";
  };

  ChainEngine(Engine& first, Options options, Send send);
  ChainEngine(const ChainEngine&) = delete;

  // Takes a frame from the last stage; see ChainAnswers::receive().
  [[nodiscard]] Result<> receive(ByteSpan frame);
  // Marks the end of an answer, which ends the block of frames of each stage
  // (worker/inference/frame_logs.h).
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
  // Sequences that go through the stages together, and the answers that these sequences wait for.
  struct Group {
    std::vector<SequenceId> ids;
    std::vector<Answer> answers;
  };

  // Runs the first stage's layers over the rows and sends the results to the second stage.
  [[nodiscard]] Async<Result<>> pass_on(SequenceId id, std::vector<Token> tokens,
                                        ChainFrame::Want want, std::uint32_t ticket);
  // Sends the row of the last drawn token through the chain and asks the last stage for `want`.
  [[nodiscard]] Async<Result<Answer>> ask(SequenceId id, ChainFrame::Want want);
  // Sends the rows of the last drawn tokens of all sequences of the group together, and asks the
  // last stage for the next token of each.
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
