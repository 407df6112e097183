// The first stage of a chain: an engine with the layers from 0 on that has the others behind it.
// A caller uses it as an engine with all layers.
//
//   ChainEngine chain(first, {.context = 4096, .sequences = 8}, [&](ByteVector frame) { ...to the
//   second stage... }); chain.receive(frame)      from the last stage chain.lose(error)         a
//   stage is gone: everything that waits, and all that comes, fails
//
// Sequences that are drawn from together are under way together: while one is in the second stage
// the next is in the first. Threading: one thread; receive() and lose() resume what waits.
// Lifetime: `first` outlives it; not to be destroyed while a call is under way, which lose() ends.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/llm/chain/chain_frame.h"
#include "engine/llm/engine.h"

namespace weft::llm {

class ChainEngine final : public Engine {
 public:
  using Send = std::function<void(ByteVector frame)>;
  struct Options {
    Wire wire = Wire::f32;
    std::uint32_t rows_max = 64;  // Rows of a prompt in one frame.
    std::string device = "chain";
  };

  ChainEngine(Engine& first, Options options, Send send);
  ~ChainEngine() override;
  ChainEngine(const ChainEngine&) = delete;

  // invalid_argument for what no stage of a chain sends; the line is then not to be trusted
  // further.
  [[nodiscard]] Result<> receive(ByteSpan frame);
  // An answer has ended: each stage's block of frames does (worker/inference/frame_logs.h).
  void commit();
  void lose(Error error);

  [[nodiscard]] const Config& config() const override { return first_.config(); }
  [[nodiscard]] const EngineOptions& options() const override { return engine_options_; }
  [[nodiscard]] std::string device() const override { return options_.device; }
  [[nodiscard]] EngineCounters counters() const override { return first_.counters(); }
  [[nodiscard]] Result<SequenceId> open() override;
  void close(SequenceId id) override;
  [[nodiscard]] std::uint32_t length(SequenceId id) const override;
  std::uint32_t rewind(SequenceId id, std::uint32_t length) override;
  [[nodiscard]] Async<Result<>> append(SequenceId id, std::vector<Token> tokens) override;
  [[nodiscard]] Async<Result<std::vector<float>>> logits(SequenceId id) override;
  [[nodiscard]] Async<Result<std::vector<float>>> last_hidden(SequenceId id) override;
  [[nodiscard]] Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> sequences,
                                                       std::uint32_t more) override;
  void set_sampling(SequenceId id, const Sampling& sampling) override;
  [[nodiscard]] Async<Result<std::vector<float>>> forward(SequenceId id,
                                                          std::vector<float> hidden) override;
  [[nodiscard]] Async<Result<std::vector<float>>> forward_tokens(
      SequenceId id, std::vector<Token> tokens) override;

 private:
  using Answer = Pending<Result<ChainFrame>>;
  struct Sequence {
    std::uint32_t fed = 0;       // Positions that went through the chain.
    std::optional<Token> drawn;  // And one that has not yet.
  };

  [[nodiscard]] Async<Result<>> pass_on(SequenceId id, std::vector<Token> tokens,
                                        ChainFrame::Want want, std::uint32_t ticket);
  [[nodiscard]] Async<Result<Answer>> ask(SequenceId id, ChainFrame::Want want);
  void send(const ChainFrame& frame);

  Engine& first_;
  const Options options_;
  EngineOptions engine_options_;
  Send send_;
  std::map<SequenceId, Sequence> sequences_;
  std::map<std::uint32_t, Answer> waiting_;  // By ticket.
  std::uint32_t tickets_ = 0;
  std::optional<Error> lost_;
};

}  // namespace weft::llm
