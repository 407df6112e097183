// Where each sequence of a chain is, as its first stage knows it: positions that went through the
// chain, the token that was drawn last, and tokens that were drawn ahead and not handed out yet.
//
// Threading: one thread. Lifetime: `first`, the engine of the first stage, outlives this object,
// whose destructor closes in `first` all sequences that are still open.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "engine/llm/engine.h"

namespace weft::llm {

class ChainSequences {
 public:
  explicit ChainSequences(Engine& first) : first_(first) {}
  ~ChainSequences();
  ChainSequences(const ChainSequences&) = delete;

  [[nodiscard]] Result<SequenceId> open();
  void close(SequenceId id);
  [[nodiscard]] std::size_t count() const { return sequences_.size(); }

  // Tokens that a caller knows of.
  [[nodiscard]] std::uint32_t length(SequenceId id) const;
  // Positions that went through the chain: where its next frame begins.
  [[nodiscard]] std::uint32_t fed(SequenceId id) const { return sequences_.at(id).fed; }
  [[nodiscard]] std::uint32_t ahead(SequenceId id) const;

  // Engine::rewind. The other stages go back when their next rows come.
  std::uint32_t rewind(SequenceId id, std::uint32_t length);
  // Forgets what was drawn ahead: the token that was handed out last goes through the chain again.
  void settle(SequenceId id);

  // The token that was drawn and has not gone through the chain, which it now does.
  [[nodiscard]] std::optional<Token> take_row(SequenceId id);
  // It went through.
  void passed(SequenceId id) { ++sequences_.at(id).fed; }
  // Tokens of a prompt went through; at least one.
  void read(SequenceId id, const std::vector<Token>& tokens);
  void drew(SequenceId id, const Drawn& drawn);
  // The earliest token that was drawn and not handed out; there is one.
  [[nodiscard]] Drawn hand_out(SequenceId id);

 private:
  struct Sequence {
    std::uint32_t fed = 0;
    std::optional<Token> drawn;  // Behind the fed positions.
    std::deque<Drawn> ahead;     // The last of fed and drawn, which were not handed out yet.
    Token last = 0;              // The last token of length(): handed out, or read.
  };

  Engine& first_;
  std::map<SequenceId, Sequence> sequences_;
};

}  // namespace weft::llm
