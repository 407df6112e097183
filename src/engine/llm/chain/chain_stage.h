// Any stage of a chain but the first. It takes rows of hidden states, runs its layers over them and
// sends them to the next stage; the last stage draws tokens instead. Rows that the first stage
// sends together go through the layers in one pass, with the results that each row has alone.
//
//   auto stage = ChainStage::create(engine, {.last = true}, {.onwards = ..., .to_first = ...});
//   stage->receive(frame);
//
// Threading: one thread. Frames are passed on and answered in the order of arrival. Lifetime: work
// that is under way keeps the stage alive until it ends; stop() keeps the stage from sending
// anything more. Bounds: at most frames_max frames wait.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/llm/chain/chain_frame.h"
#include "engine/llm/engine.h"

namespace weft::llm {

class ChainStage : public std::enable_shared_from_this<ChainStage> {
 public:
  struct Options {
    bool last = false;
    Wire wire = Wire::f32;
    std::size_t frames_max = 1024;
  };
  struct Lines {
    // Passes a frame on; the last stage does not call it.
    std::function<void(ByteVector frame)> onwards;
    // Sends an answer or a fault to the first stage.
    std::function<void(ByteVector frame)> to_first;
  };
  [[nodiscard]] static std::shared_ptr<ChainStage> create(std::shared_ptr<Engine> engine,
                                                          Options options, Lines lines);

  // Fails with invalid_argument for a frame that no earlier stage sends, after which the line is no
  // longer trusted, and with resource_exhausted if frames_max frames wait already.
  [[nodiscard]] Result<> receive(ByteSpan frame);
  // Sends no more frames. When the work under way has ended, perhaps at once, closes the stage's
  // sequences and calls `done`.
  void stop(std::function<void()> done = {});

 private:
  struct Sequence {
    SequenceId id{};
    std::vector<Token> tokens;  // The tokens that the sequence has read.
    Sampling sampling{};
  };

  ChainStage(std::shared_ptr<Engine> engine, Options options, Lines lines);
  void finish();
  static Async<> work(std::shared_ptr<ChainStage> self);
  // True if the next frame has arrived, with all frames that are taken together with it.
  [[nodiscard]] bool may_work() const;
  [[nodiscard]] std::vector<ChainFrame> take_next();
  [[nodiscard]] Async<Result<>> handle(ChainFrame frame);
  [[nodiscard]] Async<Result<>> pass(ChainFrame frame);
  // Takes frames of different sequences, with at most one row each, through the layers in one pass.
  [[nodiscard]] Async<> pass_together(std::vector<ChainFrame> frames);
  // Returns the frame's sequence, rewound to the frame's position, and appends the frame's tokens
  // to the sequence's.
  [[nodiscard]] Result<Sequence*> at_place(const ChainFrame& frame);
  void fail_frame(const ChainFrame& frame, const Error& error);
  [[nodiscard]] Async<Result<>> answer(Sequence& sequence, const ChainFrame& frame);
  [[nodiscard]] Result<Sequence*> sequence_of(std::uint32_t number);
  void say(const std::function<void(ByteVector)>& line, const ChainFrame& frame) const;
  void say_drawn(const ChainFrame& frame, const Drawn& drawn) const;

  const std::shared_ptr<Engine> engine_;
  const Options options_;
  const Lines lines_;
  std::deque<ChainFrame> waiting_;
  std::map<std::uint32_t, Sequence> sequences_;  // The keys are the first stage's numbers.
  bool working_ = false;
  bool stopped_ = false;
  std::function<void()> on_stop_;
};

}  // namespace weft::llm
