// Any stage of a chain but the first: takes rows of hidden states, runs its layers over them, and
// hands them on; the last one draws tokens instead. Rows that the first stage sends together go
// through the layers in one pass; their numbers are the same as alone.
//
//   auto stage = ChainStage::create(engine, {.last = true}, {.onwards = ..., .to_first = ...});
//   stage->receive(frame);
//
// Threading: one thread. Frames are handed on and answered in their order. Lifetime: a stage
// that is let go of ends what it is at by itself; stop() makes it silent first. Bounds: frames_max
// wait; beyond that the stage answers with a fault.
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
    std::function<void(ByteVector frame)> onwards;   // Not called by the last one.
    std::function<void(ByteVector frame)> to_first;  // Answers and faults.
  };
  [[nodiscard]] static std::shared_ptr<ChainStage> create(std::shared_ptr<Engine> engine,
                                                          Options options, Lines lines);

  // invalid_argument for what no stage before this one sends; the line is then not to be trusted
  // further.
  [[nodiscard]] Result<> receive(ByteSpan frame);
  // Says nothing more; when what runs has ended, perhaps at once, closes its sequences and calls
  // `done`.
  void stop(std::function<void()> done = {});

 private:
  struct Sequence {
    SequenceId id{};
    std::vector<Token> tokens;  // That it has read; of the last stage.
    Sampling sampling{};
  };

  ChainStage(std::shared_ptr<Engine> engine, Options options, Lines lines);
  void finish();
  static Async<> work(std::shared_ptr<ChainStage> self);
  // Whether the next frame is there, with all that it is to be taken together with.
  [[nodiscard]] bool may_work() const;
  [[nodiscard]] std::vector<ChainFrame> take_next();
  [[nodiscard]] Async<Result<>> handle(ChainFrame frame);
  [[nodiscard]] Async<Result<>> pass(ChainFrame frame);
  // Frames of different sequences, with a row each or none.
  [[nodiscard]] Async<> pass_together(std::vector<ChainFrame> frames);
  // The sequence is at the frame's place, and its tokens are those behind the frame.
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
  std::map<std::uint32_t, Sequence> sequences_;  // By the first stage's numbers.
  bool working_ = false;
  bool stopped_ = false;
  std::function<void()> on_stop_;
};

}  // namespace weft::llm
