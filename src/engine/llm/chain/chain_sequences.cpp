#include "engine/llm/chain/chain_sequences.h"

#include <utility>

#include "common/base/check.h"

namespace weft::llm {

ChainSequences::~ChainSequences() {
  for (const auto& [id, sequence] : sequences_) first_.close(id);
}

Result<SequenceId> ChainSequences::open() {
  WEFT_ASSIGN(const SequenceId id, first_.open());
  sequences_[id] = {};
  return id;
}

void ChainSequences::close(SequenceId id) {
  first_.close(id);
  sequences_.erase(id);
}

std::uint32_t ChainSequences::length(SequenceId id) const {
  const Sequence& sequence = sequences_.at(id);
  return sequence.fed + (sequence.drawn ? 1 : 0) - ahead(id);
}

std::uint32_t ChainSequences::ahead(SequenceId id) const {
  return static_cast<std::uint32_t>(sequences_.at(id).ahead.size());
}

std::uint32_t ChainSequences::rewind(SequenceId id, std::uint32_t length) {
  Sequence& sequence = sequences_.at(id);
  const std::uint32_t known = this->length(id);
  if (length > known || (length == known && !sequence.ahead.empty())) return known;
  if (length > sequence.fed) return known;
  sequence.ahead.clear();
  sequence.drawn.reset();
  if (length < sequence.fed) sequence.fed = first_.rewind(id, length);
  return sequence.fed;
}

void ChainSequences::settle(SequenceId id) {
  Sequence& sequence = sequences_.at(id);
  if (sequence.ahead.empty()) return;
  const std::uint32_t before = length(id) - 1;
  sequence.ahead.clear();
  sequence.fed = first_.rewind(id, before);
  check(sequence.fed == before, "nothing is drawn ahead if a stage cannot go back");
  sequence.drawn = sequence.last;
}

std::optional<Token> ChainSequences::take_row(SequenceId id) {
  return std::exchange(sequences_.at(id).drawn, {});
}

void ChainSequences::read(SequenceId id, const std::vector<Token>& tokens) {
  Sequence& sequence = sequences_.at(id);
  sequence.fed += static_cast<std::uint32_t>(tokens.size());
  sequence.last = tokens.back();
}

void ChainSequences::drew(SequenceId id, const Drawn& drawn) {
  Sequence& sequence = sequences_.at(id);
  sequence.drawn = drawn.token;
  sequence.ahead.push_back(drawn);
}

Drawn ChainSequences::hand_out(SequenceId id) {
  Sequence& sequence = sequences_.at(id);
  const Drawn out = sequence.ahead.front();
  sequence.last = out.token;
  sequence.ahead.pop_front();
  return out;
}

}  // namespace weft::llm
