// The final hidden states that a sequence's draws keep, and the states that were read back and are
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
  // Keeps the states after `from` positions and after every `every` positions beyond that; every =
  // 0 keeps none. Drops the states that are kept now.
  void begin(std::uint32_t from, std::uint32_t every) {
    from_ = from;
    every_ = every;
    states_.clear();
  }
  // True if the state after `length` positions is to be kept.
  [[nodiscard]] bool wants(std::uint32_t length) const {
    return every_ > 0 && length >= from_ && (length - from_) % every_ == 0;
  }
  void add(std::uint32_t length, std::vector<float> state) { states_[length] = std::move(state); }
  // Hands out the state that is kept for this length, once; nullopt if there is none.
  [[nodiscard]] std::optional<std::vector<float>> take(std::uint32_t length) {
    auto node = states_.extract(length);
    if (node.empty()) return std::nullopt;
    return std::move(node.mapped());
  }
  // Drops the states after more than `length` positions.
  void forget_behind(std::uint32_t length) {
    states_.erase(states_.upper_bound(length), states_.end());
  }
  void clear() { states_.clear(); }

 private:
  std::uint32_t from_ = 0, every_ = 0;
  std::map<std::uint32_t, std::vector<float>> states_;  // The keys are lengths of the sequence.
};

}  // namespace weft::llm
