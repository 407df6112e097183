// Which chain answered a conversation last: it may still hold what the conversation's earlier turns
// said. Bounds: conversations_max conversations, those that came first are forgotten first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "decisions/inference/serving_ids.h"

namespace weft::inference {

class Conversations {
 public:
  static constexpr std::size_t conversations_max = 4096;

  // None for a conversation that is not known.
  [[nodiscard]] ChainId chain_of(std::uint64_t conversation) const {
    const auto found = chains_.find(conversation);
    return found == chains_.end() ? ChainId() : found->second;
  }
  void answered_by(std::uint64_t conversation, ChainId chain) {
    if (!chains_.contains(conversation)) order_.push_back(conversation);
    chains_[conversation] = chain;
    if (order_.size() <= conversations_max) return;
    chains_.erase(order_.front());
    order_.pop_front();
  }

 private:
  std::map<std::uint64_t, ChainId> chains_;
  std::deque<std::uint64_t> order_;
};

}  // namespace weft::inference
