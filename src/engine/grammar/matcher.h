// Follows texts through a grammar, byte by byte. A state is the set of all ways to read the text so
// far; each way is a stack of positions in the grammar. States have numbers, and the state that
// follows a byte is stored, so that the visited part of the grammar becomes a table.
//
//   Matcher matcher(grammar);
//   Matcher::State state = matcher.start();
//   for (const char c : text) state = matcher.next(state, static_cast<std::uint8_t>(c));
//   matcher.accepts(state);
//
// Threading: one thread. Bounds: Limits; if they are reached, the next states are Matcher::full. A
// new Matcher that takes over the last state has room again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/grammar/grammar.h"

namespace weft::grammar {

class Matcher {
 public:
  using State = std::uint32_t;
  static constexpr State dead = 0xFFFFFFFF;  // No text of the grammar begins in this way.
  static constexpr State full = 0xFFFFFFFE;  // Limits were reached.

  struct Limits {
    std::size_t states_max = std::size_t{1} << 15;
    // The most stacks of all states, the most nodes, and the most table entries.
    std::size_t entries_max = std::size_t{1} << 22;
    std::size_t stacks_max = std::size_t{1} << 14;  // The most stacks of one state.
    std::size_t steps_max = std::size_t{1} << 24;   // The most symbols visited for all states.
  };

  explicit Matcher(std::shared_ptr<const Grammar> grammar)
      : Matcher(std::move(grammar), Limits{}) {}
  Matcher(std::shared_ptr<const Grammar> grammar, Limits limits);
  Matcher(const Matcher&) = delete;

  [[nodiscard]] State start() const { return start_; }
  // Returns the state after a byte. A state that is dead or full stays as it is.
  [[nodiscard]] State next(State state, std::uint8_t byte) {
    if (state >= full) return state;
    const State known = table_[state * classes_ + class_of_[byte]];
    return known != unknown ? known : compute(state, byte);
  }
  [[nodiscard]] State next(State state, std::string_view text);
  // Returns the state that corresponds to `state` of another matcher of the same grammar; returns
  // `full` if the state does not fit into the limits.
  [[nodiscard]] State take_over(const Matcher& other, State state);

  // The functions below require a state that is neither dead nor full. Returns true if the text so
  // far is a complete text of the grammar.
  [[nodiscard]] bool accepts(State state) const { return states_[state].accepts; }
  // Returns true if no byte can follow.
  [[nodiscard]] bool is_complete(State state) const { return states_[state].count == 0; }
  // Returns the least number of bytes that complete the text.
  [[nodiscard]] std::uint32_t least_bytes(State state) const { return states_[state].least; }
  // Returns the bytes that can follow.
  [[nodiscard]] ByteSet possible(State state) const;
  // Returns the text that must follow before there is a choice, at most `bytes_max` bytes of this
  // text. It is empty if the text so far may be the whole text.
  [[nodiscard]] std::string forced_text(State state, std::size_t bytes_max);

  [[nodiscard]] std::size_t states() const { return states_.size(); }
  [[nodiscard]] const Grammar& grammar() const { return *grammar_; }

 private:
  using NodeId = std::uint32_t;
  static constexpr State unknown = 0xFFFFFFFD;

  // The top of a stack: a position in the grammar, and the node below it in the stack, whose
  // position follows in the text.
  struct Node {
    Position position = 0;
    NodeId below = 0;
    std::uint32_t least = 0;  // Least number of bytes to the end of the text.
  };
  struct Entry {
    std::uint32_t first = 0;  // The index of the first stack in stacks_.
    std::uint32_t count = 0;
    std::uint32_t least = 0;
    bool accepts = false;
  };
  using Place = std::pair<Position, NodeId>;

  void find_classes();
  [[nodiscard]] State compute(State state, std::uint8_t byte);
  // Follows rules from the places in todo_ until only sets of bytes are left, and returns the state
  // of all places that are found.
  [[nodiscard]] State settle();
  [[nodiscard]] NodeId intern_node(Position position, NodeId below);
  [[nodiscard]] State intern_state(std::vector<NodeId>& stacks, bool accepts);
  void push(Position position, NodeId below);
  [[nodiscard]] std::uint32_t least_of(Position position, NodeId below) const;

  const std::shared_ptr<const Grammar> grammar_;
  const Limits limits_;
  // Classes of bytes that no set of the grammar distinguishes.
  std::array<std::uint16_t, 256> class_of_{};
  std::size_t classes_ = 0;
  std::vector<Node> nodes_;  // nodes_[0] stands for the end of the text.
  std::unordered_map<std::uint64_t, NodeId> node_ids_;
  std::vector<Entry> states_;
  std::vector<NodeId> stacks_;  // The stacks of all states, state by state, sorted within a state.
  // The states by the hash of their stacks.
  std::unordered_multimap<std::uint64_t, State> state_ids_;
  std::vector<State> table_;  // Next states by state and byte class.
  State start_ = dead;
  std::size_t steps_ = 0;

  // todo_, seen_ and found_ are members only so that their memory is reused.
  std::vector<Place> todo_;
  std::unordered_map<std::uint64_t, bool> seen_;
  std::vector<NodeId> found_;
};

}  // namespace weft::grammar
