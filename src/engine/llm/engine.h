// Runs a model: tokens in, logits or drawn tokens out, for several sequences side by side.
// Implemented on the CPU (cpu/) and on a GPU (gpu/) with the same meaning.
//
//   WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
//   WEFT_CO_OK(co_await engine.append(sequence, prompt));
//   for (...) { WEFT_CO_ASSIGN(const auto drawn, co_await engine.draw({sequence}, left)); ... }
//   engine.rewind(sequence, length);      keeps what the next turn begins with
//
// An engine may hold only layers [a, b) of its model: without the first it takes hidden states
// instead of tokens, without the last it gives them; see forward(). Threading: one thread; one call
// at a time. Lifetime: what an engine was made from outlives it (see its create()).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/llm/models/model.h"
#include "engine/llm/types.h"

namespace weft::llm {

enum class SequenceId : std::uint32_t {};

struct EngineOptions {
  LayerRange layers{};          // end = 0: to the last.
  std::uint32_t context = 0;    // Positions that a sequence can hold; 0: as many as the model was
                                // trained for, at most 4096.
  std::uint32_t sequences = 1;  // Open at a time.
  // Bytes of keys and values of all sequences together; 0: as many as all of them take with a full
  // context.
  std::uint64_t cache_bytes = 0;
  KvFormat kv = KvFormat::f16;
  Activations activations = Activations::f32;
};
// The same with defaults filled in; invalid_argument for a range or a context that cannot be.
[[nodiscard]] Result<EngineOptions> complete(EngineOptions options, const Config& config);

// Counted since the engine was made.
struct EngineCounters {
  std::uint64_t dispatches = 0;
  std::uint64_t submits = 0;
  std::uint64_t decode_dispatches = 0;  // Dispatches for drawn tokens.
  std::uint64_t decode_submits = 0;
  std::uint64_t decode_steps = 0;
};

// One more position of each of several different sequences.
struct Rows {
  std::vector<SequenceId> sequences;
  std::vector<Token> tokens{};  // One for each: for an engine with the first layer.
  std::vector<float> hidden{};  // [row][embedding]: for the others.
};
// The token behind the last position of a sequence; see Engine::draw_behind_each().
struct DrawBehind {
  SequenceId sequence{};
  Sampling sampling{};
  std::vector<Token> tokens{};  // Those of all positions so far, at which penalties look.
};

// Large: a method for each thing that is asked of a model on a device; a caller that needs a part
// of them would need most of the others, too.
class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual const Config& config() const = 0;
  [[nodiscard]] virtual const EngineOptions& options() const = 0;  // Completed.
  [[nodiscard]] virtual std::string device() const = 0;            // "cpu", "NVIDIA H200 (vulkan)".
  [[nodiscard]] virtual EngineCounters counters() const = 0;

  // An empty sequence; resource_exhausted when options().sequences are open.
  [[nodiscard]] virtual Result<SequenceId> open() = 0;
  virtual void close(SequenceId sequence) = 0;
  // Positions so far: appended and drawn tokens.
  [[nodiscard]] virtual std::uint32_t length(SequenceId sequence) const = 0;
  // Keeps at most the first `length` positions and says how many are kept: all that were asked for;
  // fewer where the last of them lie in a page of the cache that another sequence uses as well;
  // none where the model has a recurrent state, which cannot go back.
  virtual std::uint32_t rewind(SequenceId sequence, std::uint32_t length) = 0;

  // Appends tokens. resource_exhausted (and nothing changed) where they do not fit into the
  // context, invalid_argument for a number that is no token.
  [[nodiscard]] virtual Async<Result<>> append(SequenceId sequence, std::vector<Token> tokens) = 0;
  // The raw logits after the last position. Only for an engine that has the last layer.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> logits(SequenceId sequence) = 0;

  // append() of a few tokens, and the raw logits behind each of them, [token][vocabulary].
  [[nodiscard]] virtual Async<Result<std::vector<float>>> logits_along(SequenceId sequence,
                                                                       std::vector<Token> tokens);

  // The final hidden state [embedding] behind the last position, before the norm of the head: what
  // fingerprints of a session are made of (common/proof). Draw with more = 0 before it, or what was
  // drawn ahead is computed again. unsupported if an engine does not give it.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> last_hidden(SequenceId sequence);

  // Draws the next token of each sequence, which counts as appended. `more` is how many draws of
  // the same sequences are likely to follow this one, so that an engine can work ahead; rewind()
  // takes back what it did too much.
  [[nodiscard]] virtual Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> sequences,
                                                               std::uint32_t more) = 0;
  // Draws as draw() does, with one draw to follow: the drawn tokens go through the layers before
  // they are handed out, so that the next draw of the same sequences has only to choose, among what
  // their masks allow by then. An engine that cannot do so draws with more = 0.
  [[nodiscard]] virtual Async<Result<std::vector<Drawn>>> draw_and_read(
      std::vector<SequenceId> sequences) {
    return draw(std::move(sequences), 0);
  }
  // Tokens of the sequence that are drawn, or being drawn, and not yet handed out: the next draws
  // of it cost nothing. Sequences that are drawn together stay together where those that have the
  // most are asked for theirs first.
  [[nodiscard]] virtual std::uint32_t drawn_ahead(SequenceId) const { return 0; }

  // Whether draws can keep the hidden states that they come from, so that last_hidden() need not
  // interrupt them: keep_hidden() names the lengths (`from`, and every `every` behind it; 0: no
  // length), and take_hidden() gives the state behind `length` positions once a token behind
  // them was drawn, and forgets it.
  [[nodiscard]] virtual bool keeps_hidden() const { return false; }
  virtual void keep_hidden(SequenceId, std::uint32_t, std::uint32_t) {}
  [[nodiscard]] virtual std::optional<std::vector<float>> take_hidden(SequenceId, std::uint32_t) {
    return std::nullopt;
  }

  // Sets memory aside for so many positions of the sequence, and gives back what is set aside
  // beyond them and beyond what it holds. resource_exhausted, and nothing changed, where there is
  // not enough. A sequence for which nothing was set aside takes memory as it grows.
  [[nodiscard]] virtual Result<> reserve(SequenceId, std::uint32_t) { return {}; }
  // What of the first `length` positions of `from` the empty sequence `to` now has as well, without
  // reading them: whole pages of the cache, which both use. 0 where an engine has none.
  [[nodiscard]] virtual std::uint32_t share(SequenceId, SequenceId, std::uint32_t) { return 0; }

  // For the draws that follow. At the start: the best token.
  virtual void set_sampling(SequenceId sequence, const Sampling& sampling) = 0;

  // Whether draws can be among some of the tokens only. set_mask() gives a bit for each that may be
  // drawn from now on, none for all of them, and takes back what was drawn ahead. A sequence with
  // top_k, top_p or min_p has no mask.
  [[nodiscard]] virtual bool takes_masks() const { return false; }
  virtual void set_mask(SequenceId, std::span<const std::uint64_t>) {}

  // What one range of layers takes and gives: hidden states [position][embedding]. Appends as many
  // positions.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> forward(SequenceId sequence,
                                                                  std::vector<float> hidden) = 0;
  // The first range: hidden states of tokens.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> forward_tokens(
      SequenceId sequence, std::vector<Token> tokens) = 0;
  // The last range: forward() for what it leaves behind, when its hidden states are not needed.
  [[nodiscard]] virtual Async<Result<>> absorb(SequenceId sequence, std::vector<float> hidden);
  // forward() or forward_tokens() of one position of each of several sequences, in one pass where
  // the engine can: each row gets what it gets alone, bit for bit. After a failure some rows may be
  // appended and others not; rewind() says what each sequence has.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> forward_each(Rows rows);
  // The last range: forward_each() when the hidden states are not needed.
  [[nodiscard]] virtual Async<Result<>> absorb_each(Rows rows);
  // The last range: draws the token behind the last position. It does not count as appended: its
  // hidden state comes with the next rows. `tokens` are those of all positions so far, at which
  // penalties look.
  [[nodiscard]] virtual Async<Result<Drawn>> draw_behind(SequenceId sequence, Sampling sampling,
                                                         std::vector<Token> tokens);
  // draw_behind() for several different sequences, together where the engine can.
  [[nodiscard]] virtual Async<Result<std::vector<Drawn>>> draw_behind_each(
      std::vector<DrawBehind> draws);
};

}  // namespace weft::llm
