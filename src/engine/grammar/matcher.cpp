#include "engine/grammar/matcher.h"

#include <algorithm>
#include <utility>

namespace weft::grammar {
namespace {

std::uint64_t key_of(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

}  // namespace

Matcher::Matcher(std::shared_ptr<const Grammar> grammar, Limits limits)
    : grammar_(std::move(grammar)), limits_(limits) {
  find_classes();
  nodes_.push_back({});
  for (const Position position : grammar_->alternatives(grammar_->root())) push(position, 0);
  start_ = settle();
}

void Matcher::find_classes() {
  // Each set splits the classes further. Two bytes stay in one class if every set contains both or
  // neither.
  for (const ByteSet& set : grammar_->sets()) {
    constexpr std::uint16_t none = 0xFFFF;
    std::array<std::array<std::uint16_t, 2>, 256> split;
    split.fill({none, none});
    std::uint16_t count = 0;
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::uint16_t& part =
          split[class_of_[byte]][set.has(static_cast<std::uint8_t>(byte)) ? 1 : 0];
      if (part == none) part = count++;
      class_of_[byte] = part;
    }
    if (count == 256) break;
  }
  classes_ = std::size_t{*std::ranges::max_element(class_of_)} + 1;
}

std::uint32_t Matcher::least_of(Position position, NodeId below) const {
  return std::min(grammar_->least_bytes(position) + nodes_[below].least, Grammar::least_bytes_max);
}

Matcher::NodeId Matcher::intern_node(Position position, NodeId below) {
  const auto [entry, is_new] =
      node_ids_.try_emplace(key_of(position, below), static_cast<NodeId>(nodes_.size()));
  if (is_new)
    nodes_.push_back({.position = position, .below = below, .least = least_of(position, below)});
  return entry->second;
}

void Matcher::push(Position position, NodeId below) {
  if (seen_.try_emplace(key_of(position, below), true).second) todo_.emplace_back(position, below);
}

Matcher::State Matcher::settle() {
  found_.clear();
  bool accepts = false;
  bool over = false;
  while (!todo_.empty()) {
    const auto [position, below] = todo_.back();
    todo_.pop_back();
    if (++steps_ > limits_.steps_max || found_.size() > limits_.stacks_max ||
        nodes_.size() > limits_.entries_max) {
      over = true;
      break;
    }
    const Symbol& symbol = grammar_->symbol(position);
    switch (symbol.kind) {
      case Symbol::Kind::bytes:
        found_.push_back(intern_node(position, below));
        break;
      case Symbol::Kind::end:
        if (below == 0) {
          accepts = true;
        } else {
          push(nodes_[below].position, nodes_[below].below);
        }
        break;
      case Symbol::Kind::rule: {
        // A rule that is the last symbol of an alternative replaces the alternative on the stack,
        // so that stacks do not grow.
        const bool last = grammar_->symbol(position + 1).kind == Symbol::Kind::end;
        const NodeId behind = last ? below : intern_node(position + 1, below);
        for (const Position one : grammar_->alternatives(symbol.value)) push(one, behind);
        break;
      }
    }
  }
  todo_.clear();
  seen_.clear();
  if (over) return full;
  if (found_.empty() && !accepts) return dead;
  return intern_state(found_, accepts);
}

Matcher::State Matcher::intern_state(std::vector<NodeId>& stacks, bool accepts) {
  std::ranges::sort(stacks);
  std::uint64_t hash = accepts ? 1 : 0;
  for (const NodeId node : stacks) hash = (hash ^ node) * 0x9E3779B97F4A7C15ull + (hash >> 29);
  const auto [begin, end] = state_ids_.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry) {
    const Entry& other = states_[entry->second];
    if (other.accepts == accepts &&
        std::ranges::equal(std::span(stacks_).subspan(other.first, other.count), stacks))
      return entry->second;
  }
  if (states_.size() >= limits_.states_max ||
      stacks_.size() + stacks.size() > limits_.entries_max ||
      table_.size() + classes_ > limits_.entries_max)
    return full;
  Entry made{.first = static_cast<std::uint32_t>(stacks_.size()),
             .count = static_cast<std::uint32_t>(stacks.size()),
             .least = accepts ? 0 : Grammar::least_bytes_max,
             .accepts = accepts};
  for (const NodeId node : stacks) made.least = std::min(made.least, nodes_[node].least);
  const auto id = static_cast<State>(states_.size());
  stacks_.insert(stacks_.end(), stacks.begin(), stacks.end());
  states_.push_back(made);
  table_.resize(table_.size() + classes_, unknown);
  state_ids_.emplace(hash, id);
  return id;
}

Matcher::State Matcher::compute(State state, std::uint8_t byte) {
  const Entry entry = states_[state];
  for (std::uint32_t i = 0; i < entry.count; ++i) {
    const Node node = nodes_[stacks_[entry.first + i]];
    const Symbol& symbol = grammar_->symbol(node.position);
    if (grammar_->bytes(symbol.value).has(byte)) push(node.position + 1, node.below);
  }
  const State to = todo_.empty() ? dead : settle();
  if (to != full) table_[state * classes_ + class_of_[byte]] = to;
  return to;
}

Matcher::State Matcher::next(State state, std::string_view text) {
  for (const char c : text) state = next(state, static_cast<std::uint8_t>(c));
  return state;
}

Matcher::State Matcher::take_over(const Matcher& other, State state) {
  if (state >= unknown) return state;
  std::unordered_map<NodeId, NodeId> taken{{0, 0}};
  std::vector<NodeId> stacks, chain;
  const Entry& entry = other.states_[state];
  for (std::uint32_t i = 0; i < entry.count; ++i) {
    const NodeId top = other.stacks_[entry.first + i];
    for (NodeId node = top; !taken.contains(node); node = other.nodes_[node].below)
      chain.push_back(node);
    for (; !chain.empty(); chain.pop_back()) {
      if (nodes_.size() > limits_.entries_max) return full;
      const Node& node = other.nodes_[chain.back()];
      taken.emplace(chain.back(), intern_node(node.position, taken.at(node.below)));
    }
    stacks.push_back(taken.at(top));
  }
  return intern_state(stacks, entry.accepts);
}

ByteSet Matcher::possible(State state) const {
  ByteSet out;
  const Entry& entry = states_[state];
  for (std::uint32_t i = 0; i < entry.count; ++i)
    out |= grammar_->bytes(grammar_->symbol(nodes_[stacks_[entry.first + i]].position).value);
  return out;
}

std::string Matcher::forced_text(State state, std::size_t bytes_max) {
  std::string out;
  while (state < unknown && out.size() < bytes_max && !accepts(state)) {
    const ByteSet set = possible(state);
    if (set.count() != 1) break;
    const State to = next(state, set.first());
    if (to == full) break;
    out += static_cast<char>(set.first());
    state = to;
  }
  return out;
}

}  // namespace weft::grammar
