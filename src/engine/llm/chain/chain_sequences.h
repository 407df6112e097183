// The state of each sequence of a chain, as its first stage knows it: the number of positions that
// went through the chain, the token that was drawn last, and tokens that were drawn ahead and not
// yet handed out.
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

  // The number of tokens that the caller knows of: those that were drawn ahead do not count.
  [[nodiscard]] std::uint32_t length(SequenceId id) const;
  // The number of positions that went through the chain, at which the sequence's next frame begins.
  [[nodiscard]] std::uint32_t fed(SequenceId id) const { return sequences_.at(id).fed; }
  [[nodiscard]] std::uint32_t ahead(SequenceId id) const;

  // Rewinds a sequence as Engine::rewind() does. The later stages rewind it when they get its next
  // rows.
  std::uint32_t rewind(SequenceId id, std::uint32_t length);
  // Forgets the tokens that were drawn ahead. The token that was handed out last will go through
  // the chain again.
  void settle(SequenceId id);

  // Returns the drawn token that has not gone through the chain, if there is one. The caller must
  // send it through the chain.
  [[nodiscard]] std::optional<Token> take_row(SequenceId id);
  // Counts the token of take_row() as gone through the chain.
  void passed(SequenceId id) { ++sequences_.at(id).fed; }
  // Counts tokens of a prompt, at least one, as gone through the chain.
  void read(SequenceId id, const std::vector<Token>& tokens);
  void drew(SequenceId id, const Drawn& drawn);
  // Hands out the earliest drawn token that was not handed out; the sequence must have one.
  [[nodiscard]] Drawn hand_out(SequenceId id);

 private:
  struct Sequence {
    std::uint32_t fed = 0;
    std::optional<Token> drawn;  // The drawn token that comes after the fed positions.
    std::deque<Drawn> ahead;     // Drawn tokens that were not handed out, oldest first.
    Token last = 0;              // The last token that was handed out or read.
  };

  Engine& first_;
  std::map<SequenceId, Sequence> sequences_;
};

}  // namespace weft::llm
