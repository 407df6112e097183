// The first stage of a chain: an engine with the layers from 0 on that has the others behind it.
// A caller uses it as an engine with all layers.
//
//   ChainEngine chain(first, {.context = 4096, .sequences = 8}, [&](ByteVector frame) { ...to the
//   second stage... }); chain.receive(frame)      from the last stage chain.lose(error)         a
//   stage is gone: everything that waits, and all that comes, fails
//
// Sequences that are drawn from together go through the first stage in as many groups as the chain
// has stages: while one group is in the second stage, the next is in the first. Threading: one
// thread; receive() and lose() resume what waits. Lifetime: `first` outlives it; not to be
// destroyed while a call is under way, which lose() ends.
#pragma once

#include <cstdint>
#include <deque>
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
    std::uint32_t stages = 2;     // With the first.
    std::uint32_t sequences =
        0;  // Open at a time; what the stage with the fewest has. 0: as first.
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
  [[nodiscard]] std::uint32_t drawn_ahead(SequenceId id) const override {
    return static_cast<std::uint32_t>(sequences_.at(id).ahead.size());
  }
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
    std::deque<Drawn> ahead;     // The last of these positions, which were not handed out yet.
    Token last = 0;              // What was handed out last.
    [[nodiscard]] std::uint32_t length() const {
      return fed + (drawn ? 1 : 0) - static_cast<std::uint32_t>(ahead.size());
    }
  };
  // Sequences that are in the same stage at a time, and the answers that they wait for.
  struct Group {
    std::vector<SequenceId> ids;
    std::vector<Answer> answers;
  };

  [[nodiscard]] Async<Result<>> pass_on(SequenceId id, std::vector<Token> tokens,
                                        ChainFrame::Want want, std::uint32_t ticket);
  [[nodiscard]] Async<Result<Answer>> ask(SequenceId id, ChainFrame::Want want);
  // Forgets what was drawn ahead: the token that was handed out last goes through the chain again.
  void settle(SequenceId id);
  // Passes on what was drawn last of each sequence, together, and asks the last stage for a token
  // of each.
  [[nodiscard]] Async<Result<>> ask_each(Group& group);
  [[nodiscard]] Async<Result<>> take_drawn(Group& group);
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
