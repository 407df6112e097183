// Which final hidden states of a sequence its draws keep, and those that have come back and were
// not taken yet (Engine::keep_hidden()).
//
// Pure. Threading: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace weft::llm {

class KeptHidden {
 public:
  // From here on those behind `from` positions and behind every `every` after them; 0: none. What
  // is kept is forgotten.
  void begin(std::uint32_t from, std::uint32_t every) {
    from_ = from;
    every_ = every;
    states_.clear();
  }
  // Whether the state behind so many positions is to be kept.
  [[nodiscard]] bool wants(std::uint32_t length) const {
    return every_ > 0 && length >= from_ && (length - from_) % every_ == 0;
  }
  void add(std::uint32_t length, std::vector<float> state) { states_[length] = std::move(state); }
  // What is kept for that length, once.
  [[nodiscard]] std::optional<std::vector<float>> take(std::uint32_t length) {
    auto node = states_.extract(length);
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
  }
  // Positions behind `length` are taken back.
  void forget_behind(std::uint32_t length) {
    states_.erase(states_.upper_bound(length), states_.end());
  }
  void clear() { states_.clear(); }

 private:
  std::uint32_t from_ = 0, every_ = 0;
  std::map<std::uint32_t, std::vector<float>> states_;  // By length.
};

}  // namespace weft::llm
