// An engine runs a model: it takes tokens and gives logits or drawn tokens, for several sequences
// side by side. It is implemented on the CPU (cpu/) and on a GPU (gpu/) with the same behaviour.
//
//   WEFT_CO_ASSIGN(const SequenceId sequence, engine.open());
//   WEFT_CO_OK(co_await engine.append(sequence, prompt));
//   for (...) { WEFT_CO_ASSIGN(const auto drawn, co_await engine.draw({sequence}, left)); ... }
//   engine.rewind(sequence, length);      Keeps the positions with which the next turn begins.
//
// An engine may hold only layers [a, b) of its model: without the first layer it takes hidden
// states instead of tokens, without the last layer it gives hidden states instead of logits; see
// forward(). Threading: one thread; one call at a time. Lifetime: the objects that an engine was
// made from outlive it (see its create()).
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
  // The layers that the engine holds; end = 0 stands for the model's last layer.
  LayerRange layers{};
  // The number of positions that a sequence can hold. 0 takes the context that the model was
  // trained for, but at most 4096.
  std::uint32_t context = 0;
  std::uint32_t sequences = 1;  // The most sequences that may be open at a time.
  // The bytes of keys and values of all sequences together. 0 takes enough for all sequences with a
  // full context.
  std::uint64_t cache_bytes = 0;
  KvFormat kv = KvFormat::f16;
  Activations activations = Activations::f32;
};
// Fills in the defaults of `options`. Fails with invalid_argument if the layer range, the context
// or the number of sequences is not possible.
[[nodiscard]] Result<EngineOptions> complete(EngineOptions options, const Config& config);

// Counts since the engine was made.
struct EngineCounters {
  std::uint64_t dispatches = 0;
  std::uint64_t submits = 0;
  std::uint64_t decode_dispatches = 0;  // The number of dispatches for drawn tokens.
  std::uint64_t decode_submits = 0;
  std::uint64_t decode_steps = 0;
};

// The input for one more position of each of several different sequences.
struct Rows {
  std::vector<SequenceId> sequences;
  std::vector<Token> tokens{};  // One token for each sequence, if the engine has the first layer.
  std::vector<float> hidden{};  // [row][embedding], if the engine does not have the first layer.
};
// A draw of the token after the last position of a sequence; see Engine::draw_behind_each().
struct DrawBehind {
  SequenceId sequence{};
  Sampling sampling{};
  std::vector<Token> tokens{};  // The tokens of all positions so far, which penalties look at.
};

// Large: it has a method for each use of a model on a device, and a caller that needs some of the
// methods would need most of the others, too.
class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual const Config& config() const = 0;
  // The options with the defaults filled in.
  [[nodiscard]] virtual const EngineOptions& options() const = 0;
  [[nodiscard]] virtual std::string device() const = 0;  // "cpu", "NVIDIA H200 (vulkan)".
  [[nodiscard]] virtual EngineCounters counters() const = 0;

  // Opens an empty sequence. Fails with resource_exhausted if options().sequences are open already.
  [[nodiscard]] virtual Result<SequenceId> open() = 0;
  virtual void close(SequenceId sequence) = 0;
  // The number of positions of the sequence: its appended and drawn tokens.
  [[nodiscard]] virtual std::uint32_t length(SequenceId sequence) const = 0;
  // Keeps at most the first `length` positions and returns how many are kept: `length` of them;
  // fewer if the last of them are in a cache page that another sequence also uses; 0 if the model
  // has a recurrent state, which cannot go back.
  virtual std::uint32_t rewind(SequenceId sequence, std::uint32_t length) = 0;

  // Appends tokens. Fails with resource_exhausted, without any change, if they do not fit into the
  // context, and with invalid_argument for a number that is not a token.
  [[nodiscard]] virtual Async<Result<>> append(SequenceId sequence, std::vector<Token> tokens) = 0;
  // The raw logits after the last position. Only an engine with the last layer has them.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> logits(SequenceId sequence) = 0;

  // Appends a few tokens and returns the raw logits after each of them, [token][vocabulary].
  [[nodiscard]] virtual Async<Result<std::vector<float>>> logits_along(SequenceId sequence,
                                                                       std::vector<Token> tokens);

  // Returns the final hidden state [embedding] after the last position, before the norm of the
  // head. Fingerprints of a session are made of these states (common/proof). The draw before this
  // call should have more = 0, because tokens that were drawn ahead are computed again. Fails with
  // unsupported if the engine does not give hidden states.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> last_hidden(SequenceId sequence);

  // Draws the next token of each sequence and appends it. `more` is the number of draws of these
  // sequences that are likely to follow, so that an engine can work ahead; rewind() takes back the
  // tokens that were drawn ahead and are not wanted.
  [[nodiscard]] virtual Async<Result<std::vector<Drawn>>> draw(std::vector<SequenceId> sequences,
                                                               std::uint32_t more) = 0;
  // Draws as draw() does, and the drawn tokens go through the layers before they are handed out.
  // The next draw of these sequences then only has to choose a token among those that the masks
  // allow at that time. An engine that cannot do this calls draw() with more = 0.
  [[nodiscard]] virtual Async<Result<std::vector<Drawn>>> draw_and_read(
      std::vector<SequenceId> sequences) {
    return draw(std::move(sequences), 0);
  }
  // The number of tokens of the sequence that are drawn, or being drawn, and not yet handed out:
  // the next draws of the sequence cost nothing. Sequences that are drawn together stay together if
  // the caller draws those with the most tokens ahead first.
  [[nodiscard]] virtual std::uint32_t drawn_ahead(SequenceId) const { return 0; }

  // True if draws can keep the hidden states that they come from, so that the caller need not
  // interrupt them with last_hidden(). keep_hidden() names the lengths whose states are kept:
  // `from`, and every `every` positions after it; every = 0 keeps no state. take_hidden() gives the
  // state after `length` positions once a token after these positions was drawn, and forgets it.
  [[nodiscard]] virtual bool keeps_hidden() const { return false; }
  virtual void keep_hidden(SequenceId, std::uint32_t, std::uint32_t) {}
  [[nodiscard]] virtual std::optional<std::vector<float>> take_hidden(SequenceId, std::uint32_t) {
    return std::nullopt;
  }

  // Reserves memory for this number of positions of the sequence, and gives back reserved memory
  // beyond them that the sequence does not use. Fails with resource_exhausted, without any change,
  // if there is not enough memory. A sequence without a reservation takes memory as it grows.
  [[nodiscard]] virtual Result<> reserve(SequenceId, std::uint32_t) { return {}; }
  // Lets the empty sequence `to` use the whole cache pages of the first `length` positions of
  // `from`, so that it need not read these positions. Returns how many positions `to` now has; 0 if
  // the engine has no pages to share.
  [[nodiscard]] virtual std::uint32_t share(SequenceId, SequenceId, std::uint32_t) { return 0; }

  // Sets the sampling of the draws that follow. A new sequence draws the best token.
  virtual void set_sampling(SequenceId sequence, const Sampling& sampling) = 0;

  // True if draws can be limited to some of the tokens. set_mask() takes one bit for each token
  // that may be drawn from now on, or no bits to allow all tokens, and takes back the tokens that
  // were drawn ahead. A sequence with top_k, top_p or min_p takes no mask.
  [[nodiscard]] virtual bool takes_masks() const { return false; }
  virtual void set_mask(SequenceId, std::span<const std::uint64_t>) {}

  // Runs the engine's range of layers: takes and gives hidden states [position][embedding], and
  // appends these positions.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> forward(SequenceId sequence,
                                                                  std::vector<float> hidden) = 0;
  // Runs the first range of layers: takes tokens and gives their hidden states.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> forward_tokens(
      SequenceId sequence, std::vector<Token> tokens) = 0;
  // Runs the last range of layers as forward() does, without giving the hidden states.
  [[nodiscard]] virtual Async<Result<>> absorb(SequenceId sequence, std::vector<float> hidden);
  // Runs forward() or forward_tokens() for one position of each of several sequences, in one pass
  // if the engine can. Each row gets the same values, bit for bit, as in a pass of its own. After a
  // failure some rows may be appended and others not; rewind() returns the length of each sequence.
  [[nodiscard]] virtual Async<Result<std::vector<float>>> forward_each(Rows rows);
  // Runs the last range of layers as forward_each() does, without giving the hidden states.
  [[nodiscard]] virtual Async<Result<>> absorb_each(Rows rows);
  // Draws the token after the last position, in the last range of layers. The token does not count
  // as appended: its hidden state comes with the next rows. `tokens` are the tokens of all
  // positions so far, which penalties look at.
  [[nodiscard]] virtual Async<Result<Drawn>> draw_behind(SequenceId sequence, Sampling sampling,
                                                         std::vector<Token> tokens);
  // Runs draw_behind() for several different sequences, together if the engine can.
  [[nodiscard]] virtual Async<Result<std::vector<Drawn>>> draw_behind_each(
      std::vector<DrawBehind> draws);
};

}  // namespace weft::llm
